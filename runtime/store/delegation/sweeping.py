"""Children that are to end though nobody ended them: their time is over, or a run is of which an older node told nobody."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import Integer, bindparam, or_, select

from runtime.contract import ChildState, NewId, RunId, SessionKey
from runtime.domain.agents.delegation import read_answer
from runtime.domain.runs import RunState
from runtime.store.common import LOCK_LANE
from runtime.store.delegation.ending import CHILD_AFTER, child_over, settle
from runtime.store.delegation.rows import CHILD_KEPT, LOCK_PARENT, Kept
from runtime.store.delegation.stopping import both, end_trees
from runtime.store.protocol import Below
from runtime.store.schema import children, runs, turns, waits
from runtime.store.sql.driver import Op, is_word, micros

SLICE: Final = 50
"""Children that one look ends."""
NOBODY_WAITS: Final = "Whoever asked for this is over."
_OVER: Final = (RunState.DONE, RunState.FAILED, RunState.STOPPED)
_own, _parent = runs.alias("own"), runs.alias("parent")
LEFT_OPEN = (
    select(children.c.id, _own.c.state, _own.c.error, turns.c.text, children.c.wanted, children.c.deadline_at)
    .outerjoin(_own, _own.c.id == children.c.id)
    .outerjoin(_parent, _parent.c.id == children.c.parent_run)
    .outerjoin(turns, (turns.c.session == children.c.session) & (turns.c.number == _own.c.last_turn))
    .where(
        is_word(children.c.state, ChildState.OPEN),
        or_(
            children.c.deadline_at <= bindparam("now"),
            is_word(_own.c.state, *_OVER),
            (children.c.awaits == 1) & is_word(_parent.c.state, *_OVER),
        ),
    )
    .order_by(children.c.deadline_at)
    .limit(bindparam("n", type_=Integer))
)
"""Few are open at any time, and their index holds no others."""
UNTOLD = (
    select(children.c.id)
    .select_from(runs)
    .join(waits, waits.c.run_id == runs.c.id)
    .join(children, children.c.id == waits.c.subject)
    .where(
        is_word(runs.c.state, "running", "parked", "ready"),
        is_word(runs.c.state, "parked"),
        waits.c.settled_at.is_(None),
        children.c.state != bindparam("is_open"),
    )
    .limit(bindparam("n", type_=Integer))
)
"""The first condition is that of the index."""


class Left(NamedTuple):
    """A child that is open though it, its parent or its time is over; `state` and what follows are of its run, if it has one."""

    child: RunId
    state: str | None
    error: str | None
    answer: str | None
    schema: str
    deadline_at: int

    @property
    def is_valid(self) -> bool:
        """True if an answer that nobody checked may fit its schema."""
        return not self.schema or not isinstance(read_answer(self.answer or ""), str)


def left(now: datetime) -> Op[tuple[Sequence[Left], Sequence[RunId]]]:
    """Children to end, and those over whose parents still wait for them; of each a slice at most."""
    found = [Left(*row) for row in (yield LEFT_OPEN, {"now": micros(now), "n": SLICE})]
    untold = [RunId(child) for (child,) in (yield UNTOLD, {"is_open": ChildState.OPEN.value, "n": SLICE})]
    return found, untold


def end_left(now: datetime, new_id: NewId) -> Op[Below]:
    """They end, and their parents go on."""
    found, untold = yield from left(now)
    ended = Below()
    for one in found:
        below = yield from _end(one, now, new_id)
        ended = both(ended, below)
    for child in untold:
        woken = yield from _told(child, now)
        ended = both(ended, Below(woken=woken))
    return ended


def _end(one: Left, now: datetime, new_id: NewId) -> Op[Below]:
    if one.state in _OVER:
        state = RunState(one.state)
        yield LOCK_PARENT, {"child": one.child}
        text = one.answer if state is RunState.DONE else one.error
        over = yield from child_over(one.child, CHILD_AFTER[state], text or "", now, new_id, valid=one.is_valid)
        return Below((), over.told, over.woken)
    if one.deadline_at <= micros(now):
        return (yield from end_trees([(one.child,)], ChildState.LATE, "", now, new_id))
    return (yield from end_trees([(one.child,)], ChildState.STOPPED, NOBODY_WAITS, now, new_id))


def _told(child: RunId, now: datetime) -> Op[bool]:
    rows = yield CHILD_KEPT, {"child": child}
    kept = Kept(*rows[0])
    yield LOCK_LANE, {"k": SessionKey(kept.parent_session)}
    return (yield from settle(child, kept, now))
