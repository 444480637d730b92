"""Children that others end: a person, their parent, or whoever looks after them."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Integer, Text, bindparam, literal_column, or_, select

from runtime.contract import Address, ChildState, NewId, PersonId, RunId, SessionKey
from runtime.domain.runs import RunState
from runtime.store.common import LOCK_LANE, fact
from runtime.store.delegation.ending import child_over
from runtime.store.delegation.rows import LOCK_PARENT, OPEN_BELOW
from runtime.store.delegation.showing import show_tree
from runtime.store.protocol import Below
from runtime.store.runs.closing import ASK_STOP, OPEN_RUNS, close_parked
from runtime.store.schema import children, runs
from runtime.store.sql.driver import Op, Rows, is_word

CHILD_PLACE = select(children.c.session, children.c.root_run).where(children.c.id == bindparam("child"))
OPEN_CHILDREN = select(children.c.id, children.c.session).where(
    children.c.parent_run == bindparam("run"), is_word(children.c.state, ChildState.OPEN)
)
UNAWAITED = (
    select(children.c.id)
    .join(runs, runs.c.id == children.c.parent_run)
    .where(
        is_word(children.c.state, ChildState.OPEN),
        children.c.awaits == literal_column("0"),
        runs.c.address == bindparam("room"),
        or_(
            bindparam("anybody", type_=Integer) == literal_column("1"), runs.c.requester == bindparam("who", type_=Text)
        ),
    )
    .order_by(children.c.id)
)
"""Its parent is over as a rule: then nobody finds it by that."""
AWAITED = OPEN_CHILDREN.with_only_columns(children.c.id).where(children.c.awaits == literal_column("1"))
OWN_CHILD = select(children.c.id).where(
    children.c.id == bindparam("child"),
    children.c.parent_run == bindparam("run"),
    is_word(children.c.state, ChildState.OPEN),
)


def end_below(root: RunId, text: str, now: datetime, new_id: NewId) -> Op[Below]:
    """All that a run handed on ends with it, at any depth. What has not begun ends as it begins.

    A child at work may hand something on until its own lane is locked here: so this looks until there is no more.
    """
    ended, roots = Below(), set[RunId]()
    while rows := (yield OPEN_BELOW, {"root": root}):
        for child, session in rows:
            one = yield from _end(RunId(child), SessionKey(session), ChildState.STOPPED, text, now, new_id)
            ended, roots = both(ended, one), {root}
    return (yield from _shown(ended, roots, now, new_id))


def end_unawaited(room: Address, who: PersonId | None, text: str, now: datetime, new_id: NewId) -> Op[Below | None]:
    """Work that runs of a conversation handed on without waiting ends, with all below it; None where there is none.

    `who`: only what they asked for.
    """
    rows = yield UNAWAITED, {"room": str(room), "who": who, "anybody": int(who is None)}
    return (yield from end_trees(rows, ChildState.STOPPED, text, now, new_id)) if rows else None


def end_awaited(run: RunId, text: str, now: datetime, new_id: NewId) -> Op[Below]:
    """Children for which a run waits end with it, at any depth: nobody would hear what they answer."""
    return (yield from end_trees((yield AWAITED, {"run": run}), ChildState.STOPPED, text, now, new_id))


def stop_child(parent: RunId, child: RunId, by: str, now: datetime, new_id: NewId) -> Op[Below | None]:
    """End a child of a run, and all below it; None where there is no such child at work."""
    rows = yield OWN_CHILD, {"child": child, "run": parent}
    if not rows:
        return None
    yield from fact(now, "stop", by, child, "")
    return (yield from end_trees(rows, ChildState.STOPPED, f"Stopped by {by}.", now, new_id))


def end_trees(rows: Rows, state: ChildState, text: str, now: datetime, new_id: NewId) -> Op[Below]:
    """Children whose ids these rows hold, and those below them."""
    ended, roots = Below(), set[RunId]()
    for (child,) in rows:
        session, root = (yield CHILD_PLACE, {"child": child})[0]
        yield LOCK_PARENT, {"child": child}
        one = yield from _end_tree(RunId(child), SessionKey(session), state, text, now, new_id)
        ended, roots = both(ended, one), roots | {RunId(root)}
    return (yield from _shown(ended, roots, now, new_id))


def _end_tree(
    child: RunId, session: SessionKey, state: ChildState, text: str, now: datetime, new_id: NewId
) -> Op[Below]:
    """A child and those below it, at any depth."""
    ended = yield from _end(child, session, state, text, now, new_id)
    for below, its_session in (yield OPEN_CHILDREN, {"run": child}):
        one = yield from _end_tree(RunId(below), SessionKey(its_session), ChildState.STOPPED, "", now, new_id)
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
    over = yield from child_over(child, state, text, now, new_id, shown=False)
    return Below(tuple(live), (*told, *over.told), over.woken)


def _shown(ended: Below, roots: Set[RunId], now: datetime, new_id: NewId) -> Op[Below]:
    """The trees once more, after the last lane is locked: whoever ends a child waits there for nobody else."""
    for root in sorted(roots):
        ended = replace(ended, told=(*ended.told, *(yield from show_tree(root, now, new_id))))
    return ended


def both(one: Below, other: Below) -> Below:
    return Below((*one.live, *other.live), (*one.told, *other.told), one.woken or other.woken)
