"""Taking a Signal in: gate, dedupe, queue or decide, in one transaction."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Final

from runtime.chat.commands import NEEDED, kept, name_of, spoken
from runtime.contract import (
    Amended,
    Clicked,
    Commanded,
    Moved,
    NewId,
    Outcome,
    Person,
    Role,
    Said,
    Signal,
    SignalId,
    Stopped,
    Verdict,
)
from runtime.domain.approvals import ApprovalState, Voter
from runtime.domain.routing import Decision
from runtime.store.approvals.decisions import decide
from runtime.store.common import names_of
from runtime.store.intake.admission import admitted, course_of, only_reads
from runtime.store.intake.commands import NO_ASIDE, Aside, commanded, plans_of, spent_of, zone_aside
from runtime.store.intake.edits import amend, move_room
from runtime.store.intake.inbox import keep, repeated, replied, row, seen
from runtime.store.intake.messages import said
from runtime.store.intake.run_stop import stop
from runtime.store.protocol import Gate, Offer, Taken
from runtime.store.protocol.intake import ignored
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, micros
from runtime.text.truncate import clip

NOTICE: Final = 200
Deed = Clicked | Amended | Stopped | Commanded
LATE: Final = "This came too late to be acted upon. Please ask again."


def accept(
    signal: Signal, gate: Gate, offer: Offer | None, now: datetime, new_id: NewId, aside: Aside = NO_ASIDE
) -> Op[Taken]:
    """The whole of taking in. Ids made here are made anew when a batch is replayed; nobody saw the old ones."""
    course = yield from course_of(signal, gate)
    if course is Decision.IGNORE:
        return ignored()
    if (yield from seen(signal)):
        return (yield from repeated(signal))
    if isinstance(signal.body, Moved):
        return (yield from move_room(signal, signal.body, now, new_id))
    who = yield from admitted(signal, gate, course, now, new_id)
    if isinstance(who, Taken):
        return who
    if who.role < _needed(body := meant(signal.body, course)):
        return (yield from only_reads(signal, who, now, new_id))
    if isinstance(body, Said):
        return (yield from said(signal, body, who, course, gate, offer, now, new_id))
    return (yield from _done(signal, body, who, gate, aside, now, new_id))


def _done(signal: Signal, body: Deed, who: Person, gate: Gate, aside: Aside, now: datetime, new_id: NewId) -> Op[Taken]:
    """What is no message is decided at once."""
    match body:
        case Clicked():
            return (yield from _clicked(signal, body, who, gate, now, new_id))
        case Amended():
            return (yield from amend(signal, body, who, now, new_id))
        case Stopped() | Commanded():
            return (yield from _asked(signal, body, who, gate, aside, now, new_id))


def meant(body: Said | Deed, course: Decision) -> Said | Deed:
    """What a signal says: a message may be a command. What is only observed is none."""
    return spoken(body) if isinstance(body, Said) and course is not Decision.OBSERVE else body


def _needed(body: Said | Deed) -> Role:
    """The least role that may do this. Who may answer a question is looked at with the question."""
    match body:
        case Clicked():
            return Role.VIEWER
        case Commanded():
            return NEEDED.get(name_of(body), Role.VIEWER)
        case _:
            return Role.USER


def _clicked(signal: Signal, click: Clicked, who: Person, gate: Gate, now: datetime, new_id: NewId) -> Op[Taken]:
    signal_id = SignalId(new_id())
    if not (yield from keep(row(signal, who, "decided", now, signal_id))):
        return (yield from repeated(signal))
    voter = Voter(who, (yield from names_of(who)), signal.address, signal.console)
    decided = yield from decide(click.approval_id, voter, click.choice, click.reason, gate.rights, now, new_id)
    if decided.objection:
        return Taken(Verdict(Outcome.UNCHANGED, signal_id, brief(decided.objection)))
    is_open = decided.approval is not None and decided.approval.state is ApprovalState.PENDING
    verdict = Verdict(Outcome.UNCHANGED if is_open else Outcome.DECIDED, signal_id)
    return Taken(verdict, decided.session, decided.lane_ready, deliveries=decided.deliveries)


def brief(text: str) -> str:
    """A notice, within what a platform's private answer holds."""
    return clip(text, NOTICE)


def _asked(
    signal: Signal, body: Stopped | Commanded, who: Person, gate: Gate, aside: Aside, now: datetime, new_id: NewId
) -> Op[Taken]:
    """A stop or a command: decided at once. One that comes a day late is about something that is long over."""
    signal_id = SignalId(new_id())
    values = row(signal, who, "decided", now, signal_id) | _written(signal, body, now)
    if not (yield from keep(values)):
        return (yield from repeated(signal))
    if now - signal.received_at > gate.freshness:
        return (yield from replied(signal, Verdict(Outcome.UNCHANGED, signal_id, LATE), now, new_id))
    if isinstance(body, Stopped):
        return (yield from stop(signal, body, signal_id, who, gate, now, new_id))
    return (yield from commanded(signal, body, signal_id, who, gate, aside, now, new_id))


def _written(signal: Signal, body: Stopped | Commanded, now: datetime) -> dict[str, object]:
    """A command by its name; one that was written as a message stands in its room as one, and is answered at once."""
    text = kept(body) if isinstance(body, Commanded) else "/stop"
    if isinstance(signal.body, Said):
        return {"text": text, "answered_at": micros(now)}
    return {"text": text} if isinstance(body, Commanded) else {}


class IntakeStore(Base):
    """Implements `protocol.Intake`."""

    async def accept(self, signal: Signal, gate: Gate, offer: Offer | None = None) -> Taken:
        now = self.now()
        aside = await self._aside(signal, gate, now)
        taken = await self._driver.write(lambda: accept(signal, gate, offer, now, self._new_id, aside))
        self._observer.accepted(signal, taken)
        return taken

    async def _aside(self, signal: Signal, gate: Gate, now: datetime) -> Aside:
        """What a command tells that is not read by the writer."""
        command = spoken(signal.body) if isinstance(signal.body, Said) else signal.body
        if not isinstance(command, Commanded):
            return NO_ASIDE
        match name_of(command):
            case "usage":
                return await self._driver.read(lambda: spent_of(signal, now))
            case "status":
                return Aside(trouble=gate.trouble(signal.address))
            case "schedules":
                return await self._driver.read(lambda: plans_of(signal))
            case "timezone":
                return await asyncio.to_thread(zone_aside, command.argument)
            case _:
                return NO_ASIDE
