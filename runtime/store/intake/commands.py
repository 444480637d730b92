"""Answers to commands: read, and where it is `/new` or `/pair` done, in the transaction that takes it in.

The sums of `/usage` walk the usage of a month: they are read beside the writer, before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Select, bindparam, func, select, update

from runtime.chat import agents, budgets, commands, thinking
from runtime.chat.commands import Going, Spent, Sum, Work
from runtime.chat.modes import Wanted, in_status
from runtime.chat.views import context as context_views
from runtime.chat.views import grants as grant_views
from runtime.chat.views import schedules as schedule_views
from runtime.chat.views import watches as watch_views
from runtime.chat.views.context import NOTHING_REMEMBERED, Measured, Remembered
from runtime.chat.views.skills import NO_SKILLS_HERE, ONLY_OWNERS_ACCEPT
from runtime.contract import (
    UNREAD,
    Address,
    Addressing,
    Commanded,
    Content,
    NewId,
    Outcome,
    Person,
    Role,
    Schedule,
    Signal,
    SignalId,
    Verdict,
)
from runtime.domain.ids import first_at
from runtime.domain.runs import RunState
from runtime.domain.triggers.kept import KeptTrigger
from runtime.policy.budgets import BudgetRules
from runtime.store.agents.choosing import agented, agents_listed, asked_of_nobody
from runtime.store.agents.held_back import held_back
from runtime.store.approvals.granted.rows import end_conversation, told_in_chat
from runtime.store.approvals.modes import end_trust, mode_at
from runtime.store.budgets.counters import Payer, looked_at
from runtime.store.common import LOCK_LANE, fact, in_room, session_key, whom
from runtime.store.intake.inbox import answer, answered
from runtime.store.intake.listing import listed
from runtime.store.intake.models import modelled
from runtime.store.intake.modes import absent, moded
from runtime.store.intake.pairings import pair
from runtime.store.protocol import Changed, Gate, KeptRoom, Taken, Unpaired
from runtime.store.protocol.intake import SkillAnswer
from runtime.store.runs.closing import OPEN_RUNS
from runtime.store.runs.compacting import WANTED_IN
from runtime.store.runs.thinking import thought
from runtime.store.schedules.book import keep_zone, planned_in, zones_of
from runtime.store.schema import approvals, people, runs, sessions, signals, usage
from runtime.store.skills.locking import accept_skill
from runtime.store.sql.driver import Op, is_word, micros, moment
from runtime.store.triggers.rows import listed_in
from runtime.text.glyphs import seen
from runtime.text.words import say

LONGEST_RUN: Final = timedelta(days=2)
"""A run that began before a month and went on in it is counted if it is no older."""
FAR_AHEAD: Final = timedelta(days=366)
"""No clock of ours is so far ahead."""

LANE = select(sessions.c.next_turn, sessions.c.since_turn).where(sessions.c.key == bindparam("k"))
BEGIN_ANEW = update(sessions).where(sessions.c.key == bindparam("k")).values(since_turn=sessions.c.next_turn)


AT_WORK_IN = select(sessions.c.key).where(
    sessions.c.key == bindparam("k"), is_word(sessions.c.state, "running", "suspect")
)
CONDENSE = (
    update(signals)
    .where(signals.c.id == bindparam("signal"))
    .values(state="condensing", session=bindparam("s"), answered_at=None)
)

WORKS = (
    select(runs.c.state, people.c.name, runs.c.started_at, runs.c.iterations)
    .outerjoin(people, people.c.id == runs.c.requester)
    .where(in_room(runs.c.address), is_word(runs.c.state, "running", "parked", "ready"))
    .order_by(runs.c.started_at)
)
SIGNALS_WAITING = (
    select(func.count()).select_from(signals).where(is_word(signals.c.state, "waiting"), in_room(signals.c.address))
)
ASKED_IN_ROOM = (
    select(*approvals.columns)
    .where(is_word(approvals.c.state, "pending"), in_room(approvals.c.address))
    .order_by(approvals.c.asked_at, approvals.c.step)
)


def _sums(*where: Any) -> Select[Any]:
    """Tokens in and out and money of a month, and of its last day. A run's id tells when it began: most rows are older."""
    today = usage.c.at >= bindparam("day")
    columns = (usage.c.input_tokens, usage.c.output_tokens, usage.c.cost_micros)
    return select(
        *(func.coalesce(func.sum(column), 0) for column in columns),
        *(func.coalesce(func.sum(column).filter(today), 0) for column in columns),
    ).where(
        usage.c.run_id >= bindparam("first"),
        usage.c.run_id <= bindparam("last"),  # none is later; a range with both ends is walked by its index everywhere
        usage.c.at >= bindparam("month"),
        *where,
    )


