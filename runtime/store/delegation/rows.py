"""Rows of children, and how they are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import String, bindparam, case, func, select, update

from runtime.contract import Child, ChildState, Order, RunId, SessionKey
from runtime.domain.agents.delegation import Brood, Ended
from runtime.store.common import add
from runtime.store.schema import children, sessions, turns
from runtime.store.sql.driver import UNREAD_ROWS, Op, is_word, maybe_moment, moment
from runtime.text.outside import sources_in

CHILD_SESSION: Final = "child|"
"""How the session of a child begins. So may others, of an agent of that name."""
READS_ONLY: Final = "x-reads-only"
"""Mark beside the schema of a child that changes nothing; none of the words of a JSON schema."""
ADD_CHILD = add(children)
CHILD_COLUMNS: Final = (
    children.c.id,
    children.c.agent,
    children.c.chain,
    children.c.goal,
    children.c.wanted,
    children.c.state,
    children.c.deadline_at,
    children.c.result,
    children.c.valid,
    children.c.created_at,
    children.c.ended_at,
    children.c.budget_micros,
)
ONE_CHILD = select(*CHILD_COLUMNS).where(children.c.id == bindparam("child"))
CHILD_KEPT = (
    select(
        children.c.state,
        children.c.parent_run,
        children.c.parent_step,
        children.c.parent_session,
        children.c.root_run,
        children.c.session,
        children.c.awaits,
    )
    .where(children.c.id == bindparam("child"))
    .with_for_update()
)
LOCK_PARENT = (
    select(sessions.c.key)
    .join(children, children.c.parent_session == sessions.c.key)
    .where(children.c.id == bindparam("child"))
    .with_for_update(of=sessions)
    .execution_options(**UNREAD_ROWS)
)
"""The lane of whoever handed it on. Wherever a child ends it is locked before the child's own, from the top of the tree
downwards: so a stop and an end wait for each other, and never in a ring."""
OF_STEP = (
    select(*CHILD_COLUMNS, children.c.session)
    .where(children.c.parent_run == bindparam("run"), children.c.parent_step == bindparam("step"))
    .order_by(children.c.ordinal)
)
CHILDREN_OF_RUN = select(*CHILD_COLUMNS).where(children.c.parent_run == bindparam("run")).order_by(children.c.id)
OF_ROOT = select(*CHILD_COLUMNS).where(children.c.root_run == bindparam("root")).order_by(children.c.id)
_self = children.alias("self")
IN_TREE = (
    select(func.count())
    .select_from(children)
    .where(
        children.c.root_run
        == func.coalesce(
            select(_self.c.root_run).where(_self.c.id == bindparam("run")).scalar_subquery(),
            bindparam("run", type_=String),
        )
    )
)
"""Pieces of the tree to which a run belongs, as its root or as one of them."""
BROOD = select(
    func.count(), func.coalesce(func.sum(case((is_word(children.c.state, ChildState.OPEN), 1), else_=0)), 0)
).where(children.c.parent_run == bindparam("run"))
END_CHILD = (
    update(children)
    .where(children.c.id == bindparam("child"))
    .values(state=bindparam("new_state"), result=bindparam("text"), valid=bindparam("fits"), ended_at=bindparam("at"))
)
OPEN_BELOW = (
    select(children.c.id, children.c.session)
    .where(children.c.root_run == bindparam("root"), is_word(children.c.state, ChildState.OPEN))
    .order_by(children.c.id)
)
FROM_OUTSIDE = select(turns.c.text).where(
    turns.c.session == bindparam("s"),
    turns.c.role != bindparam("own"),
    turns.c.text.like(bindparam("label")),
)


class Kept(NamedTuple):
    """A child's place, as `CHILD_KEPT` reads it."""

    state: str
    parent_run: RunId
    parent_step: int
    parent_session: SessionKey
    root_run: RunId
    session: SessionKey
    awaits: int


def child_of(row: Sequence[Any]) -> Child:
    """A row of `CHILD_COLUMNS`."""
    run, agent, chain, goal, wanted, state, deadline, result, valid, created, ended, budget = row[: len(CHILD_COLUMNS)]
    schema = json.loads(wanted or "{}")
    reads_only = bool(schema.pop(READS_ONLY, False))
    return Child(
        RunId(run),
        agent,
        tuple(json.loads(chain)),
        goal,
        schema,
        ChildState(state),
        moment(deadline),
        result,
        bool(valid),
        moment(created),
        maybe_moment(ended),
        budget,
        reads_only,
    )


def wanted_of(order: Order) -> str:
    """The column `wanted` of a child: what its answer must be like, and whether it may change anything."""
    wanted = {**order.schema, **({READS_ONLY: True} if order.reads_only else {})}
    return json.dumps(wanted, ensure_ascii=False) if wanted else ""


def session_of(child: RunId, agent: str) -> SessionKey:
    """The session that a child has to itself."""
    return SessionKey(f"{CHILD_SESSION}{child}|{agent}")


def is_of_child(session: SessionKey) -> bool:
    return session.startswith(CHILD_SESSION)


def child_at(run: RunId) -> Op[Child | None]:
    """The child that a run is."""
    rows = yield ONE_CHILD, {"child": run}
    return child_of(rows[0]) if rows else None


def children_of(run: RunId) -> Op[list[Child]]:
    """Children of a run, the first one first."""
    return [child_of(row) for row in (yield CHILDREN_OF_RUN, {"run": run})]


def tree_of(root: RunId) -> Op[list[Child]]:
    """All below a run that nobody handed on, the first one first."""
    return [child_of(row) for row in (yield OF_ROOT, {"root": root})]


def brood(run: RunId) -> Op[Brood]:
    rows = yield BROOD, {"run": run}
    tree = yield IN_TREE, {"run": run}
    return Brood(open=int(rows[0][1]), all=int(rows[0][0]), tree=int(tree[0][0]))


def with_sources(row: Sequence[Any]) -> Op[Ended]:
    """A child that is over, with what it read from outside: what it says may be by whoever wrote that."""
    rows = yield FROM_OUTSIDE, {"s": row[-1], "own": "assistant", "label": "%⟦From %"}
    sources = tuple(dict.fromkeys(name for (text,) in rows for name in sources_in(text)))
    return Ended(child_of(row), sources)


def all_with_sources(rows: Sequence[Sequence[Any]]) -> Op[Sequence[Ended]]:
    ended: tuple[Ended, ...] = ()
    for row in rows:
        ended += ((yield from with_sources(row)),)
    return ended
