"""Workflows at work: steps by rules, over the real store. Scenario 56."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from bot.operator.actor import Actor
from bot.operator.reports import LateReporters
from bot.operator.work.ended import Hearers
from bot.operator.work.workflows import WorkflowOperations
from bot.testing.scripted import Scripted
from runtime.cluster.topics import LANES
from runtime.contract import (
    Call,
    Choice,
    Commanded,
    Effect,
    Flow,
    Json,
    OccurrenceId,
    Person,
    PersonId,
    Reads,
    Report,
    Role,
    RunId,
    ScheduleRequest,
    SessionKey,
    Task,
    TaskKind,
    ToolTurn,
    no_probe,
)
from runtime.domain.ids import new_id
from runtime.domain.runs import RunState
from runtime.domain.triggers.matching import MessageTriggers
from runtime.domain.workflows.definition import Workflow
from runtime.domain.workflows.reading import read_workflow
from runtime.domain.workflows.record import to_resume
from runtime.errors import ToolFailed
from runtime.http.errors import Refusal
from runtime.policy.rules import SHIPPED, Rule, Ruling
from runtime.workflows.starting import StartedFlows
from tests.contract.runtime.planning import HOUR, Desk
from tests.contract.runtime.skills import call
from tests.contract.runtime.stage import ADA, VERA, Process, Stage, crash_at, fake_tool
from tests.contract.runtime.strict import Planned, Strict
from tests.contract.runtime.test_delegation import may_delegate
from tools.asking import ASK_PERSON
from tools.delegation import DELEGATE
from tools.workflows import WAIT_FOR_EVENT, WAIT_UNTIL, WORKFLOW_BEGIN, workflow_tools

OURS: Final[tuple[Any, ...]] = (WORKFLOW_BEGIN, WAIT_UNTIL, WAIT_FOR_EVENT, ASK_PERSON, DELEGATE)
ALLOWED: Final = [Rule(Ruling.ALLOW, "*")]
TWO: Final = """
name = "weekly"
inputs.room = "attic"
steps = [
    { name = "look", tool = "look", arguments = { path = "{{ inputs.room }}" } },
    { name = "write", tool = "write", arguments = { text = "seen: {{ steps.look.text }}" } },
]
report = "Wrote {{ steps.write.text }}"
"""


def flow(text: str) -> Workflow:
    return read_workflow(tomllib.loads(text))


async def process_with(stage: Stage, text: str, *tools: Any, model: Scripted | None = None, **more: Any) -> Process:
    """A process that knows one workflow."""
    one = flow(text)
    reporter = LateReporters(stage.clock, flows=lambda: {one.name: one})
    process = await stage.process(model or Strict([]), [*OURS, *tools], reporter=reporter, **more)
    process.gate = replace_gate(process, one)
    return process


def replace_gate(process: Process, one: Workflow) -> Any:
    return replace(process.gate, workflows={one.name: one})


async def command(process: Process, name: str, argument: str = "", who: Any = ADA) -> str:
    verdict = await process.reception.sink(process.stage.signal(Commanded(name, argument), who, "r1"))
    return verdict.notice or ""


async def test_steps_run_in_order_and_the_report_comes(any_stage: Stage) -> None:
    look, write = fake_tool("look", Effect.READ), fake_tool("write", Effect.READ)
    process = await process_with(any_stage, TWO, look, write)
    async with process.running():
        await command(process, "workflow", "weekly room=cellar")
        await process.rest()
    assert look.calls == [{"path": "cellar"}]
    assert write.calls == [{"text": "seen: look did it"}]
    begun, report = await any_stage.screen()
    assert begun.startswith("I've begun the workflow `weekly` (")
    assert report == "Wrote write did it"


async def test_no_model_is_asked_and_no_usage_is_counted(stage: Stage) -> None:
    process = await process_with(stage, TWO, fake_tool("look", Effect.READ), fake_tool("write", Effect.READ))
    async with process.running():
        await command(process, "workflow", "weekly")
        await process.rest()
    assert await stage.rows("SELECT sum(input_tokens), sum(cost_micros) FROM usage") == [(0, 0)]


@pytest.mark.parametrize(
    "point", ["step-recorded", "tool-marked", "tool-finished", "model-answered", "delivery-stored"]
)
async def test_killed_anywhere_each_effect_happens_once(any_stage: Stage, point: str) -> None:
    look, write = fake_tool("look", Effect.READ), fake_tool("write", Effect.WRITE, idempotent=True)
    rules: dict[str, Any] = {"rules": ALLOWED}
    process = await process_with(
        any_stage, TWO, look, write, probe=crash_at(point, 2 if point != "delivery-stored" else 1), **rules
    )
    await command(process, "workflow", "weekly")
    await process.until_crash()
    process = await process_with(any_stage, TWO, look, write, **rules)
    await process.answer_all()
    assert [one for one in await any_stage.screen() if one.startswith("Wrote")] == ["Wrote write did it"]
    assert await any_stage.states() == [RunState.DONE]


async def test_a_timer_holds_nothing_but_a_row_and_goes_on_when_its_time_has_come(any_stage: Stage) -> None:
    text = 'name = "later"\nsteps = [{ name = "pause", wait = "2 hours" }, { name = "look", tool = "look" }]'
    look = fake_tool("look", Effect.READ)
    process = await process_with(any_stage, text, look)
    async with process.running():
        await command(process, "workflow", "later")
        await process.rest()
    assert await any_stage.states() == [RunState.PARKED]
    any_stage.clock.advance(timedelta(hours=1, minutes=59))
    assert not await any_stage.store.runs.wake()
    any_stage.clock.advance(timedelta(minutes=2))
    process = await process_with(any_stage, text, look)  # it needs no process meanwhile
    assert await any_stage.store.runs.wake()
    assert not await any_stage.store.runs.wake()
    await process.answer_all()
    assert len(look.calls) == 1
    assert await any_stage.states() == [RunState.DONE]


async def test_a_person_is_asked_and_their_answer_decides(any_stage: Stage) -> None:
    text = """
