"""What stands beside the conversation in a request: the room, its dashboard, and its tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from runtime.context.prompt.here import Here, Place
from runtime.context.prompt.prompts import Prompted, Prompts
from runtime.contract import (
    Addressing,
    Call,
    Choice,
    Commanded,
    Effect,
    ModelRequest,
    Outcome,
    Said,
    SessionKey,
)
from runtime.domain.routing import Attention, RoomRules
from runtime.policy.modes import Mode
from runtime.policy.rules import Rule, Ruling
from runtime.store.protocol import Board
from runtime.templating.prompts import prompt_of
from tests.contract.runtime.stage import ADA, OTTO, READ, UMA, WRITE, FakeTool, Process, Stage, crash_at, fake_tool
from tests.contract.runtime.strict import Strict
from tools.finding import find_tools

PROMPTS = Prompts(prompt_of("Be kind."))
FIND = Call("c-find", "find_tools", '{"words": "chart"}')


def prompt(here: Here) -> Prompted:
    return PROMPTS.at(here, Place("Page", "Kitchen"), "")


def tools() -> list[Any]:
    chart = fake_tool("chart", Effect.READ)
    chart.spec = replace(chart.spec, seldom=True)
    return [fake_tool("look", Effect.READ), fake_tool("write", Effect.WRITE), chart, Finder()]


class Finder(FakeTool):
    """The real tool that finds others, noted as the fakes are."""

    def __init__(self) -> None:
        super().__init__(find_tools.spec)

    async def call(self, arguments: Any, context: Any) -> str:
        await super().call(arguments, context)
        return await find_tools.call(arguments, context)


def offered(request: ModelRequest) -> Sequence[str]:
    return [tool.name for tool in request.tools]


async def said(process: Process, *words: str, who: Any = ADA, reach: Addressing = Addressing.DIRECT) -> None:
    async with process.running():
        for text in words:
            await process.reception.sink(replace(process.stage.signal(Said(text), who, "r1"), reach=reach))
            await process.rest()


async def test_what_waits_and_what_was_decided_is_on_the_next_requests_dashboard(any_stage: Stage) -> None:
    model = Strict([WRITE, "meanwhile", "done", "and now"])
    process = await any_stage.process(model, tools(), prompt=prompt)
    await said(process, "write", reach=Addressing.MENTION)
    await said(process, "and you?", who=OTTO, reach=Addressing.MENTION)
    waits = model.requests[1].working
    assert "Waiting for people since 2026-03-01 12:00 UTC: write" in waits
    assert 'wanted by "Ada"' in waits
    assert 'You work for "Otto" (operator).' in waits
    [question] = await any_stage.pending()
    async with process.running():
        await process.click(question.id, Choice.APPROVE)
        await process.rest()
    await said(process, "what happened?", reach=Addressing.MENTION)
    assert 'Was approved by "Ada"' in model.requests[3].working
    assert "Waits for people" not in model.requests[3].working
    assert {request.system for request in model.requests} == {model.requests[0].system}


async def test_what_was_only_overheard_is_told_apart(any_stage: Stage) -> None:
    model = Strict(["because", "bye"])
    process = await any_stage.process(model, prompt=prompt, rooms=RoomRules(Attention.OBSERVE))
    for words, reach in (("the build is red", Addressing.OVERHEARD), ("@bot why?", Addressing.MENTION)):
        signal = any_stage.signal(Said(words), UMA, "r1")
        verdict = await process.reception.sink(replace(signal, reach=reach))
    assert verdict.outcome is Outcome.ACCEPTED
    await process.answer_all()
    assert '1 of the newest messages by "Uma" were said here, but not to you' in model.requests[0].working


async def test_a_tool_that_was_found_is_offered_also_after_a_kill(any_stage: Stage) -> None:
    before = Strict([FIND])
    process = await any_stage.process(before, tools(), probe=crash_at("tool-finished"))
    await process.say("draw me a chart")
    await process.until_crash()
    assert offered(before.requests[0]) == ["look", "write", "find_tools"]
    any_stage.clock.advance(timedelta(minutes=1))
    after = Strict([Call("c-chart", "chart", "{}"), "drawn", "bye"])
    process = await any_stage.process(after, tools())
    await said(process, "thanks")
    assert {tuple(offered(request)) for request in after.requests} == {("look", "write", "find_tools", "chart")}


async def test_a_tool_that_is_not_offered_goes_through_the_policy_all_the_same(any_stage: Stage) -> None:
    chart = Call("c-chart", "chart", "{}")
    model = Strict([chart, WRITE, "done"])
    process = await any_stage.process(model, tools(), rules=[Rule(Ruling.DENY, "write", name="never")])
    await said(process, "go")
    assert offered(model.requests[0]) == ["look", "find_tools"]
    assert len(process.tools["chart"].calls) == 1
    assert process.tools["write"].calls == []
    assert "denied: the rule 'never' does not allow it" in str(model.requests[2].turns[-1])


async def test_the_mode_and_the_zones_of_a_room_come_with_the_claim(any_stage: Stage) -> None:
    seen: list[Here] = []

    def looks(here: Here) -> Prompted:
        seen.append(here)
        return prompt(here)

    model = Strict(["one", "two"])
    process = await any_stage.process(model, tools(), prompt=looks)
    await said(process, "hi")
    for command, argument in (("mode", "read-only"), ("timezone", "Asia/Tokyo")):
        await process.reception.sink(any_stage.signal(Commanded(command, argument), ADA, "r1"))
    await said(process, "hi again")
    assert [here.around.mode for here in seen] == [Mode.NORMAL, Mode.READ_ONLY]
    assert (seen[1].around.zone, seen[1].person and seen[1].person.name) == ("Asia/Tokyo", "Ada")
    assert offered(model.requests[1]) == ["look", "find_tools"]
    assert "read-only" in model.requests[1].system


async def test_a_quiet_conversation_reads_no_dashboard(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SessionKey] = []
    model = Strict([READ, "one", "two", WRITE, "three"])
    process = await stage.process(model, tools(), prompt=prompt, rules=[Rule(Ruling.ALLOW, "write")])
    board = process.store.runs.board

    async def noted(session: SessionKey, since: int) -> Board:
        asked.append(session)
        return await board(session, since)

    monkeypatch.setattr(process.store.runs, "board", noted)
    await said(process, "look", "hi", "write")
    assert asked == []


async def test_the_most_used_tools_are_counted_from_the_steps(any_stage: Stage) -> None:
    model = Strict([READ, Call("c2", "look", '{"path": "b"}'), Call("c3", "chart", "{}"), "done"])
    process = await any_stage.process(model, tools())
    await said(process, "look twice")
    used = process.store.runs.tools_used
    assert await used(any_stage.clock() - timedelta(days=1)) == ["look", "chart"]
    assert await used(any_stage.clock() + timedelta(days=1)) == []
