"""Children that others end: a person, their parent, or whoever looks after them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import bindparam, select

from runtime.contract import Address, ChildState, NewId, RunId, SessionKey
from runtime.domain.runs import RunState
from runtime.store.common import LOCK_LANE, fact
from runtime.store.delegation.ending import child_over
from runtime.store.delegation.rows import OPEN_BELOW
from runtime.store.protocol import Below
from runtime.store.runs.closing import ASK_STOP, OPEN_RUNS, close_parked
from runtime.store.schema import children
from runtime.store.sql.driver import Op, is_word

ITS_SESSION = select(children.c.session).where(children.c.id == bindparam("child"))
OPEN_CHILDREN = select(children.c.id).where(
    children.c.parent_run == bindparam("run"), is_word(children.c.state, ChildState.OPEN)
)
OWN_CHILD = select(children.c.id).where(
    children.c.id == bindparam("child"),
    children.c.parent_run == bindparam("run"),
    is_word(children.c.state, ChildState.OPEN),
)


def end_below(root: RunId, text: str, now: datetime, new_id: NewId) -> Op[Below]:
    """All that a run handed on ends with it, at any depth. What has not begun ends as it begins."""
    ended = Below()
    while found := (
        yield OPEN_BELOW, {"root": root}
    ):  # again: one that ends here may have begun another until its mark
        for child, session in found:
            one = yield from _end(RunId(child), SessionKey(session), ChildState.STOPPED, text, now, new_id)
            ended = both(ended, one)
    return ended


def stop_child(parent: RunId, child: RunId, by: str, now: datetime, new_id: NewId) -> Op[Below | None]:
    """End a child of a run, and all below it; None where there is no such child at work."""
    if not (yield OWN_CHILD, {"child": child, "run": parent}):
        return None
    yield from fact(now, "stop", by, child, "")
    return (yield from end_tree(child, ChildState.STOPPED, f"Stopped by {by}.", now, new_id))


def end_tree(child: RunId, state: ChildState, text: str, now: datetime, new_id: NewId) -> Op[Below]:
    """A child and those below it, at any depth."""
    session = SessionKey((yield ITS_SESSION, {"child": child})[0][0])
    ended = yield from _end(child, session, state, text, now, new_id)
    for (below,) in (yield OPEN_CHILDREN, {"run": child}):
        one = yield from end_tree(RunId(below), ChildState.STOPPED, "", now, new_id)
        ended = both(ended, one)
    return ended


def _end(child: RunId, session: SessionKey, state: ChildState, text: str, now: datetime, new_id: NewId) -> Op[Below]:
    """One child: its run at work gets a mark, and one that waits is over with its cards."""
    live: list[RunId] = []
    told: tuple[Address, ...] = ()
    yield LOCK_LANE, {"k": session}
    for run, at in (yield OPEN_RUNS, {"s": session}):
        if at == RunState.RUNNING:
            live.append(RunId(run))
            yield ASK_STOP, {"run": run}
        else:
            told += yield from close_parked(RunId(run), RunState(at), session, text or "Stopped.", now, new_id)
    over = yield from child_over(child, state, text, now, new_id)
    return Below(tuple(live), (*told, *over.told), over.woken)


def both(one: Below, other: Below) -> Below:
    return Below((*one.live, *other.live), (*one.told, *other.told), one.woken or other.woken)