name = "asking"
[[steps]]
name = "ok"
ask = "Write it?"
options = ["Yes", "No"]
[[steps]]
name = "write"
when = "steps.ok.text == 'Yes'"
tool = "look"
"""
    look = fake_tool("look", Effect.READ)
    process = await process_with(any_stage, text, look)
    async with process.running():
        await command(process, "workflow", "asking")
        await process.rest()
        [question] = await any_stage.pending()
        await process.click(question.id, Choice.SECOND)
        await process.rest()
    assert not look.calls
    assert (await any_stage.screen())[-1].startswith("**The workflow asking is done: 2 steps, 1 skipped.**")


async def test_a_step_for_each_piece_is_done_side_by_side_and_collected(any_stage: Stage) -> None:
    text = """
name = "fan"
[[steps]]
name = "list"
tool = "list"
[[steps]]
name = "one"
each = "steps.list.value"
prompt = "Sum up {{ item }}."
[[steps]]
name = "end"
tool = "look"
arguments = { path = "{{ steps.one.text }}" }
"""

    async def names(_: Any) -> str:
        return '["a", "b", "c", "d", "e", "f"]'

    look = fake_tool("look", Effect.READ)
    model = Scripted([f"summary {number}" for number in range(6)])
    process = await process_with(any_stage, text, fake_tool("list", Effect.READ, names), look, model=model)
    may_delegate(process, "main")
    async with process.running():
        await command(process, "workflow", "fan")
        await process.rest()
    [call] = look.calls
    assert sorted(str(call["path"]).split("\n\n")) == [f"summary {number}" for number in range(6)]


async def test_a_failed_step_ends_it_with_words_and_nothing_is_tried_again(any_stage: Stage) -> None:
    async def fails(_: Any) -> str:
        raise ToolFailed("the disk is full")

    process = await process_with(any_stage, TWO, fake_tool("look", Effect.READ, fails), fake_tool("write", Effect.READ))
    async with process.running():
        await command(process, "workflow", "weekly")
        await process.rest()
    last = (await any_stage.screen())[-1]
    assert last.startswith("The workflow weekly stopped at its step look: the disk is full")
    assert "☐ write" in last
    assert await any_stage.states() == [RunState.FAILED]


async def test_a_definition_that_changes_while_a_run_waits_changes_nothing_for_it(any_stage: Stage) -> None:
    text = 'name = "later"\nsteps = [{ name = "pause", wait = "1 hour" }, { name = "look", tool = "look" }]'
    other = 'name = "later"\nsteps = [{ name = "pause", wait = "1 hour" }, { name = "write", tool = "write" }]'
    look, write = fake_tool("look", Effect.READ), fake_tool("write", Effect.READ)
    process = await process_with(any_stage, text, look, write)
    async with process.running():
        await command(process, "workflow", "later")
        await process.rest()
    any_stage.clock.advance(timedelta(hours=2))
    process = await process_with(any_stage, other, look, write)
    await any_stage.store.runs.wake()
    await process.answer_all()
    assert (len(look.calls), len(write.calls)) == (1, 0)


async def test_a_call_that_takes_longer_than_its_step_may_is_cut(stage: Stage) -> None:
    async def hangs(_: Mapping[str, Json]) -> str:
        await asyncio.Event().wait()
        return "never"

    text = 'name = "slow"\nsteps = [{ name = "look", tool = "look", seconds = 10, on_error = "skip" }]'
    one = flow(text)
    short = replace(one, steps=(replace(one.steps[0], seconds=0.01),))  # type: ignore[arg-type]  # nobody waits that long
    look = fake_tool("look", Effect.READ, hangs)
    process = await process_with(stage, text, look)
    process.agent._reporter = LateReporters(stage.clock, flows=lambda: {one.name: short})
    process.gate = replace_gate(process, short)
    async with process.running():
        await command(process, "workflow", "slow")
        await process.rest()
    told = (await stage.rows("SELECT result FROM steps WHERE tool = 'look'"))[0][0]
    assert told == "error: look did not end within 0.01 seconds and was stopped."


@pytest.mark.parametrize("point", ["step-recorded", "tool-marked"])
async def test_the_time_of_a_step_holds_for_a_call_that_a_kill_left_open(stage: Stage, point: str) -> None:
    async def hangs(_: Mapping[str, Json]) -> str:
        await asyncio.Event().wait()
        return "never"

    text = 'name = "slow"\nsteps = [{ name = "look", tool = "look", seconds = 10, on_error = "skip" }]'
    one = flow(text)
    short = replace(one, steps=(replace(one.steps[0], seconds=0.01),))  # type: ignore[arg-type]  # nobody waits that long
    look = fake_tool("look", Effect.READ, hangs)
    for probe in (crash_at(point, 2), no_probe):  # the first call is that of the workflow's beginning
        process = await process_with(stage, text, look, probe=probe)
        process.agent._reporter = LateReporters(stage.clock, flows=lambda: {one.name: short})
        process.gate = replace_gate(process, short)
        if probe is not no_probe:
            await command(process, "workflow", "slow")
            await process.until_crash()
    await process.answer_all()
    told = (await stage.rows("SELECT result FROM steps WHERE tool = 'look'"))[0][0]
    assert told == "error: look did not end within 0.01 seconds and was stopped."


EVENT: Final = """
name = "approved"
[[steps]]
name = "word"
wait = "2 days"
event = "words"
words = ["approved*"]
on_error = "skip"
[[steps]]
name = "look"
tool = "look"
arguments = { path = "{{ steps.word.value.text }}" }
when = "steps.word.state == 'succeeded'"
"""


async def looked(process: Process) -> None:
    """The process knows which events runs wait for, as a node's watch brings it."""
    process.gate = replace(process.gate, triggers=MessageTriggers(await process.stage.store.triggers.for_messages()))


