"""Every request of a real run is built from what the store holds at that moment."""

from __future__ import annotations

import json
from datetime import timedelta

from bot.testing.scripted import Answer
from runtime.contract import Choice, Effect, ModelReply, ModelRequest, OnText, SessionKey
from runtime.domain.transcript import repair
from runtime.models.messages import to_messages
from runtime.policy.rules import Rule, Ruling
from tests.contract.runtime.stage import OTTO, READ, SHELL, WRITE, Stage, address, fake_tool
from tests.contract.runtime.strict import Strict

SESSION = SessionKey(f"main|{address()}")
PROMPT = "You are a test.\n- A rule keeps these tools from you here; say so if somebody needs one: write."


class Witness(Strict):
    """Compares each request with the prompt and the repaired rows, as bytes for a vendor."""

    def __init__(self, stage: Stage, answers: list[Answer]) -> None:
        super().__init__(answers)
        self._stage = stage

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        rows = await self._stage.store.runs.turns(SESSION)
        assert list(request.turns) == repair(rows)
        told = to_messages(request.system, request.turns)
        assert json.dumps(told) == json.dumps(to_messages(PROMPT, repair(rows)))
        assert [tool.name for tool in request.tools] == ["look", "shell"]
        return await super().reply(request, on_text)


async def test_a_request_is_what_the_store_holds_through_calls_denials_waits_and_restarts(any_stage: Stage) -> None:
    tools = [fake_tool("look", Effect.READ), fake_tool("write", Effect.WRITE), fake_tool("shell", Effect.DANGER)]
    rules = [Rule(Ruling.DENY, "write")]
    first = Witness(any_stage, [(READ, WRITE), SHELL, "meanwhile"])
    process = await any_stage.process(first, tools, rules=rules)
    async with process.running():
        await process.say("look, write and run")
        await process.rest()
        await process.say("and you?", who=OTTO)
        await process.rest()
    any_stage.clock.advance(timedelta(minutes=1))
    after = Witness(any_stage, ["all done", "bye"])
    process = await any_stage.process(after, tools, rules=rules)
    [question] = await any_stage.pending()
    async with process.running():
        await process.click(question.id, Choice.APPROVE)
        await process.rest()
        await process.say("bye")
        await process.rest()
    assert (len(first.requests), len(after.requests)) == (3, 2)
    assert await any_stage.answers() == ["meanwhile", "all done", "bye"]
