"""Taking a Signal in: gate, dedupe, queue or decide, in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from sqlalchemy import Integer, bindparam, literal_column, select, update

from runtime.chat.commands import NEEDED, kept, name_of, spoken
from runtime.chat.forms import CALL
from runtime.chat.views.skills import SKILL_CARD
from runtime.contract import (
    Address,
    Amended,
    Choice,
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
from runtime.domain.approvals import GRANTING, ApprovalState, Voter, told
from runtime.domain.routing import BY_URGENCY, Decision
from runtime.domain.triggers.matching import MessageTriggers
from runtime.store.agents.answering import addressed, gate_beside, naming
from runtime.store.approvals.asked_back.asking import ask_back
from runtime.store.approvals.decisions import decide
from runtime.store.approvals.edits import Edit
from runtime.store.approvals.granted.together import decide_all
from runtime.store.approvals.listed import choose
from runtime.store.budgets.counters import Moment
from runtime.store.budgets.reserving import taking_in
from runtime.store.common import WHO, at_once, names_of, person, same_account, web_identity
from runtime.store.delegation.commands import children_listed
from runtime.store.delivery.open_deliveries import change_in
from runtime.store.goals.commands import GOAL_COMMANDS
from runtime.store.intake.commands import NO_ASIDE, SKILL_COMMANDS, Aside, commanded, plans_of, spent_of, zone_aside
from runtime.store.intake.edits import amend, move_room
from runtime.store.intake.inbox import ADD_SIGNAL, SEEN, asks_alone, keys, refuse, repeated, replied, row
from runtime.store.intake.messages import said
from runtime.store.intake.modes import wanted_of, zone_for
from runtime.store.intake.run_stop import stop
from runtime.store.intake.strangers import only_reads, stranger, turned_away, welcome
from runtime.store.knowledge.commands import DOCS_COMMANDS
from runtime.store.memory.commands import MEMORY_COMMANDS
from runtime.store.protocol import Changed, Gate, KeptRoom, Offer, Taken
from runtime.store.protocol.intake import ignored
from runtime.store.runs.summaries import conversation
from runtime.store.schema import identities, participation, signals
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, micros
from runtime.store.tasks.commands import TASK_COMMANDS
from runtime.store.triggers.messages import waited_for
from runtime.store.workflows.commands import WORKFLOW_COMMANDS
from runtime.text.glyphs import clip
from runtime.text.retold import retold

NOTICE: Final = 200
OWN_COMMANDS: Final = {
    **TASK_COMMANDS,
    "children": children_listed,
    **MEMORY_COMMANDS,
    **DOCS_COMMANDS,
    **WORKFLOW_COMMANDS,
    **GOAL_COMMANDS,
}
"""Commands about work that others do for somebody, and about what is kept, by name."""
Deed = Clicked | Amended | Stopped | Commanded
CLOSED: Final = "I don't answer in this room."
LATE: Final = "This reached me too late to act on. Please ask again."
MET = WHO.add_columns(identities.c.room)
"""With the room in which they wrote to the agent alone before."""
JOINED = select(participation.c.address).where(participation.c.address == bindparam("room"))
NOTE_ROOM = update(identities).where(identities.c.identity == bindparam("i")).values(room=bindparam("new_room"))
"""Where a person writes to the agent alone: there they can be asked something."""
LAST_SPEAKERS = (
    select(signals.c.actor)
    .where(
        signals.c.address == bindparam("room"),
        is_word(signals.c.kind, "said"),
        signals.c.state != literal_column("'refused'"),
    )
    .order_by(signals.c.accepted_at.desc())
    .limit(bindparam("n", type_=Integer))
)


def accept(
    signal: Signal, gate: Gate, offer: Offer | None, now: datetime, new_id: NewId, aside: Aside = NO_ASIDE
) -> Op[Taken]:
    """The whole of taking in. Ids made here are made anew when a batch is replayed; nobody saw the old ones."""
    course = yield from _course_of(signal, gate)
    if course is Decision.IGNORE and (
        not gate.triggers or (course := _beside(signal, gate.triggers)) is Decision.IGNORE
    ):
        return ignored()
    seen, known = yield at_once((SEEN, keys(signal)), (MET, {"identity": signal.actor}))
    if seen:
        return Taken(Verdict(Outcome.DUPLICATE, SignalId(seen[0][0])))
    if isinstance(signal.body, Moved):
        return (yield from move_room(signal, signal.body, now, new_id))
    who = yield from _admitted(signal, gate, course, known, now, new_id)
    if isinstance(who, Taken):
        return who
    heard, gate = (
        (yield from addressed(signal, signal.body, who, gate, course, now, new_id))
        if gate.agents
        else (signal.body, gate)
    )
    signal = signal if heard is signal.body else replace(signal, body=heard)
    # A message may be a command, but for one that is only observed.
    body = spoken(heard) if isinstance(heard, Said) and course is not Decision.OBSERVE else heard
    if who.role < _needed(body):
        return (yield from only_reads(signal, who, now, new_id))
    match body:
        case Said():
            return (yield from said(signal, body, who, course, gate, offer, now, new_id))
        case Clicked():
            answered = _skill_clicked if aside.skills else _clicked
            return (yield from answered(signal, body, who, gate, aside, now, new_id))
        case Amended():
            return (yield from amend(signal, body, who, now, new_id))
        case Stopped() | Commanded():
            return (yield from _asked(signal, body, who, gate, aside, now, new_id))


def _beside(signal: Signal, triggers: MessageTriggers) -> Decision:
    """Course of what nobody said to the agent: words of people for which a trigger waits are kept as context."""
    said = signal.body
    if isinstance(said, Said) and not signal.by_bot and waited_for(signal, said, triggers):
        return Decision.OBSERVE
    return Decision.IGNORE


def _course_of(signal: Signal, gate: Gate) -> Op[Decision]:
    """Course of a signal as far as its room decides."""
    course = gate.rooms.course(signal)
    if course is Decision.IF_JOINED:
        course = Decision.RUN if (yield JOINED, {"room": str(signal.address)}) else Decision.IGNORE
    talks = signal.by_bot and signal.actor not in gate.rooms.sources
    if course is Decision.RUN and talks and (yield from _alone_with_bots(signal, gate)):
        return Decision.IGNORE
    return BY_URGENCY[signal.urgency] if course is Decision.RUN and isinstance(signal.body, Said) else course


def _alone_with_bots(signal: Signal, gate: Gate) -> Op[bool]:
    """True if bots alone were answered in this conversation for too long: two of them would never end."""
    rows = yield LAST_SPEAKERS, {"room": str(signal.address), "n": gate.bots_in_a_row}
    return len(rows) == gate.bots_in_a_row and all(actor in gate.rooms.bots for (actor,) in rows)


def _admitted(
    signal: Signal, gate: Gate, course: Decision, known: Sequence[Any], now: datetime, new_id: NewId
) -> Op[Person | Taken]:
    """Sender, if they may speak there; else what became of it. `known`: who they are."""
    if course is Decision.REFUSE:
        return (yield from refuse(signal, None, CLOSED, now, new_id, notice=CLOSED))
    who, room = (person(known[0][:3]), known[0][3]) if known else (None, None)
    if gate.rooms.bars(signal.address, signal.actor, who):
        return (yield from turned_away(signal, who, now, new_id))
    if who is None and (gate.open_to_all or signal.by_bot):
        return (yield from welcome(signal, now, new_id))
    if who is None:
        return (yield from stranger(signal, gate, now, new_id))
    if asks_alone(signal) and signal.actor != web_identity(who):  # on the page a person has many rooms
        alone = signal.address.whole_room
        if room is None or not same_account(Address.parse(room), alone):
            yield NOTE_ROOM, {"i": signal.actor, "new_room": str(alone)}
    return who


def _needed(body: Said | Deed) -> Role:
    """The least role that may do this. Who may answer a question is looked at with the question."""
    match body:
        case Clicked():
            return Role.VIEWER
        case Commanded():
            return NEEDED.get(name_of(body), Role.VIEWER)
        case _:
            return Role.USER


def _clicked(
    signal: Signal, click: Clicked, who: Person, gate: Gate, aside: Aside, now: datetime, new_id: NewId
) -> Op[Taken]:
    signal_id = SignalId(new_id())
    if not (yield ADD_SIGNAL, row(signal, who, "decided", now, signal_id)):
        return (yield from repeated(signal))
    voter = Voter(who, (yield from names_of(who)), signal.address, signal.console, signal.alone)
    match click.choice:
        case Choice.ALL:
            decided = yield from decide_all(click, voter, gate.rights, now, new_id)
        case Choice.CONVERSATION | Choice.ALWAYS:
            from runtime.store.approvals.granted.giving import decide_granting  # with the calendar, and seldom pressed

            decided = yield from decide_granting(click, voter, gate.rights, now, new_id)
        case Choice.EDIT if CALL in click.values:
            decided = yield from choose(click, voter, gate.rights, now, new_id)
        case Choice.EDIT:
            decided = yield from decide(click, voter, gate.rights, now, new_id, Edit(aside.changed, new_id))
        case Choice.WHY:
            decided = yield from ask_back(click, voter, gate.rights, now, new_id)
        case _:
            decided = yield from decide(click, voter, gate.rights, now, new_id)
    if decided.objection:
        stays = decided.form_stays or (bool(click.values) and click.choice not in GRANTING)
        return Taken(Verdict(Outcome.UNCHANGED, signal_id, brief(retold(decided.objection)), form_stays=stays))
    is_open = decided.approval is not None and decided.approval.state is ApprovalState.PENDING
    notice = decided.notice and brief(retold(decided.notice))
    if signal.alone and decided.approval and not (is_open or notice):  # there nothing follows by an edit
        notice = brief(f"{decided.approval.tool}: {told(decided.approval)}.")
    verdict = Verdict(Outcome.UNCHANGED if is_open else Outcome.DECIDED, signal_id, notice)
    kept, rooms, change = aside.kept, decided.deliveries, None
    if kept and kept.room in rooms and (change := (yield from change_in(kept.room))):
        rooms = tuple(room for room in rooms if room != kept.room)
        kept.foreseen(change)
    return Taken(verdict, decided.session, decided.lane_ready, deliveries=rooms, settled=decided.settled, change=change)


def _skill_clicked(
    signal: Signal, click: Clicked, who: Person, gate: Gate, aside: Aside, now: datetime, new_id: NewId
) -> Op[Taken]:
    """A button on the card of a skill."""
    from runtime.store.skills.answering import answer_card

    signal_id = SignalId(new_id())
    if not (yield ADD_SIGNAL, row(signal, who, "decided", now, signal_id)):
        return (yield from repeated(signal))
    told, rooms = yield from answer_card(click, aside.skills, who, now, new_id)
    return Taken(Verdict(Outcome.DECIDED if rooms else Outcome.UNCHANGED, signal_id, brief(told)), deliveries=rooms)


def brief(text: str) -> str:
    """A notice, within what a platform's private answer holds."""
    return clip(text, NOTICE)