async def test_a_run_waits_for_words_and_goes_on_with_them_once(any_stage: Stage) -> None:
    look = fake_tool("look", Effect.READ)
    process = await process_with(any_stage, EVENT, look, model=Scripted(["Fine."] * 4))
    async with process.running():
        await command(process, "workflow", "approved")
        await process.rest()
        await looked(process)
        await process.say("Nothing yet.")
        await process.rest()
        assert look.calls == []
        await process.say("Approved by Zoe")
        await process.rest()
        await looked(process)
        await process.say("approved again")
        await process.rest()
    assert look.calls == [{"path": "Approved by Zoe"}]
    assert not await any_stage.rows("SELECT id FROM triggers")


async def test_a_wait_for_an_event_that_never_comes_ends_at_its_time(any_stage: Stage) -> None:
    look = fake_tool("look", Effect.READ)
    process = await process_with(any_stage, EVENT, look)
    async with process.running():
        await command(process, "workflow", "approved")
        await process.rest()
    any_stage.clock.advance(timedelta(days=3))
    process = await process_with(any_stage, EVENT, look)
    assert await any_stage.store.runs.wake()
    await looked(process)
    await process.answer_all()
    assert look.calls == []
    assert (await any_stage.screen())[-1].startswith("**The workflow approved is done: 2 steps, 2 skipped.**")


