"""Money held back for a call before it is made, and settled by the transaction that records it.

A run has one call under way, so one reservation. That of a call which was killed stands until the run's repeat is recorded,
or the run ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, delete, exists, func, literal_column, select, update

from runtime.chat import budgets as words
from runtime.contract import SPEND_MORE, Address, Content, DeliveryId, Kind, RunId, TaskKind, Usage
from runtime.policy.budgets import Allowance, BudgetRules, Counter, Exceeded, Level, Scope, Then, exceeded, level_of
from runtime.store.budgets.counters import Change, Moment, Payer, changed, looked_at
from runtime.store.common import fact, going_on, put
from runtime.store.delivery.outbox import enqueue
from runtime.store.protocol import Claim, NewDelivery, Recorded, Released, Taken
from runtime.store.runs.steps import RUN_FACTS
from runtime.store.schema import approvals, budgets, people, reservations, steps
from runtime.store.sql.driver import Op, is_word, micros
from runtime.text.words import said_at

HELD_FOR = (reservations.c.agent, reservations.c.room, reservations.c.person_id, reservations.c.micros)
HELD = select(*HELD_FOR).where(reservations.c.run_id == bindparam("run"))
TAKE_BACK = delete(reservations).where(reservations.c.run_id == bindparam("run"))
HOLD = put(reservations)
TELL = (
    update(budgets)
    .where(budgets.c.scope == bindparam("of_scope"), budgets.c.subject == bindparam("whose"))
    .values(level=bindparam("new_level"))
)
_ASKED = (steps.c.run_id == bindparam("run"), is_word(steps.c.kind, "tool"), steps.c.tool == bindparam("tool"))
ASKED_ABOUT = select(
    select(func.count()).select_from(steps).where(*_ASKED).scalar_subquery(),
    exists()
    .where(
        *_ASKED,
        approvals.c.run_id == steps.c.run_id,
        approvals.c.step == steps.c.number,
        is_word(approvals.c.state, "approved"),
    )
    .label("allowed"),
).select_from(select(literal_column("1").label("one")).subquery())
NAME_OF_PAYER = select(people.c.name).where(people.c.id == bindparam("person"))
CLOSE_TO_THEM: Final = (Scope.PERSON_DAY, Scope.ROOM_DAY)
"""Budgets whose people are warned themselves. Operators hear of all."""


@dataclass(frozen=True, slots=True)
class Held:
    payer: Payer
    micros: int


def claiming(work: Op[Claim | None], at: Moment) -> Op[Claim | None]:
    """A claim, with money held back for its first call, or the budget that forbids it."""
    claim = yield from going_on(work)
    return (yield from _allowed(claim, at)) if claim else None


def taking_in(work: Op[Taken], at: Moment) -> Op[Taken]:
    """The same for a message whose run begins with it."""
    taken = yield from going_on(work)
    return replace(taken, claim=(yield from _allowed(taken.claim, at))) if taken.claim else taken


def _allowed(claim: Claim, at: Moment) -> Op[Claim]:
    if claim.job is not None and claim.job.task.kind is not TaskKind.PROMPT:  # no model is asked
        return claim
    allowance = yield from reserved(claim.run_id, payer_of(claim), at, resumed=claim.resumed)
    return replace(claim, allowance=allowance)


def recording(work: Op[Recorded | None], run: RunId, used: Usage, at: Moment) -> Op[Recorded | None]:
    """A model call that another one follows."""
    recorded = yield from going_on(work)
    if recorded is None:
        return recorded
    after = yield from settled(run, used, at, goes_on=True)
    return replace(recorded, allowance=after.allowance, told=(*recorded.told, *after.told))


def ending(work: Op[Released | None], run: RunId, used: Usage | None, at: Moment) -> Op[Released | None]:
    """The end of a run, or its wait for people: nothing more is held back for it."""
    released = yield from going_on(work)
    if released is None:
        return released
    after = yield from settled(run, used, at, goes_on=False)
    return replace(released, told=(*released.told, *after.told))


def again(work: Op[tuple[int, int, int] | None], run: RunId, at: Moment) -> Op[Allowance | None]:
    """The allowance of a run that was refused one before; None where its lane is another's."""
    if (yield from work) is None:
        return None
    return (yield from reserved(run, (yield from _payer(run)), at)) if at.rules.is_set else Allowance()


def payer_of(claim: Claim) -> Payer:
    return Payer(claim.agent, claim.address, claim.requester.id if claim.requester else None)


def reserved(run: RunId, payer: Payer, at: Moment, *, resumed: bool = True) -> Op[Allowance]:
    """Hold money back for a call of `run`, where every budget allows it. What it holds already stays."""
    if resumed and (yield from _held(run)):
        return Allowance()
    hold = at.rules.hold
    counters = yield from changed(payer, Change(hold=hold, held=1), at.rules, at.now)
    if over := (yield from _over(run, counters, hold, at.rules)):
        yield from changed(payer, Change(hold=-hold, held=-1), at.rules, at.now)
        yield from _told(payer, counters, at)
        return Allowance(over)
    yield HOLD, _row(run, payer, hold, at.now)
    return Allowance()