OF_ROOM = _sums(in_room(usage.c.address))
OF_PERSON = _sums(usage.c.person_id == bindparam("person"))


NOTHING_SPENT: Final = Spent()


@dataclass(frozen=True, slots=True)
class Aside:
    """Facts for a command from before its transaction; `changed`, the call that a form asks for; `kept`, a click's room."""

    room: Spent = NOTHING_SPENT
    person: Spent = NOTHING_SPENT
    trouble: str | None = None
    plans: Sequence[Schedule] = ()
    watches: Sequence[KeptTrigger] = ()
    zone: str = ""
    wanted: Wanted | None = None
    changed: Changed | None = None
    kept: KeptRoom | None = None
    measured: Measured | None = None
    left: Sequence[str] = ()
    remembered: Remembered = NOTHING_REMEMBERED
    skills: SkillAnswer | None = None


NO_ASIDE: Final = Aside()
SKILL_COMMANDS: Final = frozenset({"skills", "skill"})
CHOOSING: Final = frozenset({"mode", "model", "agent", "ask"})
"""Commands that choose something for a conversation or a message, or tell what is chosen."""


def spent_of(signal: Signal, agent: str, rules: BudgetRules, now: datetime) -> Op[Aside]:
    """The sums of a room and a person, and what budgets leave: too many rows to read in the transaction of a command."""
    who = yield from whom(signal.actor)
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    month = day.replace(day=1)
    within: dict[str, object] = {"month": micros(month), "day": micros(day)}
    within |= {"first": first_at(month - LONGEST_RUN), "last": first_at(day + FAR_AHEAD)}
    room = yield OF_ROOM, within | {"room": _room(signal.address)}
    person = yield OF_PERSON, within | {"person": who.id if who else ""}
    payer = Payer(agent, signal.address, who.id if who else None)
    counters = (yield from looked_at(payer, rules, now)) if rules.is_set else ()
    return Aside(_spent(room[0]), _spent(person[0]), left=budgets.left(rules, counters))


def plans_of(signal: Signal, now: datetime) -> Op[Aside]:
    plans = yield from planned_in(signal.address)
    return Aside(plans=plans, watches=(yield from listed_in(signal.address, now)))


def zone_aside(name: str) -> Aside:
    """Full name of a zone that somebody wrote. Reads files."""
    zone, trouble = schedule_views.zone_or_trouble(name)
    return Aside(zone=zone, trouble=trouble or None)


def _spent(row: Sequence[int]) -> Spent:
    return Spent(today=Sum(*map(int, row[3:])), month=Sum(*map(int, row[:3])))