BRANCHES: Final = """
name = "branches"
[[steps]]
name = "pause"
wait = "2 hours"
after = []
[[steps]]
name = "ok"
ask = "Look?"
options = ["Yes", "No"]
after = []
[[steps]]
name = "look"
tool = "look"
after = ["ok"]
[[steps]]
name = "write"
tool = "write"
after = ["look"]
[[steps]]
name = "last"
tool = "write"
after = ["pause", "write"]
"""


async def test_a_step_begins_when_its_own_predecessors_are_over_whoever_else_is_waited_for(any_stage: Stage) -> None:
    look, write = fake_tool("look", Effect.READ), fake_tool("write", Effect.READ)
    process = await process_with(any_stage, BRANCHES, look, write)
    async with process.running():
        await command(process, "workflow", "branches")
        await process.rest()
        [card] = await any_stage.pending()
        await process.click(card.id, Choice.FIRST)
        await process.rest()
        assert (len(look.calls), len(write.calls)) == (1, 1)
        assert await any_stage.states() == [RunState.PARKED]
    any_stage.clock.advance(timedelta(hours=3))
    process = await process_with(any_stage, BRANCHES, look, write)
    await any_stage.store.runs.wake()
    await process.answer_all()
    assert (len(look.calls), len(write.calls)) == (1, 2)
    assert await any_stage.states() == [RunState.DONE]


async def test_a_timer_that_ends_while_a_person_is_asked_asks_them_no_second_time(any_stage: Stage) -> None:
    look, write = fake_tool("look", Effect.READ), fake_tool("write", Effect.READ)
    process = await process_with(any_stage, BRANCHES, look, write)
    async with process.running():
        await command(process, "workflow", "branches")
        await process.rest()
        any_stage.clock.advance(timedelta(hours=3))
        await any_stage.store.runs.wake()
        process.notifier.notify(LANES)
        await process.rest()
        [card] = await any_stage.pending()
        await process.click(card.id, Choice.FIRST)
        await process.rest()
    assert (len(look.calls), len(write.calls)) == (1, 2)
    assert await any_stage.states() == [RunState.DONE]


async def test_what_fails_ends_a_workflow_once_all_that_is_under_way_is_over(any_stage: Stage) -> None:
    async def breaks(_: Mapping[str, Json]) -> str:
        raise ToolFailed("It is broken.")

    look = fake_tool("look", Effect.READ, breaks)
    process = await process_with(any_stage, BRANCHES, look, fake_tool("write", Effect.READ))
    async with process.running():
        await command(process, "workflow", "branches")
        await process.rest()
        [card] = await any_stage.pending()
        await process.click(card.id, Choice.FIRST)
        await process.rest()
        assert await any_stage.states() == [RunState.PARKED]
        any_stage.clock.advance(timedelta(hours=3))
        await any_stage.store.runs.wake()
        process.notifier.notify(LANES)
        await process.rest()
    assert await any_stage.states() == [RunState.FAILED]


