"""What a model thinks: kept with its turn, sent back as its vendor signed it also after a kill, told by `/think`, never the answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.testing.openai.server import Reply, ToolCall
from bot.testing.scripted import USAGE
from bot.testing.serve import serving
from runtime.contract import AssistantTurn, Effect, ModelReply, Reasoning
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import Controls, ModelSettings
from tests.contract.runtime.stage import Stage, crash_at, fake_tool
from tests.contract.runtime.strict import Strict
from tests.fakes.anthropic import Anthropic, parts, signature

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),
]

NAME = "anthropic/claude-sonnet-4-5"
LOOK = ToolCall("look", "{}", "c1")


def thinking(text: str, thought: str) -> ModelReply:
    return ModelReply(text, (), USAGE, reasoning=Reasoning(thought, "scripted"))


async def test_a_kill_in_a_loop_of_calls_loses_no_signed_thought(any_stage: Stage) -> None:
    replies = [
        Reply("", (LOOK,), "tool_calls", thinking="I have to look."),
        Reply("", (replace(LOOK, id="c2"),), "tool_calls", thinking="Once more."),
        Reply("All seen.", thinking="That is all."),
    ]
    server = Anthropic(replies)
    async with serving(server.app()) as url:
        model = LiteModel(ModelSettings(NAME, url, "k", controls=Controls(reasoning="low")))
        tools = [fake_tool("look", Effect.READ)]
        dying = await any_stage.process(model, tools, probe=crash_at("tool-finished"))
        await dying.say("look twice")
        await dying.until_crash()
        process = await any_stage.process(model, tools)
        await process.answer_all()
    assert await any_stage.answers() == ["All seen."]
    sent = [part for message in server.requests[-1]["messages"] for part in parts(message)]
    signed = [(part["thinking"], part["signature"]) for part in sent if part["type"] == "thinking"]
    assert signed == [(text, signature(text)) for text in ("I have to look.", "Once more.")]
    assert all("thinking" in request for request in server.requests)


async def test_thinking_is_kept_with_its_turn(any_stage: Stage) -> None:
    model = Strict([thinking("Hello.", "A greeting."), "bye"])
    process = await any_stage.process(model, [])
    for words in ("hi", "bye"):
        await process.say(words)
        await process.answer_all()
    assert AssistantTurn("Hello.", (), Reasoning("A greeting.", "scripted")) in model.requests[1].turns
    assert await any_stage.answers() == ["Hello.", "bye"]