def _asked(
    signal: Signal, body: Stopped | Commanded, who: Person, gate: Gate, aside: Aside, now: datetime, new_id: NewId
) -> Op[Taken]:
    """A stop or a command: decided at once. One that comes a day late is about something that is long over."""
    signal_id = SignalId(new_id())
    values = row(signal, who, "decided", now, signal_id) | _written(signal, body, now)
    if not (yield ADD_SIGNAL, values):
        return (yield from repeated(signal))
    if now - signal.received_at > gate.freshness:
        return (yield from replied(signal, Verdict(Outcome.UNCHANGED, signal_id, LATE), now, new_id))
    if isinstance(body, Stopped) and body.deletes:
        from runtime.store.shelf.deleting import delete_room  # seldom asked for

        return (yield from delete_room(signal, signal_id, who, gate, now, new_id))
    if isinstance(body, Stopped):
        return (yield from stop(signal, body, signal_id, who, gate, now, new_id))
    if ours := OWN_COMMANDS.get(name_of(body)):
        return (yield from ours(signal, body, signal_id, who, gate, now, new_id))
    return (yield from commanded(signal, body, signal_id, who, gate, aside, now, new_id))


def _written(signal: Signal, body: Stopped | Commanded, now: datetime) -> dict[str, object]:
    """A command by its name; one that was written as a message stands in its room as one, and is answered at once."""
    text = kept(body) if isinstance(body, Commanded) else "/stop"
    if isinstance(signal.body, Said):
        return {"text": text, "answered_at": micros(now)}
    return {"text": text} if isinstance(body, Commanded) else {}