@pytest.mark.parametrize("begins", [TaskKind.WORKFLOW, TaskKind.PROMPT])
async def test_a_schedule_that_changes_while_its_run_waits_lets_that_end_as_it_began(
    any_stage: Stage, begins: TaskKind
) -> None:
    kinds = {TaskKind.WORKFLOW: Task(TaskKind.WORKFLOW, "asking"), TaskKind.PROMPT: Task(TaskKind.PROMPT, "Write it.")}
    after = next(task for kind, task in kinds.items() if kind is not begins)
    text = 'name = "asking"\nsteps = [{ name = "write", tool = "write" }]'
    write = fake_tool("write", Effect.WRITE)
    model = Scripted([(Call("c-write", "write", "{}"),), "Done by the model."] if begins is TaskKind.PROMPT else [])
    process = await process_with(any_stage, text, write, model=model, rules=[Rule(Ruling.ASK, "write")])
    at = Desk(any_stage, process)
    schedule = await at.plan(task=kinds[begins])
    async with process.running():
        any_stage.clock.advance(HOUR)
        await process.timer.look()
        await process.rest()
        await process.booking.change(schedule.id, ScheduleRequest(task=after), await at.asker())
        [card] = await any_stage.pending()
        assert ("asking (begun by" in card.card) is (begins is TaskKind.WORKFLOW)  # the card names both
        await process.click(card.id, Choice.APPROVE)
        await process.rest()
    assert len(write.calls) == 1
    told = (await any_stage.screen())[-1]
    assert (
        told == "Done by the model." if begins is TaskKind.PROMPT else told.startswith("**The workflow asking is done")
    )


async def test_what_is_wrong_is_told_and_nothing_begins(stage: Stage) -> None:
    process = await process_with(stage, TWO)
    async with process.running():
        await command(process, "workflow", "weekli")
        await command(process, "workflow", "weekly rom=cellar")
        await command(process, "workflow", 'weekly room="cellar')
        await process.rest()
    told = await stage.screen()
    assert told[0].startswith("There is no workflow 'weekli'. Did you mean 'weekly'?")
    assert "there is no input 'rom'; there is room" in told[1]
    assert "A quotation mark is missing" in told[2]
    assert await stage.states() == []


async def test_workflows_are_listed_with_how_far_they_are(stage: Stage) -> None:
    text = 'name = "later_on"\nsteps = [{ name = "pause", wait = "1 hour" }, { name = "look", tool = "look" }]'
    process = await process_with(stage, text, fake_tool("look", Effect.READ))
    async with process.running():
        await command(process, "workflow", "later_on")
        await process.rest()
        await command(process, "workflows", who=VERA)
        await process.rest()
    told = (await stage.screen())[-1]
    assert "waiting, 0 of 2 steps" in told
    assert "▶ `pause`" in told
    assert "- `later_on`" in told


async def test_a_stop_between_its_timer_and_its_rest_leaves_no_wait(any_stage: Stage) -> None:
    text = 'name = "slow"\nsteps = [{ name = "pause", wait = "1 day" }, { name = "look", tool = "look", after = [] }]'

    async def stops(_: Any) -> str:
        await process.stop()
        return "stopped"

    process = await process_with(any_stage, text, fake_tool("look", Effect.READ, stops))
    async with process.running():
        await command(process, "workflow", "slow")
        await process.rest()
    assert await any_stage.states() == [RunState.STOPPED]
    assert await any_stage.rows("SELECT run_id FROM waits WHERE settled_at IS NULL") == []


async def test_it_may_be_stopped_while_it_waits(stage: Stage) -> None:
    text = 'name = "later"\nsteps = [{ name = "pause", wait = "1 hour" }]'
    process = await process_with(stage, text)
    async with process.running():
        await command(process, "workflow", "later")
        await process.rest()
        await process.stop()
        await process.rest()
    assert await stage.states() == [RunState.STOPPED]
    stage.clock.advance(timedelta(hours=2))
    assert not await stage.store.runs.wake()


def operations(process: Process, main: str = "main") -> WorkflowOperations:
    """Workflows as an operator has them."""
    return WorkflowOperations(
        store=process.store,
        flows=lambda: process.gate.workflows,
        agent=main,
        hearers=Hearers(lambda _: None, lambda _: None, process.notifier),
        named=str,
        called=str,
        mask=str,
        new_id=new_id,
    )


