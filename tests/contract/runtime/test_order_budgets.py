"""Money of work that one agent hands to another."""

from __future__ import annotations

import json

import pytest

from runtime.contract import Call, ChildState, Effect, ModelReply, Terms, Usage
from runtime.domain.schedules import SPENT
from tests.contract.runtime.planning import desk
from tests.contract.runtime.stage import Stage, fake_tool
from tests.contract.runtime.strict import Strict
from tests.contract.runtime.test_delegation import BOTH, children, order, orders, results, tree

CENT = 10_000


def costing(text: str, micros: int, *calls: Call) -> ModelReply:
    return ModelReply(text, calls, Usage("scripted", 1, 1, micros))


async def test_a_child_that_has_spent_its_budget_fails_and_its_parent_is_told_so(any_stage: Stage) -> None:
    look = fake_tool("look", Effect.READ)
    dear = [costing("", 30 * CENT, Call(f"c-{n}", "look", "{}")) for n in range(2)]
    process = await any_stage.process(
        model := Strict([order(goal="Look.", budget=0.5), *dear, "Too dear."]), [*BOTH, look]
    )
    async with process.running():
        await process.say("look around")
        await process.rest()
    assert results(model) == ["error: main failed. I stopped here: the budget of $0.50 for this work is spent ($0.60)."]
    assert await children(any_stage) == [("main", ChildState.FAILED)]
    assert await any_stage.answers() == ["Too dear."]
    assert await tree(any_stage) == "- ❌ **main**: Look. (failed, < 1 s, $0.60 of $0.50)"


async def test_the_budget_of_an_order_bounds_all_below_it_and_the_tree_tells_the_sum(any_stage: Stage) -> None:
    model = Strict(
        [
            order(goal="Look.", budget=1),
            costing("", 20 * CENT, order(goal="Look deeper.")),
            costing("deep", 80 * CENT),
            "No more.",
        ]
    )
    process = await any_stage.process(model, BOTH)
    async with process.running():
        await process.say("look around")
        await process.rest()
    assert results(model)[0].startswith(
        "error: main failed. I stopped here: the budget of $1.00 for this work is spent"
    )
    assert await tree(any_stage) == (
        "- ❌ **main**: Look. (failed, < 1 s, $1.00 of $1.00)\n  - ✅ **main**: Look deeper. (< 1 s, $0.80 of $0.40)"
    )


async def test_what_is_spent_of_an_orders_budget_suspends_no_agent(stage: Stage) -> None:
    look = Call("c-1", "look", "{}")
    model = Strict([order(goal="Look.", budget=0.01), costing("", CENT, look), "Too dear."])
    process = await stage.process(model, [*BOTH, fake_tool("look", Effect.READ)])
    async with process.running():
        await process.say("look")
        await process.rest()
    assert await stage.audit("agent.suspended") == []
    assert (await stage.rows("SELECT count(*) FROM children WHERE state = 'failed'")) == [(1,)]


@pytest.mark.parametrize("budget", [-1, 0.00001, 1e9])
async def test_a_budget_that_is_none_is_refused_and_nothing_begins(stage: Stage, budget: float) -> None:
    process = await stage.process(model := Strict([order(goal="Look.", budget=budget), "Well."]), BOTH)
    async with process.running():
        await process.say("look")
        await process.rest()
    assert results(model) == ["error: Give a budget of 0.0001 to 100,000 dollars, or none. Nothing was begun."]
    assert await children(stage) == []


async def test_money_that_a_schedule_hands_on_counts_for_its_day(any_stage: Stage) -> None:
    model = Strict([order(goal="Read the news."), costing("read", 100 * CENT), "the news"])
    at = await desk(any_stage, model, *BOTH)
    planned = await at.plan(terms=Terms(most_micros=100 * CENT))
    for _ in range(2):
        await at.fire()
    assert await at.states(planned) == ["done", "skipped"]
    assert (await at.history(planned))[-1].reason == SPENT


async def test_many_orders_have_a_budget_each(stage: Stage) -> None:
    process = await stage.process(Strict([orders("1", "2", budget=0.5), "one", "two", "both"]), BOTH)
    async with process.running():
        await process.say("go")
        await process.rest()
    assert await stage.rows("SELECT budget_micros FROM children") == [(50 * CENT,), (50 * CENT,)]
    assert json.loads((await stage.rows("SELECT content FROM deliveries WHERE origin LIKE 'children:%'"))[0][0])
