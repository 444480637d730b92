"""A budget that is spent in the middle of work: no call after it, everybody concerned told once, whatever dies meanwhile."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.testing.scripted import Scripted
from runtime.agent.registry import Limits
from runtime.context.window import Window
from runtime.contract import Call, Choice, Effect, ModelReply, ModelRequest, NodeId, OnText, ScheduleState, Usage
from runtime.domain.runs import RunState
from runtime.policy.budgets import DOLLAR, BudgetRules, Then
from runtime.store.sql.driver import Driver
from tests.contract.runtime.planning import HOUR, desk
from tests.contract.runtime.stage import READ, SHELL, FakeTool, Process, Stage, crash_at, fake_tool
from tests.contract.store.test_budgets import WIDE, agree, of
from tools.beyond_budget import SPEND_BEYOND_BUDGET

CENT = DOLLAR // 100


def reply(text: str = "", *calls: Call, cents: int = 1) -> ModelReply:
    return ModelReply(text, calls, Usage("m", 10, 5, cents * CENT))


class Endless:
    """Calls a tool each time, and counts how often it was asked."""

    name = "endless"

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        self.requests.append(request)
        number = len(self.requests)
        return reply("", Call(f"c{number}", "look", f'{{"path": "{number}"}}'))


def look() -> list[FakeTool]:
    return [fake_tool("look", Effect.READ)]


async def spent_calls(stage: Stage) -> int:
    return int((await stage.rows("SELECT count(*) FROM usage WHERE cost_micros > 0"))[0][0])


async def test_a_room_whose_budget_is_spent_in_the_middle_of_a_run_is_told_when_it_begins_anew(
    any_stage: Stage,
) -> None:
    await any_stage.store.budgets.begin(of(room_day=0.03))
    model = Endless()
    process = await any_stage.process(model, look())
    await process.say("look at everything")
    await process.answer_all()
    assert len(model.requests) == 3
    assert await any_stage.states() == [RunState.FAILED]
    (last,) = await any_stage.answers()
    assert last == (
        "I stopped here: this room's budget for today is spent ($0.0300 of $0.0300). I can go on at "
        "[2026-03-02 00:00 UTC](time:2026-03-02T00:00:00Z). If this can't wait, ask an operator to raise the limit."
    )
    await process.say("hello?", room="r2")
    await process.answer_all()
    assert len(model.requests) > 3  # another room has its own


async def test_planned_work_waits_for_its_budget_and_is_not_paused_for_it(any_stage: Stage) -> None:
    """Seven instants of an hour each, none of which may call a model: its home is told once."""
    await any_stage.store.budgets.begin(of(room_day=0.01))
    at = await desk(any_stage, Scripted([reply("news")] * 2))
    planned = await at.plan("every hour")
    await at.fire()
    for _ in range(7):
        await at.fire()
    shown = await any_stage.screen()
    assert shown[0] == "news"
    assert [one.partition(". ")[0] for one in shown[1:]] == ["The report **news** couldn't be made"]
    assert "I can go on at [2026-03-02 00:00 UTC]" in shown[1]
    now = await at.now(planned)
    assert (now.state, now.failures) == (ScheduleState.ACTIVE, 0)
    assert {one.attempts for one in await at.history(planned)} == {1}
    await at.fire(timedelta(days=1))
    assert (await any_stage.screen())[-1] == "news"


async def test_planned_work_with_no_instant_before_is_done_when_its_budget_starts_again(any_stage: Stage) -> None:
    await any_stage.store.budgets.begin(of(room_day=0.01))
    at = await desk(any_stage, Scripted([reply("hello"), reply("done")]))
    await at.process.say("hello")
    await at.process.answer_all()
    planned = await at.plan("in 4 hours")
    await at.fire(timedelta(hours=4))
    told = (await any_stage.screen())[-1]
    assert told.startswith("The report **news** comes later. I stopped here: this room's budget for today is spent")
    await at.fire(HOUR)
    assert (await any_stage.screen())[-1] == told
    await at.fire(timedelta(hours=12))
    assert (await any_stage.screen())[-1] == "done"
    assert await at.states(planned) == ["done"]


async def test_a_person_reads_the_time_by_their_own_clocks(stage: Stage) -> None:
    await stage.store.budgets.begin(of(person_day=0.01))
    process = await stage.process(Endless(), look())
    await process.say("/timezone Europe/Berlin")
    await process.say("look")
    await process.answer_all()
    assert "2026-03-02 01:00 (Europe/Berlin)" in (await stage.answers())[-1]


@pytest.mark.parametrize("point", ["budget-reserved", "model-answered", "step-recorded", "tool-finished"])
async def test_killed_around_its_last_call_a_run_is_told_once_and_counters_agree(any_stage: Stage, point: str) -> None:
    """Two nodes one after the other: what is under way may be paid twice, and nothing is asked after it."""
    rules = replace(of(day=0.03, month=100, agent_day=100, agent_tokens_hour=10_000, agent_calls_hour=100), hold=CENT)
    await any_stage.store.budgets.begin(rules)
    model = Endless()
    process = await any_stage.process(model, look(), probe=crash_at(point, 3))
    await process.say("look at everything")
    await process.until_crash()
    await agree(any_stage.rows, any_stage.store)
    again = await any_stage.process(model, look())
    await again.answer_all()
    await agree(any_stage.rows, any_stage.store)
    assert len(model.requests) in (3, 4)
    assert await spent_calls(any_stage) == 3
    assert len(await any_stage.answers()) == 1
    assert await any_stage.rows("SELECT run_id FROM reservations") == []


async def test_two_nodes_at_once_go_no_further_than_what_is_under_way(any_stage: Stage) -> None:
    await any_stage.store.budgets.begin(replace(of(day=0.10), hold=CENT))
    model = Endless()
    one = await any_stage.process(model, look())
    lease = await any_stage.store.cluster.join(NodeId("other"), "other", timedelta(days=1), alone=False)
    other = Process(any_stage, model, look(), lease)
    for number in range(4):
        await (one, other)[number % 2].say("look", room=f"r{number}")
    async with one.running(), other.running():
        await one.rest()
    assert await any_stage.states() == [RunState.FAILED] * 4
    assert len(model.requests) == 10  # each call cost what was held back for it
    assert len(await any_stage.audit("budget spent")) == 1


async def test_people_may_let_a_request_go_on(any_stage: Stage) -> None:
    await any_stage.store.budgets.begin(replace(of(day=0.01), then=Then.ASK))
    model = Scripted(
        [reply("", READ), reply("", replace(READ, id="c2", arguments='{"path": "b"}')), reply("All seen.")]
    )
    process = await any_stage.process(model, [*look(), FakeTool(SPEND_BEYOND_BUDGET.spec)])
    await process.say("look twice")
    await process.answer_all()
    assert model.left == 2
    (asked,) = await any_stage.pending()
    assert (asked.tool, asked.effect, asked.terms.grants) == ("spend_beyond_budget", Effect.DANGER, False)
    assert "today's budget for everybody" in asked.arguments
    await process.click(asked.id)
    await process.answer_all()
    assert await any_stage.answers() == ["All seen."]
    assert all("spend_beyond_budget" not in [tool.name for tool in one.tools] for one in model.requests)
    await process.say("look again")
    await process.answer_all()
    assert len(await any_stage.pending()) == 1  # the yes was for that request


async def test_where_people_say_no_the_work_ends(stage: Stage) -> None:
    await stage.store.budgets.begin(replace(of(day=0.01), then=Then.ASK))
    model = Scripted([reply("", READ)])
    process = await stage.process(model, [*look(), FakeTool(SPEND_BEYOND_BUDGET.spec)])
    await process.say("look twice")
    await process.answer_all()
    (asked,) = await stage.pending()
    await process.click(asked.id, Choice.DENY)
    await process.answer_all()
    assert await stage.states() == [RunState.FAILED]
    assert (await stage.answers())[-1].startswith("I stopped here: today's budget for everybody is spent")


async def test_the_cheapest_model_is_asked_for_what_follows(stage: Stage) -> None:
    await stage.store.budgets.begin(replace(of(day=0.01), then=Then.CHEAPEST))
    model = Scripted([reply("", READ), reply("Seen.")])
    process = await stage.process(model, look())
    await process.say("look")
    await process.answer_all()
    assert [request.cheapest for request in model.requests] == [False, True]
    assert await stage.answers() == ["Seen."]


async def test_no_summary_is_asked_for_once_a_budget_is_spent(stage: Stage) -> None:
    await stage.store.budgets.begin(replace(of(day=0.01), then=Then.CHEAPEST))
    model = Scripted([reply("", READ), *[reply("word " * 200)] * 12])
    process = await stage.process(model, look(), limits=Limits(window=Window(lambda: 2_000)))
    for number in range(12):
        await process.say(f"go on {number} " + "x" * 500)
        await process.answer_all()
    assert model.left == 0  # none of the answers was a summary
    writers = {model for (model,) in await stage.rows("SELECT model FROM summaries")}
    assert writers == {""}


class Counting:
    """A driver that counts the transactions that change something."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self.written = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    async def write(self, make: Any, **given: Any) -> Any:
        done = await self._driver.write(make, **given)
        self.written += done is not None
        return done


