"""A process with a second agent, which no setting names: each works with its own things, and with nothing of the other."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from bot.testing.scripted import Answer
from runtime.agent.registry import Agent, Limits
from runtime.context.prompt.prompts import Prompted
from runtime.contract import Call, Choice, Effect, FileRef, SessionKey, UserTurn
from runtime.domain.runs import RunState
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.planning import Desk
from tests.contract.runtime.stage import READ, FakeTool, Process, Stage, address, fake_tool
from tests.contract.runtime.strict import Strict
from tests.contract.runtime.test_files import REPORT, Carrier

PEEK = Call("c-peek", "peek", "{}")
BRIEF = Limits(iterations=2, approval_time=timedelta(minutes=5))


@dataclass
class House:
    """A process with two agents; `main` and `ops` are their models, `look` and `peek` the tools of either."""

    stage: Stage
    process: Process
    main: Strict
    ops: Strict
    look: FakeTool
    own_look: FakeTool
    peek: FakeTool

    async def say(self, words: str, agent: str, files: tuple[FileRef, ...] = ()) -> None:
        """Said to that agent, as the gate of the moment has it."""
        self.process.gate = replace(self.process.gate, agent=agent)
        await self.process.say(words, files=files)
        await self.process.rest()


async def house(stage: Stage, main: list[Answer], ops: list[Answer], **more: object) -> House:
    look, own, peek = (fake_tool(name, Effect.READ) for name in ("look", "look", "peek"))
    models = Strict(main), Strict(ops)
    second = Agent(
        name="ops",
        prompt=lambda here: Prompted(f"You watch {here.address.room}."),
        model=models[1],
        tools={"look": own, "peek": peek},
        scope="watchers",
        workspaces=stage.workspaces.of("ops"),
        limits=BRIEF,
    )
    process = await stage.process(models[0], [look], others=[second], **more)
    return House(stage, process, *models, look, own, peek)


async def test_a_session_of_a_second_agent_runs_with_its_own_things(any_stage: Stage) -> None:
    at = await house(any_stage, [READ, "main saw"], [PEEK, "ops saw"])
    async with at.process.running():
        await at.say("hello main", "main")
        await at.say("hello ops", "ops")
    assert await any_stage.answers() == ["main saw", "*ops* · ops saw"]
    every = "SELECT content FROM deliveries WHERE kind = 'final' ORDER BY number"
    assert [json.loads(row[0]).get("speaker", "") for row in await any_stage.rows(every)] == ["", "ops"]
    assert [request.system for request in at.ops.requests] == ["You watch r1."] * 2
    assert [request.system for request in at.main.requests] == ["You are a test."] * 2
    assert [[tool.name for tool in model.requests[0].tools] for model in (at.main, at.ops)] == [
        ["look"],
        ["look", "peek"],
    ]
    assert [model.requests[0].turns for model in (at.main, at.ops)] == [
        [UserTurn("hello main", "Ada")],
        [UserTurn("hello ops", "Ada")],
    ]
    assert (len(at.look.calls), len(at.own_look.calls), len(at.peek.calls)) == (1, 0, 1)
    assert at.look.sessions == [SessionKey(f"main|{address()}")]
    assert at.peek.sessions == [SessionKey(f"ops|{address()}")]
    assert at.look.folders == [any_stage.workspaces.folder(address())]
    assert at.peek.folders == [any_stage.workspaces.of("ops").folder(address())]
    assert at.look.folders != at.peek.folders
    assert await any_stage.rows("SELECT DISTINCT agent FROM usage ORDER BY agent") == [("main",), ("ops",)]


async def test_a_rule_for_one_agent_says_nothing_about_the_other(stage: Stage) -> None:
    rules = [Rule(Ruling.DENY, "look", agent="watchers")]
    at = await house(stage, [READ, "main saw"], [READ, "ops did not"], rules=rules)
    async with at.process.running():
        await at.say("look", "ops")
        await at.say("look", "main")
    assert (len(at.own_look.calls), len(at.look.calls)) == (0, 1)


async def test_an_agent_ends_at_its_own_bounds(stage: Stage) -> None:
    peeks: list[Answer] = [Call(f"c{n}", "peek", "{}") for n in range(2)]
    reads: list[Answer] = [Call(f"c{n}", "look", "{}") for n in range(3)]
    at = await house(stage, [*reads, "main saw"], peeks)
    async with at.process.running():
        await at.say("go", "ops")
        await at.say("go", "main")
    ended, answered = await stage.answers()
    assert ended.startswith("*ops* · I stopped after 2 steps")
    assert answered == "main saw"


async def test_a_parked_run_goes_on_with_its_agent_after_a_restart(any_stage: Stage) -> None:
    rules = [Rule(Ruling.ASK, "peek", agent="watchers")]
    at = await house(any_stage, [], [PEEK], rules=rules)
    async with at.process.running():
        await at.say("peek", "ops")
    [question] = await any_stage.pending()
    assert question.expires_at - question.asked_at <= BRIEF.approval_time
    at = await house(any_stage, [], ["ops saw"], rules=rules)
    async with at.process.running():
        await at.process.click(question.id, Choice.APPROVE)
        await at.process.rest()
    assert await any_stage.answers() == ["*ops* · ops saw"]
    assert at.ops.requests[0].system == "You watch r1."
    assert len(at.peek.calls) == 1


async def test_a_file_comes_into_the_folder_of_the_agent_it_was_sent_to(stage: Stage) -> None:
    at = await house(stage, [], ["read"], carrier=Carrier())
    async with at.process.running():
        await at.say("read this", "ops", (REPORT,))
    [request] = at.ops.requests
    assert request.files is not None
    [turn] = request.turns
    assert isinstance(turn, UserTurn)
    with request.files(turn.files[0].path) as file:
        assert file.read() == b"12345"
    assert not stage.workspaces.has(address(), turn.files[0].path)


async def test_a_schedule_is_worked_on_by_its_agent(stage: Stage) -> None:
    at = await house(stage, [], ["nothing new"])
    at.process.booking = at.process.booking_of("ops")
    planned = await (desk := Desk(stage, at.process)).plan()
    assert planned.agent == "ops"
    await desk.fire()
    assert await desk.states(planned) == ["done"]
    assert [request.system for request in at.ops.requests] == ["You watch r1."]


@pytest.mark.parametrize("kept", [True, False])
async def test_an_agent_that_is_gone_gives_nothing_to_another(stage: Stage, *, kept: bool) -> None:
    """A session outlives its agent: its run fails with words, and main's model and tools are not asked."""
    at = await house(stage, ["main is well"], [PEEK, "ops saw"])
    if not kept:
        at.process = await stage.process(at.main, [at.look])
    async with at.process.running():
        await at.say("hello", "ops")
        await at.say("hello", "main")
    first = "*ops* · ops saw" if kept else "*ops* · There is no longer an agent called ops here."
    assert await stage.answers() == [first, "main is well"]
    assert await stage.states() == [RunState.DONE if kept else RunState.FAILED, RunState.DONE]