class IntakeStore(Base):
    """Implements `protocol.Intake`."""

    async def accept(
        self,
        signal: Signal,
        gate: Gate,
        offer: Offer | None = None,
        changed: Changed | None = None,
        kept: KeptRoom | None = None,
    ) -> Taken:
        now = self.now()
        if isinstance(signal.body, Clicked):
            aside = Aside(changed=changed, kept=kept)
            if signal.body.approval_id.startswith(SKILL_CARD):
                form = signal.body.approval_id.removeprefix(SKILL_CARD)
                aside = Aside(skills=await gate.skills(gate.agent, SKILL_CARD, form, signal.command_mark))
        else:
            aside = await self._aside(signal, gate, now)
        at = Moment(self._budgets.rules, now, self._new_id)
        work = partial(accept, signal, gate, offer, now, self._new_id, aside)
        taken = await self._driver.write(lambda: taking_in(work(), at) if at.rules.is_set else work())
        self._observer.accepted(signal, taken)
        return taken

    async def _aside(self, signal: Signal, gate: Gate, now: datetime) -> Aside:
        """Facts for a command that the writer does not read."""
        body, named = signal.body, ""
        if gate.agents and not signal.agent and isinstance(body, Said | Commanded):
            named, body = naming(body, gate.agents)
        command = spoken(body) if isinstance(body, Said) else body
        if not isinstance(command, Commanded):
            return NO_ASIDE
        if gate.agents:
            gate = await self._driver.read(lambda: gate_beside(signal, named, gate))
        match name_of(command):
            case "usage":
                rules = self._budgets.rules
                return await self._driver.read(lambda: spent_of(signal, gate.agent, rules, now))
            case "status":
                return Aside(trouble=gate.trouble(signal.address))
            case "schedules":
                return await self._driver.read(lambda: plans_of(signal, now))
            case "timezone":
                return await asyncio.to_thread(zone_aside, command.argument)
            case "context" | "compact":
                found = await self._driver.read(lambda: conversation(gate.agent, signal.address, now))
                return Aside(measured=await gate.measure(found), remembered=found.remembered)
            case name:
                return await self._aside_of(name, command, signal, gate, now)

    async def _aside_of(self, name: str, command: Commanded, signal: Signal, gate: Gate, now: datetime) -> Aside:
        """The rest of it."""
        argument = command.argument.strip()
        if name in SKILL_COMMANDS:
            return Aside(skills=await gate.skills(gate.agent, name, argument, signal.command_mark))
        if name in ("mode", "away") and argument:
            zone = await self._driver.read(lambda: zone_for(signal))
            return Aside(wanted=await asyncio.to_thread(wanted_of, signal, name, argument, zone, now))
        return NO_ASIDE