OPERATOR: Final = Actor(Person(PersonId("p-ada"), "Ada", Role.OWNER), ADA)
AFTER_A_FAULT: Final = """
name = "again"
steps = [
    { name = "fetch", tool = "web" },
    { name = "break", tool = "break" },
    { name = "write", tool = "write", arguments = { text = "{{ steps.fetch.text }}" } },
]
"""


async def failed_once(stage: Stage) -> tuple[Process, list[Any]]:
    """A workflow that read a page and then failed; its tools, of which none fails any more."""
    faults = [ToolFailed("the disk is full")]

    async def breaks(_: Any) -> str:
        if faults:
            raise faults.pop()
        return "fine"

    outside = Flow(Reads.OUTSIDE, source="example.org")
    tools = [fake_tool("web", Effect.READ, flow=outside), fake_tool("break", Effect.READ, breaks)]
    tools.append(fake_tool("write", Effect.WRITE))
    process = await process_with(stage, AFTER_A_FAULT, *tools, rules=ALLOWED)
    async with process.running():
        await command(process, "workflow", "again")
        await process.rest()
    assert await stage.states() == [RunState.FAILED]
    return process, tools


async def test_one_that_goes_on_has_read_what_the_run_before_it_read(any_stage: Stage) -> None:
    process, [web, _, write] = await failed_once(any_stage)
    [first] = await operations(process).begun("again", "failed")
    async with process.running():
        await operations(process).resume(first["id"], OPERATOR)
        await process.rest()
        [question] = await any_stage.pending()
        assert "example.org" in question.caution
        assert not write.calls
        await process.click(question.id, Choice.APPROVE)
        await process.rest()
    assert (len(web.calls), write.calls) == (1, [{"text": "web did it"}])


async def test_one_goes_on_as_the_agent_that_began_it(stage: Stage) -> None:
    process, _ = await failed_once(stage)
    [first] = await operations(process).begun("again", "failed")
    await operations(process, main="another").resume(first["id"], OPERATOR)
    [(agent,)] = await stage.rows("SELECT DISTINCT json_extract(report, '$.agent') FROM occurrences")
    assert agent == "main"


async def test_a_workflow_is_named_by_the_end_of_its_id_and_by_no_pattern(any_stage: Stage) -> None:
    process, _ = await failed_once(any_stage)
    [first] = await operations(process).begun("again", "failed")
    found = await any_stage.store.workflows.begun_called(first["id"][-6:])
    assert found is not None
    assert found.id == first["id"]
    assert await any_stage.store.workflows.begun_called("%%%%") is None


async def test_a_wait_that_no_calendar_has_is_a_fault_of_its_step(stage: Stage) -> None:
    process = await process_with(stage, 'name = "ages"\nsteps = [{ name = "pause", wait = "999999 weeks" }]')
    async with process.running():
        await command(process, "workflow", "ages")
        await process.rest()
    assert "is no time to wait for" in (await stage.screen())[-1]


async def test_a_model_calls_nothing_that_it_is_not_told_of(stage: Stage) -> None:
    model = Planned(call("wait_until", time="300 days"), end="Hello.")
    process = await stage.process(model, OURS)
    await process.say("hello")
    await process.answer_all()
    assert await stage.states() == [RunState.DONE]
    [told] = [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]
    assert told == "error: there is no tool 'wait_until'; there are ask_person, delegate."


async def test_one_is_resumed_once_however_often_somebody_presses(any_stage: Stage) -> None:
    process, [_, breaks, _] = await failed_once(any_stage)
    [first] = await operations(process).begun("again", "failed")
    async with process.running():
        pressed = [operations(process).resume(first["id"], OPERATOR) for _ in range(2)]
        told = await asyncio.gather(*pressed, return_exceptions=True)
        assert len({one["id"] for one in told if isinstance(one, dict)}) == 1
        await process.rest()
        with pytest.raises(Refusal, match="This workflow was resumed already: "):
            await operations(process).resume(first["id"], OPERATOR)
    assert len(breaks.calls) == 2
    assert len(await any_stage.pending()) == 1