def commanded(
    signal: Signal,
    command: Commanded,
    signal_id: SignalId,
    who: Person,
    gate: Gate,
    aside: Aside,
    now: datetime,
    new_id: NewId,
) -> Op[Taken]:
    """Do what was asked and answer it: in the room, or to its sender alone; the signal is stored already."""
    name = commands.name_of(command)
    elsewhere: tuple[Address, ...] = ()
    cards: tuple[Content, ...] = ()
    in_public = name in commands.IN_PUBLIC
    if name == commands.PAIR and who.role is Role.OWNER:
        text, elsewhere = yield from _paired(signal, command, who, gate, now, new_id)
    elif name in CHOOSING:
        text, in_public = yield from _chosen(name, signal, command, who, gate, aside, now)
    elif name == "grants":
        text = yield from told_in_chat(command.argument, who, now, signal.command_mark)
        if signal.reach is not Addressing.DIRECT and len(text) > signal.private:
            text = say(grant_views.IN_PRIVATE)
    elif name in SKILL_COMMANDS:
        text = yield from _of_skills(aside.skills, who, now)
    elif name == "approvals":
        listing = yield from listed(signal, who, gate.rights, now, new_id)
        text, cards, elsewhere = listing.text, listing.cards, listing.rooms
    elif own := OWN_WAYS.get(name):
        return (yield from own(signal, signal_id, gate, aside, now, new_id))
    elif name == UNREAD and command.argument:
        text = commands.unread(command.argument)
    else:
        text = yield from _told(name, signal, signal_id, who, gate, aside, now)
    outcome = Outcome.DECIDED if name in commands.NEEDED or elsewhere else Outcome.UNCHANGED
    if not in_public and len(text) <= signal.private:
        return Taken(Verdict(outcome, signal_id, text, cards))
    here = yield from answer(signal, signal_id, text, now, new_id)
    return Taken(Verdict(outcome, signal_id), deliveries=here + elsewhere)


def _of_skills(answer: SkillAnswer | None, who: Person, now: datetime) -> Op[str]:
    """Tell of skills; an owner's word accepts one as it was looked at."""
    if answer is None:  # nobody looked
        return say(NO_SKILLS_HERE)
    if answer.accepts is None:
        return answer.text
    if who.role < Role.OWNER:
        return say(ONLY_OWNERS_ACCEPT)
    yield from accept_skill(answer.accepts, answer.skill_text, who.name, now)
    return answer.text


def _chosen(
    name: str, signal: Signal, command: Commanded, who: Person, gate: Gate, aside: Aside, now: datetime
) -> Op[tuple[str, bool]]:
    """Answer to a command that chooses something for the conversation, and whether everybody in the room is to read it."""
    match name:
        case "mode":
            return (yield from moded(signal, command, who, gate, aside.wanted, now))
        case "model":
            return (yield from modelled(signal, command, who, gate, now))
        case "ask":
            return (yield from asked_of_nobody(signal, command, who, gate)), False
        case _:
            return (yield from agented(signal, command, who, gate, now))


def _told(
    name: str, signal: Signal, signal_id: SignalId, who: Person, gate: Gate, aside: Aside, now: datetime
) -> Op[str]:
    match name:
        case "help":
            return commands.helped(signal.command_mark)
        case "context":
            return context_views.filled(aside.measured, aside.remembered, now, signal.command_mark)
        case "new":
            return (yield from _begun_anew(signal, signal_id, who, gate, now))
        case "status":
            return commands.going_on((yield from _going(signal, gate, aside, now)), now, signal.command_mark)
        case "usage":
            return commands.spent(aside.room, aside.person, aside.left)
        case "agents":
            return (yield from agents_listed(signal, gate))
        case "schedules":
            return schedule_views.planned(aside.plans, watch_views.lines(aside.watches))
        case "timezone":
            return (yield from _zone(signal, who, aside, now))
        case "away" | "back":
            return (yield from absent(signal, name, who, aside.wanted, now))
        case _:
            return commands.unknown(name, signal.command_mark)


def _room(address: Address) -> str:
    """A command in a thread is about that thread, and one in a room about the room and all of its threads."""
    return str(address)


def _begun_anew(signal: Signal, signal_id: SignalId, who: Person, gate: Gate, now: datetime) -> Op[str]:
    key = session_key(gate.agent, signal.address)
    yield LOCK_LANE, {"k": key}
    lane = yield LANE, {"k": key}
    if not lane or lane[0][1] == lane[0][0] or lane[0][0] == 1:
        return say(commands.NEW_ALREADY)
    yield BEGIN_ANEW, {"k": key}
    yield from end_trust(key)
    yield from end_conversation(key, who.name, now)
    yield from fact(now, "begun anew", who.name, signal_id, str(signal.address))
    open_runs = yield OPEN_RUNS, {"s": key}
    return commands.begun_anew([RunState(state) for _, state in open_runs], signal.command_mark)


