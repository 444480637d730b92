"""A call is handed to children: their signals and lanes, and what the run waits for, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import bindparam, select

from runtime.contract import Address, Child, ChildState, NewId, Order, RunId, SessionKey, SignalId, Trigger
from runtime.domain.agents import delegation
from runtime.domain.agents.order_budgets import shares
from runtime.domain.runs import StepEvent, WaitKind
from runtime.store.common import OPEN_LANE, add, fact, fresh_lane, owned
from runtime.store.delegation.costs import left_to_hand_on
from runtime.store.delegation.rows import ADD_CHILD, session_of, wanted_of
from runtime.store.delegation.showing import show_tree
from runtime.store.own_signals import OwnSignal, add_own
from runtime.store.protocol import Lane, Ordered, Recorded
from runtime.store.runs.steps import STOP, move_step
from runtime.store.runs.turns import SET_TURN
from runtime.store.schema import children, runs, waits
from runtime.store.sql.driver import Op, micros

AGENTS_PLATFORM: Final = "agents"
AGENTS_NAME: Final = "Signalbox"
"""Name under which one agent writes to another."""
ADD_WAIT = add(waits)
PARENT_PLACE = (
    select(runs.c.requester, runs.c.address, children.c.root_run)
    .outerjoin(children, children.c.id == runs.c.id)
    .where(runs.c.id == bindparam("run"))
)


class Begun(NamedTuple):
    """A child, and the run at the root of its tree."""

    child: Child
    root: RunId


class Place(NamedTuple):
    """A child's place: the call that asked for it, the session of that, the run at the root, and its own session."""

    run: RunId
    step: int
    ordinal: int
    session: SessionKey
    root: RunId
    own: SessionKey


def spawn(
    lane: Lane,
    run: RunId,
    number: int,
    chain: Sequence[str],
    ordered: Sequence[Ordered],
    now: datetime,
    new_id: NewId,
) -> Op[Recorded | None]:
    """Begin a child for each order of the call at step `number`; `chain` are the agents above them. None when fenced.

    Where the run awaits them, the step is in their hands and the run may park; else the call is done. Whoever stopped the
    run meanwhile ended what it had handed on by then, so nothing more is begun.
    """
    mine = yield from owned(lane)
    if mine is None:
        return None
    if (yield STOP, {"run": run})[0][0]:
        return Recorded(stop=True, waiting=mine[1])
    made: list[Begun] = []
    for ordinal, one in enumerate((yield from _with_budgets(run, ordered)), 1):
        made.append((yield from _begun(lane, run, number, ordinal, chain, one, now, new_id)))
    awaits = ordered[0].order.awaits
    told = (
        delegation.at_work([one.order for one in ordered]) if awaits else delegation.begun([one.child for one in made])
    )
    turn, *_ = yield from move_step(lane.node, run, number, StepEvent.HAND, "" if awaits else told, now)
    if not awaits:
        yield from move_step(lane.node, run, number, StepEvent.RESULT, told, now)
    yield SET_TURN, {"s": lane.session, "n": turn, "new_text": told}
    rooms = yield from show_tree(made[0].root, now, new_id)
    return Recorded(stop=False, waiting=mine[1], told=rooms)


def _with_budgets(run: RunId, ordered: Sequence[Ordered]) -> Op[list[Ordered]]:
    """The same orders, each with the money that it gets of what is left to the run."""
    wanted = [one.order.budget_micros for one in ordered]
    given = shares(wanted, (yield from left_to_hand_on(run)))
    return [replace(one, order=replace(one.order, budget_micros=own)) for one, own in zip(ordered, given, strict=True)]


def _begun(
    lane: Lane,
    run: RunId,
    number: int,
    ordinal: int,
    chain: Sequence[str],
    ordered: Ordered,
    now: datetime,
    new_id: NewId,
) -> Op[Begun]:
    """One child: its signal, its lane, its row, and the wait for it."""
    order, child = ordered.order, RunId(new_id())
    requester, room, root = (yield PARENT_PLACE, {"run": run})[0]
    key = session_of(child, order.agent)
    yield OPEN_LANE, fresh_lane(key, order.agent, Address.parse(room), now) | {"model": order.model}
    cause = f"{run}/{number}/{ordinal}"
    yield from add_own(
        OwnSignal(
            id=SignalId(child),
            platform=AGENTS_PLATFORM,
            key=f"{Trigger.CHILD}:{cause}",
            trigger=Trigger.CHILD,
            session=key,
            room=room,
            text=ordered.words,
            actor=AGENTS_PLATFORM,
            actor_name=AGENTS_NAME,
            person=requester,
        ),
        now,
    )
    at = Place(run, number, ordinal, lane.session, root or run, key)
    yield ADD_CHILD, _child_row(child, at, chain, order, now)
    if order.awaits:
        yield (
            ADD_WAIT,
            {"run_id": run, "step": number, "kind": WaitKind.CHILD.value, "subject": child, "settled_at": None},
        )
    yield from fact(now, "child spawned", chain[-1], child, f"{order.agent}: {cause}")
    fresh = Child(child, order.agent, tuple(chain), order.goal, order.schema, ChildState.OPEN, now + order.time)
    return Begun(fresh, root or run)


def _child_row(child: RunId, at: Place, chain: Sequence[str], order: Order, now: datetime) -> dict[str, object]:
    return {
        "id": child,
        "parent_run": at.run,
        "parent_step": at.step,
        "ordinal": at.ordinal,
        "parent_session": at.session,
        "root_run": at.root,
        "session": at.own,
        "agent": order.agent,
        "chain": json.dumps(list(chain)),
        "depth": len(chain),
        "awaits": int(order.awaits),
        "goal": order.goal,
        "criteria": order.criteria,
        "wanted": wanted_of(order),
        "files": json.dumps(order.files, ensure_ascii=False),
        "state": ChildState.OPEN.value,
        "result": "",
        "valid": 1,
        "budget_micros": order.budget_micros,
        "deadline_at": micros(now + order.time),
        "created_at": micros(now),
        "ended_at": None,
    }