@dataclass(frozen=True, slots=True)
class Settled:
    """Outcome of a call for its budgets: the next one's allowance, and rooms where somebody was warned."""

    allowance: Allowance | None = None
    told: tuple[Address, ...] = ()


def settled(run: RunId, used: Usage | None, at: Moment, *, goes_on: bool) -> Op[Settled]:
    """Count what a call took, in place of what was held back. A run that goes on holds as much back for its next one."""
    held = yield from _held(run)
    spent = Change.of(used)
    if held is None and spent == Change():
        return Settled()
    payer = held.payer if held else (yield from _payer(run))
    hold = max(at.rules.hold, spent.cost) if goes_on else 0
    change = replace(spent, hold=hold - (held.micros if held else 0), held=int(goes_on) - int(held is not None))
    counters = yield from changed(payer, change, at.rules, at.now)
    told = yield from _told(payer, counters, at)
    if not goes_on:
        if held:  # only now: a counter that was missing is made of what is held, and this was taken off it
            yield TAKE_BACK, {"run": run}
        return Settled(None, told)
    if over := (yield from _over(run, counters, hold, at.rules)):
        yield from changed(payer, Change(hold=-hold, held=-1), at.rules, at.now)
        yield TAKE_BACK, {"run": run}
        return Settled(Allowance(over), told)
    yield HOLD, _row(run, payer, hold, at.now)
    return Settled(Allowance(), told)


def charged(run: RunId, used: Usage | None, at: Moment) -> Op[tuple[Address, ...]]:
    """Count a call for which nothing was held back: a summary, an answer about a call."""
    if not at.rules.is_set or Change.of(used) == Change():
        return ()
    payer = yield from _payer(run)
    counters = yield from changed(payer, Change.of(used), at.rules, at.now)
    return (yield from _told(payer, counters, at))


def affords(run: RunId, at: Moment) -> Op[bool]:
    """True if every budget would allow a call for `run`, for which nothing is held back."""
    payer = yield from _payer(run)
    return exceeded(at.rules, (yield from looked_at(payer, at.rules, at.now))) is None


def _held(run: RunId) -> Op[Held | None]:
    rows = yield HELD, {"run": run}
    if not rows:
        return None
    agent, room, person, held = rows[0]
    return Held(Payer(agent, Address.parse(room), person), int(held))


def _payer(run: RunId) -> Op[Payer]:
    rows = yield RUN_FACTS, {"run": run}
    agent, address, requester, *_ = rows[0]
    return Payer(agent, Address.parse(address), requester)


def _row(run: RunId, payer: Payer, hold: int, now: datetime) -> dict[str, object]:
    room = str(payer.room.whole_room)
    of = {"run_id": run, "agent": payer.agent, "room": room, "person_id": payer.person}
    return {**of, "micros": hold, "at": micros(now)}


def _over(run: RunId, counters: Sequence[Counter], hold: int, rules: BudgetRules) -> Op[Exceeded | None]:
    """The budget that forbids the next call, unless people let this very run go on beyond it."""
    over = exceeded(rules, counters, hold)
    if over is None or rules.then is not Then.ASK:
        return over
    rows = yield ASKED_ABOUT, {"run": run, "tool": SPEND_MORE}
    times, is_allowed = rows[0]
    return None if is_allowed else replace(over, was_asked=bool(times))


def _name_of(counter: Counter) -> Op[str]:
    """Name of the person whose budget it is, since others may read it too."""
    if counter.scope is not Scope.PERSON_DAY:
        return ""
    rows = yield NAME_OF_PAYER, {"person": counter.subject}
    return str(rows[0][0]) if rows else ""


def _told(payer: Payer, counters: Sequence[Counter], at: Moment) -> Op[tuple[Address, ...]]:
    """Note what operators are to hear, and warn those whose own budget is nearly spent; each once while a counter runs."""
    rooms: tuple[Address, ...] = ()
    for counter in counters:
        level = level_of(at.rules, counter)
        if level <= counter.level:
            continue
        yield TELL, {"of_scope": counter.scope.value, "whose": counter.subject, "new_level": int(level)}
        kind = "budget spent" if level is Level.REACHED else "budget nearly spent"
        limit = at.rules.limit(counter)
        sums = f"{words.amount(counter.scope, counter.used)} of {words.amount(counter.scope, limit)}"
        yield from fact(at.now, kind, "", f"{counter.scope} {counter.subject}".strip(), sums)
        if level is Level.WARNED and counter.scope in CLOSE_TO_THEM:
            name = yield from _name_of(counter)
            with said_at(payer.room):
                text = words.warned(counter, limit, name)
            origin = f"budget:{counter.scope}:{counter.subject}:{micros(counter.ends_at)}"
            new = NewDelivery(DeliveryId(at.new_id()), origin, 0, Kind.REPORT, payer.room, Content(text))
            if (yield from enqueue(new, at.now)):
                rooms = (*rooms, payer.room)
    return rooms