async def test_one_that_starts_itself_comes_to_an_end(any_stage: Stage) -> None:
    text = 'name = "again"\nsteps = [{ name = "more", tool = "workflow_start", arguments = { name = "again" } }]'
    store, notified = any_stage.store, list[Process]()
    flows = StartedFlows(
        book=store.schedules,
        flows=lambda: {"again": flow(text)},
        begun=lambda: notified[0].notifier.notify(LANES),
        lately=store.workflows.begun_lately,
        most=3,
    )
    process = await process_with(any_stage, text, workflow_tools(flows)[0], rules=SHIPPED)
    notified.append(process)
    async with process.running():
        await command(process, "workflow", "again")
        await process.rest()
    assert sorted(await any_stage.states()) == [RunState.DONE, RunState.DONE, RunState.FAILED]
    assert "so agents begin no more for now" in (await any_stage.screen())[-1]


async def test_one_is_called_by_the_end_of_its_id_and_by_no_pattern(any_stage: Stage) -> None:
    process = await process_with(any_stage, TWO, fake_tool("look", Effect.READ), fake_tool("write", Effect.READ))
    async with process.running():
        await command(process, "workflow", "weekly")
        await process.rest()
    [one] = await any_stage.store.workflows.begun()
    found = [await any_stage.store.workflows.begun_called(name) for name in (one.id[-6:], "%%%%", "____")]
    assert [seen and seen.id for seen in found] == [one.id, None, None]


async def test_one_that_goes_on_still_asks_after_text_from_outside_that_the_first_run_read(any_stage: Stage) -> None:
    text = """
name = "posting"
[[steps]]
name = "fetch"
tool = "fetch"
[[steps]]
name = "check"
tool = "check"
[[steps]]
name = "send"
tool = "send"
arguments = { to = "{{ steps.fetch.text }}" }
"""
    is_away = [True]

    async def checks(_: Any) -> str:
        if is_away[0]:
            raise ToolFailed("nobody is there")
        return "fine"

    fetch = fake_tool("fetch", Effect.READ, flow=Flow(Reads.OUTSIDE, "example.org"))
    check, send = fake_tool("check", Effect.READ, checks), fake_tool("send", Effect.WRITE, flow=Flow(Reads.OURS))
    process = await process_with(any_stage, text, fetch, check, send, rules=ALLOWED)
    store = any_stage.store
    async with process.running():
        await command(process, "workflow", "posting")
        await process.rest()
        [first] = await store.workflows.begun()
        calls, is_away[0] = await store.workflows.record(RunId(first.run)), False
        task = Task(TaskKind.WORKFLOW, first.name, resumes=to_resume(calls, RunId(first.run), SessionKey("s")) or {})
        assert first.room
        again = Report(OccurrenceId("again"), first.name, task, (first.room,), "UTC", "main", ADA)
        await store.schedules.begin_report(again, "Ada")
        process.notifier.notify(LANES)
        await process.rest()
    assert (len(check.calls), len(send.calls)) == (2, 0)
    [question] = await any_stage.pending()
    assert question.tool == "send"


async def test_an_operator_cancels_one_that_waits(any_stage: Stage) -> None:
    process = await process_with(any_stage, 'name = "later"\nsteps = [{ name = "pause", wait = "1 hour" }]')
    async with process.running():
        await command(process, "workflow", "later")
        await process.rest()
        [begun] = await operations(process).begun("later", "waiting")
        ended = await operations(process).cancel(begun["id"], OPERATOR)
        await process.rest()
    assert ended["state"] == "stopped"
    assert await any_stage.states() == [RunState.STOPPED]
    [one] = await any_stage.store.workflows.begun()
    resumed = to_resume(await any_stage.store.workflows.record(RunId(one.run)), RunId(one.run), SessionKey("s")) or {}
    assert resumed["done"] == {}  # the pause wasn't over, so whoever goes on makes it again
    with pytest.raises(Refusal, match="This workflow is over already"):
        await operations(process).cancel(begun["id"], OPERATOR)