async def test_a_budget_costs_no_transaction(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = list[int]()
    for rules in (BudgetRules(), of(day=10, room_day=10, person_day=10)):
        await stage.store.budgets.begin(rules)
        process = await stage.process(Scripted([reply("", READ), reply("Seen.")]), look())
        counting = Counting(stage.store.driver)
        for aggregate in (stage.store.runs, stage.store.intake):
            monkeypatch.setattr(aggregate, "_driver", counting)
        await process.say(f"look {len(counts)}")
        await process.answer_all()
        monkeypatch.undo()
        counts.append(counting.written)
    assert counts[1] == counts[0] > 3


async def test_what_is_left_is_told_by_usage(stage: Stage) -> None:
    await stage.store.budgets.begin(of(day=1, room_day=0.5, agent_calls_hour=10))
    process = await stage.process(Scripted([reply("Hello.", cents=20)]), look())
    await process.say("hello")
    await process.answer_all()
    verdict = await process.say("/usage")
    await process.answer_all()
    told = verdict.notice or (await stage.answers())[-1]
    assert "- today's budget for everybody: $0.80 of $1.00 left, until" in told
    assert "- this room's budget for today: $0.30 of $0.50 left" in told
    assert "- this agent's model calls for this hour: 9 of 10 calls left" in told


async def test_answers_about_a_call_and_summaries_that_people_ask_for_count(any_stage: Stage) -> None:
    await any_stage.store.budgets.begin(replace(WIDE, hold=CENT))
    model = Scripted([reply("", SHELL), reply("To see which machine it is."), reply("Done."), *[reply("Yes.")] * 9])
    process = await any_stage.process(model, [fake_tool("shell", Effect.DANGER)])
    await process.say("which machine is it?")
    await process.answer_all()
    (asked,) = await any_stage.pending()
    await process.why(asked.id, "why?")
    await process.answerer.look()
    await agree(any_stage.rows, any_stage.store)
    await process.click(asked.id)
    await process.answer_all()
    for number in range(8):
        await process.say(f"and {number}?")
        await process.answer_all()
    await process.say("/compact")
    await process.compactor.look()
    assert model.left == 0
    assert await any_stage.rows("SELECT kind FROM summaries") == [("model",)]
    await agree(any_stage.rows, any_stage.store)


async def test_once_a_budget_is_spent_nothing_is_answered_or_condensed_by_a_model(stage: Stage) -> None:
    await stage.store.budgets.begin(of(day=0.01))
    model = Scripted([reply("", SHELL)])
    process = await stage.process(model, [fake_tool("shell", Effect.DANGER)])
    await process.say("which machine is it?")
    await process.answer_all()
    (asked,) = await stage.pending()
    await process.why(asked.id, "why?")
    await process.answerer.look()
    await process.answer_all()
    assert len(model.requests) == 1
    assert "the budget for it is spent" in "".join(await stage.screen())


async def test_work_by_the_clock_has_the_same_bounds(stage: Stage) -> None:
    await stage.store.budgets.begin(of(agent_day=0.01))
    model = Scripted([reply("Good morning.")])
    planned = await desk(stage, model)
    await planned.plan()
    await planned.fire()
    await planned.fire()
    assert len(model.requests) == 1
    told = await stage.rows("SELECT error FROM runs WHERE state = 'failed'")
    assert "this agent's budget for today is spent" in told[0][0]
