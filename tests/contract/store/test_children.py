"""Children of runs in the store: none is forgotten, whoever ended it and whoever should have told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import Call, Effect, Order, RunId
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.store.protocol import Below, Claim, NewStep, Ordered, Recorded, Released
from tests.contract.store.stage import Stage, reply, step

ORDER = Order(agent="main", goal="Count.", time=timedelta(minutes=10))


def handed() -> NewStep:
    call = Call(f"call-{new_id()}", "delegate", '{"goal": "Count."}')
    return replace(step(replace(call, tool="list_files")), call=call, effect=Effect.READ)


async def spawned(stage: Stage, claim: Claim, number: int = 1, orders: Sequence[Order] = (ORDER,)) -> Recorded:
    """A run with a call that is in the hands of children."""
    await stage.record(claim, handed(), number=number)
    assert await stage.store.runs.mark_tool(claim.lane, claim.run_id, number + 1)
    return await spawn(stage, claim, number + 1, orders)


async def spawn(stage: Stage, claim: Claim, number: int, orders: Sequence[Order] = (ORDER,)) -> Recorded:
    chain = (*(claim.child.chain if claim.child else ()), "main")
    made = await stage.store.runs.spawn(
        claim.lane, claim.run_id, number, chain, [Ordered(one, one.goal) for one in orders]
    )
    assert made is not None
    return made


async def parked(stage: Stage) -> Claim:
    """A run that waits for its child."""
    claim = await stage.begin()
    await spawned(stage, claim)
    assert await stage.store.runs.park(claim.lane, claim.run_id, []) is not None
    return claim


async def finished(stage: Stage, claim: Claim, state: RunState) -> Released | None:
    """The end of a run that had one call."""
    return await stage.store.runs.finish(claim.lane, claim.run_id, 3, None, state, "done", [])


async def states(stage: Stage) -> list[str]:
    return await stage.column("SELECT state FROM children ORDER BY id")


async def result(stage: Stage, run: RunId) -> str:
    return str((await stage.column("SELECT result FROM steps WHERE run_id = :run AND kind = 'tool'", run=run))[0])


async def test_a_run_that_was_stopped_begins_no_child(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.record(claim, handed(), number=1)
    assert await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    await stage.stop()
    assert (await spawn(stage, claim, 2)).stop
    assert await states(stage) == []


async def test_a_stop_ends_children_at_any_depth(stage: Stage) -> None:
    await parked(stage)
    child = await stage.claim()
    await spawned(stage, child)
    assert await stage.stop()
    assert await states(stage) == ["stopped", "stopped"]
    assert (await spawn(stage, child, 2)).stop


@pytest.mark.parametrize(
    ("state", "told"),
    [(RunState.DONE, "main answered:\nseven"), (RunState.FAILED, "error: main failed. out of luck")],
)
async def test_an_end_of_a_child_that_an_older_node_told_nobody_is_told_by_the_next_look(
    stage: Stage, state: RunState, told: str
) -> None:
    parent = await parked(stage)
    child = await stage.claim()
    await stage.write("UPDATE runs SET trigger = 'message' WHERE id = :run", run=child.run_id)  # all that it knows
    finish = stage.store.runs.finish
    words = "seven" if state is RunState.DONE else "out of luck"
    assert await finish(child.lane, child.run_id, 1, reply(words) if state is RunState.DONE else None, state, words, [])
    assert await states(stage) == ["open"]
    ended = await stage.store.runs.end_left_children()
    assert ended.woken
    assert await states(stage) == [state.value]
    assert await result(stage, parent.run_id) == told
    assert (await stage.claim()).run_id == parent.run_id
    assert await stage.store.runs.end_left_children() == Below()


async def test_a_wait_for_a_child_that_is_over_is_settled_by_the_next_look(stage: Stage) -> None:
    parent = await parked(stage)
    await stage.claim()
    await stage.write("UPDATE children SET state = 'done', result = 'seven', ended_at = 1")
    ended = await stage.store.runs.end_left_children()
    assert ended.woken
    assert await result(stage, parent.run_id) == "main answered:\nseven"
    assert (await stage.claim()).run_id == parent.run_id
    assert await stage.store.runs.end_left_children() == Below()


async def test_a_child_for_which_nobody_waits_any_more_is_ended(stage: Stage) -> None:
    parent = await stage.begin()
    await spawned(stage, parent)
    child = await stage.claim()
    assert await finished(stage, parent, RunState.STOPPED)
    ended = await stage.store.runs.end_left_children()
    assert list(ended.live) == [child.run_id]
    assert await states(stage) == ["stopped"]


async def test_a_child_whose_end_is_told_in_the_conversation_outlives_the_run_that_asked(stage: Stage) -> None:
    parent = await stage.begin()
    await spawned(stage, parent, orders=[replace(ORDER, awaits=False)])
    await stage.claim()
    assert await finished(stage, parent, RunState.DONE)
    assert await stage.store.runs.end_left_children() == Below()
    assert await states(stage) == ["open"]
