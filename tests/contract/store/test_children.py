"""Children of runs in the store: none is forgotten, whoever ended it and whoever should have told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import Call, Effect, Order, RunId, Usage
from runtime.domain.agents.order_budgets import Purse
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.store.protocol import Below, Claim, NewStep, Ordered, Recorded, Released
from tests.contract.store.stage import Stage, reply, step

ORDER = Order(agent="main", goal="Count.", time=timedelta(minutes=10))


def handed() -> NewStep:
    call = Call(f"call-{new_id()}", "delegate", '{"goal": "Count."}')
    return replace(step(replace(call, tool="list_files")), call=call, effect=Effect.READ)


async def spawned(
    stage: Stage, claim: Claim, number: int = 1, orders: Sequence[Order] = (ORDER,), cost: int = 7
) -> Recorded:
    """A run with a call that is in the hands of children, after a model call that cost so much."""
    said = replace(reply(), usage=Usage("demo", 10, 5, cost))
    assert await stage.store.runs.record_model(claim.lane, claim.run_id, number, said, [handed()])
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


async def budgets(stage: Stage) -> list[int]:
    return await stage.column("SELECT budget_micros FROM children ORDER BY depth, parent_step, ordinal")


def costing(micros: int) -> Order:
    return replace(ORDER, budget_micros=micros)


async def test_an_order_of_an_unbounded_run_gets_the_budget_that_it_names(stage: Stage) -> None:
    await spawned(stage, await stage.begin(), orders=[costing(500_000), ORDER])
    assert await budgets(stage) == [500_000, 0]


async def test_orders_below_a_bounded_one_never_get_more_than_what_is_left(stage: Stage) -> None:
    await spawned(stage, await stage.begin(), orders=[costing(1_000)])
    child = await stage.claim()
    await spawned(stage, child, orders=[costing(900), ORDER, ORDER], cost=100)
    assert (await budgets(stage))[1:] == [900, 1, 1]  # nothing is left for those that name none


async def test_an_order_that_names_no_budget_gets_a_share_of_its_parents(stage: Stage) -> None:
    await spawned(stage, await stage.begin(), orders=[costing(1_000)])
    child = await stage.claim()
    await spawned(stage, child, cost=100)
    await spawned(stage, child, number=3, cost=100)
    assert (await budgets(stage))[1:] == [450, 175]  # (1000 - 100) / 2, then (1000 - 200 - 450) / 2


async def test_a_budget_counts_all_that_was_spent_below_it(stage: Stage) -> None:
    await spawned(stage, await stage.begin(), orders=[costing(1_000)], cost=90_000)
    child = await stage.claim()
    await spawned(stage, child, cost=400)
    grandchild = await stage.claim()
    await spawned(stage, grandchild, cost=250)
    over = stage.store.runs.over_budget_of
    assert await over(child.run_id) is None
    assert await over(grandchild.run_id) is None
    await spawned(stage, grandchild, number=3, cost=100)
    assert await over(grandchild.run_id) == (Purse("main", 300, 350), True)
    await spawned(stage, grandchild, number=5, cost=250)
    assert await over(child.run_id) == (Purse("main", 1_000, 1_000), True)
    assert await over(grandchild.run_id) == (Purse("main", 300, 600), True)


async def test_a_run_that_nobody_bounds_is_never_over_a_budget(stage: Stage) -> None:
    run = await stage.begin()
    await spawned(stage, run, cost=10_000_000)
    assert await stage.store.runs.over_budget_of(run.run_id) is None
    assert await stage.store.runs.over_budget_of((await stage.claim()).run_id) is None


async def test_the_cost_of_a_run_includes_all_that_it_handed_on(stage: Stage) -> None:
    top = await stage.begin()
    await spawned(stage, top, cost=1)
    child = await stage.claim()
    await spawned(stage, child, cost=20)
    await spawned(stage, await stage.claim(), cost=300)
    listed = {row.id: row.cost_micros for row in await stage.store.operations.runs()}
    assert listed[top.run_id] == 321
    assert listed[child.run_id] == 320
