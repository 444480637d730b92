"""Trees of work that was handed on, as people look at them: each piece with its run, its cost and what it asks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Integer, Select, String, and_, bindparam, func, literal_column, select

from runtime.chat.views.handed_on import Piece, Tree
from runtime.contract import Address, ApprovalKind, ChildState, PersonId, RunId
from runtime.domain.runs import RunState
from runtime.store.common import escaped, in_room
from runtime.store.delegation.rows import CHILD_COLUMNS, child_of
from runtime.store.schema import approvals, children, people, runs, signals, usage
from runtime.store.sql.driver import Op, is_word

TREES_IN_CHAT: Final = 3
TREES_LISTED: Final = 50
ENDING_MIN_CHARS: Final = 4
"""Characters of the end of an id that name a piece of work."""
COST = (
    select(func.coalesce(func.sum(usage.c.cost_micros), literal_column("0")))
    .where(usage.c.run_id == children.c.id)
    .scalar_subquery()
)
OWN_RUN = runs.alias("own_run")
PIECES = (
    select(
        *CHILD_COLUMNS,
        children.c.parent_run,
        children.c.awaits,
        COST,
        OWN_RUN.c.state.label("run_state"),
        approvals.c.kind,
        approvals.c.tool,
    )
    .outerjoin(OWN_RUN, OWN_RUN.c.id == children.c.id)
    .outerjoin(approvals, and_(approvals.c.run_id == children.c.id, is_word(approvals.c.state, "pending")))
    .where(children.c.root_run == bindparam("root"))
    .order_by(children.c.created_at, children.c.parent_step, children.c.ordinal, children.c.id, approvals.c.id)
)
"""A row for each piece, or for each question of one that asks."""
REQUEST = (
    select(signals.c.text)
    .where(signals.c.run_id == runs.c.id, is_word(signals.c.state, "consumed"))
    .order_by(signals.c.seq)
    .limit(1)
    .scalar_subquery()
)
ROOTS = (
    select(runs.c.id, runs.c.address, people.c.name, REQUEST.label("request"))
    .select_from(children)
    .join(runs, runs.c.id == children.c.root_run)
    .outerjoin(people, people.c.id == runs.c.requester)
    .distinct()
    .order_by(runs.c.id.desc())
    .limit(bindparam("n", type_=Integer))
)
IN_ROOM = ROOTS.where(in_room(runs.c.address))
SO = children.c.state == bindparam("state", type_=String)
EVERY: Final[dict[tuple[bool, bool], Select[Any]]] = {
    (False, False): ROOTS,
    (True, False): ROOTS.where(SO),
    (False, True): IN_ROOM,
    (True, True): IN_ROOM.where(SO),
}
"""By two answers: is it about one state, and about one room?"""
OF_PERSON = IN_ROOM.where(runs.c.requester == bindparam("person"))
OPEN_OF_PERSON = OF_PERSON.where(is_word(children.c.state, ChildState.OPEN))
ROOT_OF = select(children.c.root_run).where(children.c.id == bindparam("run"))
ONE_ROOT = ROOTS.where(runs.c.id == bindparam("root"))
CALLED = (
    select(children.c.id)
    .where(children.c.id.like(literal_column("'%'").concat(bindparam("ending", type_=String)), escape="\\"))
    .order_by(children.c.id.desc())
    .limit(1)
)


def pieces_of(root: RunId) -> Op[tuple[Piece, ...]]:
    """All below a run that nobody handed on, the first one first."""
    rows = yield PIECES, {"root": root}
    return tuple(_piece(list(found)) for _, found in groupby(rows, key=lambda row: row[0]))


def _piece(rows: Sequence[Sequence[Any]]) -> Piece:
    """A piece of work; of several rows each has one question."""
    first = rows[0]
    parent, awaits, cost, state, *_ = first[len(CHILD_COLUMNS) :]
    asks = tuple("" if kind == ApprovalKind.ANSWER else tool for *_, kind, tool in rows if kind is not None)
    return Piece(child_of(first), RunId(parent), bool(awaits), int(cost), state and RunState(state), asks)


def trees_of(person: PersonId, room: Address) -> Op[list[Tree]]:
    """Trees at work for somebody in a room and its threads, the newest first; where there is none, the newest that is over."""
    given = {"room": str(room), "person": person}
    rows = yield OPEN_OF_PERSON, {**given, "n": TREES_IN_CHAT}
    return (yield from _trees(rows or (yield OF_PERSON, {**given, "n": 1})))


def trees(state: ChildState | None, room: Address | None) -> Op[list[Tree]]:
    """Trees of all rooms or of one, the newest first; with `state` those that have a piece in it."""
    given = {"n": TREES_LISTED, "state": state and state.value, "room": room and str(room)}
    rows = yield EVERY[state is not None, room is not None], {k: v for k, v in given.items() if v is not None}
    return (yield from _trees(rows))


def tree_around(run: RunId) -> Op[Tree | None]:
    """The whole tree to which a run belongs, as its root or as a piece of it."""
    roots = yield ROOT_OF, {"run": run}
    rows = yield ONE_ROOT, {"root": roots[0][0] if roots else run, "n": 1}
    found = yield from _trees(rows)
    return found[0] if found else None


def piece_called(name: str) -> Op[RunId | None]:
    """The newest piece of work with that id, or whose id ends so."""
    if len(name) < ENDING_MIN_CHARS:
        return None
    rows = yield CALLED, {"ending": escaped(name)}
    return RunId(rows[0][0]) if rows else None


def _trees(rows: Sequence[Sequence[Any]]) -> Op[list[Tree]]:
    found = []
    for root, room, by, request in rows:
        pieces = yield from pieces_of(RunId(root))
        found.append(Tree(RunId(root), Address.parse(room), by or "", request or "", pieces))
    return found