def _compacting(
    signal: Signal, signal_id: SignalId, gate: Gate, aside: Aside, now: datetime, new_id: NewId
) -> Op[Taken]:
    """Have a conversation condensed, once no run is at work there; in its room stands then what came of it."""
    key = session_key(gate.agent, signal.address)
    yield LOCK_LANE, {"k": key}
    at_work = bool((yield AT_WORK_IN, {"k": key}))
    if (yield WANTED_IN, {"s": key}):
        text = say(context_views.AT_IT)
    elif not (at_work or (aside.measured and aside.measured.spare)):
        text = say(context_views.NOTHING)
    else:
        yield CONDENSE, {"signal": signal_id, "s": key}
        if not (at_work or signal.private):  # a message: what it leads to follows in a moment
            return Taken(Verdict(Outcome.DECIDED, signal_id), compacts=True)
        told = yield from answered(
            signal, signal_id, say(context_views.AFTERWARDS) if at_work else say(context_views.BEGUN), now, new_id
        )
        return replace(told, compacts=True)
    return (yield from answered(signal, signal_id, text, now, new_id))


def _thinking(signal: Signal, signal_id: SignalId, gate: Gate, aside: Aside, now: datetime, new_id: NewId) -> Op[Taken]:
    """Tell what was thought: to the sender alone where that can be, else folded under a line."""
    found = yield from thought(session_key(gate.agent, signal.address))
    if not found:
        return (yield from answered(signal, signal_id, say(thinking.NO_THOUGHTS), now, new_id))
    if len(text := f"{say(thinking.THOUGHT_TITLE)}\n\n{found}") <= signal.private:
        return Taken(Verdict(Outcome.DECIDED, signal_id, text))
    here = yield from answer(
        signal, signal_id, say(thinking.THOUGHT_TITLE), now, new_id, folded=thinking.foldable(found)
    )
    return Taken(Verdict(Outcome.DECIDED, signal_id), deliveries=here)


OWN_WAYS: Final = {"compact": _compacting, "think": _thinking}
"""Commands that are answered in a way of their own."""


def _zone(signal: Signal, who: Person, aside: Aside, now: datetime) -> Op[str]:
    """Remember a zone that was named, or tell of the one that is known."""
    if aside.trouble:
        return aside.trouble
    if aside.zone:
        yield from keep_zone(who.id, aside.zone, who.name, now)
        return schedule_views.zone_set(aside.zone)
    room = schedule_views.room_of(signal.address)
    return schedule_views.zone_known((yield from zones_of(who.id, room)), who.id, room)


def _going(signal: Signal, gate: Gate, aside: Aside, now: datetime) -> Op[Going]:
    room = {"room": _room(signal.address)}
    works = yield WORKS, room
    waiting = yield SIGNALS_WAITING, room
    questions = yield ASKED_IN_ROOM, room
    held = (yield from held_back()).get(gate.agent)
    return Going(
        [Work(RunState(state), name or "", moment(at), calls) for state, name, at, calls in works],
        int(waiting[0][0]),
        len(questions),
        aside.trouble,
        in_status((yield from mode_at(gate.agent, signal.address, now))),
        agents.suspended(held.name, held.reason) if held else "",
    )


def _paired(
    signal: Signal, command: Commanded, who: Person, gate: Gate, now: datetime, new_id: NewId
) -> Op[tuple[str, tuple[Address, ...]]]:
    """Words for the owner, and the room where the person is told."""
    code, _, name = command.argument.strip().partition(" ")
    if signal.reach is not Addressing.DIRECT or not code:
        return say(commands.PAIR_WHERE), ()
    made = yield from pair(code, seen(name), None, who, who.name, gate.rights.given, now, new_id)
    if isinstance(made, Unpaired):
        return made.reason, ()
    return commands.paired(made.person, made.identity), (made.address, *made.cards)
