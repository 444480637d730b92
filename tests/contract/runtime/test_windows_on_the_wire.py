"""Long conversations with the real LiteLLM against servers that refuse by size, as OpenAI and Anthropic do."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from bot.testing.openai.server import Answers, Json, OpenAI, Reply, ToolCall
from bot.testing.serve import serving
from runtime.contract import Choice, Effect
from runtime.models.litellm_loading import LIBRARY, VARIABLES
from runtime.models.litellm_model import LiteModel
from runtime.models.settings import ModelSettings
from tests.contract.runtime.stage import Stage, fake_tool
from tests.contract.runtime.windowed import AGREED, chatter, life, said
from tests.fakes.anthropic import Anthropic
from tests.fakes.windows import Window

for name in VARIABLES:
    os.environ.setdefault(name, "True")

pytestmark = [
    pytest.mark.xdist_group("litellm"),
    pytest.mark.timeout(120),  # the first test here imports LiteLLM, which takes seconds
    pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier"),
    # LiteLLM's own, where a summary that nobody waits for is cut because its process ends.
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
BOTH = pytest.mark.parametrize("vendor", ["openai", "anthropic"])
MODELS = {"openai": "openai/gpt-4o", "anthropic": "anthropic/claude-sonnet-4-5"}


@asynccontextmanager
async def vendor_of(window: Window, answers: Answers | None = None) -> AsyncIterator[LiteModel]:
    """A model behind the real client. `answers` say more than the window does."""
    await LIBRARY.get()
    server = OpenAI(answers or window) if window.vendor == "openai" else Anthropic(answers or window)
    async with serving(server.app()) as url:
        base = f"{url}/v1" if window.vendor == "openai" else url
        yield LiteModel(ModelSettings(MODELS[window.vendor], base, "a-key"))


@BOTH
async def test_a_vendor_that_refuses_by_size_answers_every_message(stage: Stage, vendor: str) -> None:
    """Its window is a quarter of what the settings say: it says so itself, and is asked again with less."""
    window = Window(vendor, 3_000)
    async with vendor_of(window) as model:
        process = await life(stage, model, window=12_000)
        await said(process, "Find a name for the release.", AGREED, *chatter(40))
    assert await stage.answers() == ["Yes."] * 42
    assert window.refused
    assert window.condensed
    assert window.largest <= window.tokens


@BOTH
async def test_a_window_of_a_hundred_tokens_is_told_in_words(stage: Stage, vendor: str) -> None:
    window = Window(vendor, 100)
    async with vendor_of(window) as model:
        process = await life(stage, model, window=8_000)
        await said(process, "hello " * 2_000, "hi")
    first, last = await stage.answers()
    assert first.startswith("Yes.") or ("/compact" in first and "/new" in first)
    assert last == "Yes." or ("/compact" in last and "/new" in last)


@pytest.mark.parametrize("told", [0, 1, 9_000_000])
@BOTH
async def test_a_vendor_that_lies_about_its_tokens_is_asked_on(stage: Stage, vendor: str, told: int) -> None:
    window = Window(vendor, 4_000, counts=lambda _: told)
    async with vendor_of(window) as model:
        process = await life(stage, model, window=4_000)
        await said(process, *chatter(40))
    assert await stage.answers() == ["Yes."] * 40
    assert window.largest <= window.tokens


class Careless:
    """A vendor that breaks off at its length limit and writes arguments that are no JSON, and has a window beside."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._odd = [
            Reply("Let me", finish="length"),
            Reply("", (ToolCall("look", '{"path": "a'),), "length"),  # in place of a continuation: it never runs
            Reply("", (ToolCall("look", '{"path": '),), "tool_calls"),  # whole, as the vendor says, and no JSON
            Reply("", (ToolCall("look", "[1, 2"),), "tool_calls"),
            Reply("Well", finish="length"),
        ]
        self.is_due = False

    def __call__(self, request: Json) -> Reply:
        refused, condensed = self._window.refused, self._window.condensed
        fits = self._window(request)
        is_answer = (refused, condensed) == (self._window.refused, self._window.condensed)
        return self._odd.pop(0) if is_answer and self.is_due and self._odd else fits


async def test_cut_words_and_malformed_calls_in_a_full_window_cost_nobody_their_answer(stage: Stage) -> None:
    """The window is a quarter of what the settings say, and nothing that was cut or malformed reaches a tool."""
    window, look = Window("openai", 3_000), fake_tool("look", Effect.READ)
    careless = Careless(window)
    async with vendor_of(window, careless) as model:
        process = await life(stage, model, look, window=12_000)
        await said(process, "Find a name for the release.", AGREED, *chatter(36))
        careless.is_due = True
        await said(process, *chatter(8))
    answers = await stage.answers()
    assert len(answers) == 46
    assert answers[38].startswith("Let me")
    assert answers[-1] == "Yes."
    assert all(answer.endswith("Yes.") or "length limit" in answer for answer in answers)
    assert look.calls == []
    assert window.refused
    assert window.largest <= window.tokens


class Remembering:
    """A vendor with a window, whose model calls a tool once, and which counts the requests that lack what must be in each."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self.has_called = False
        self.answered = self.forgot = 0

    def __call__(self, request: Json) -> Reply:
        told = json.dumps(request)
        if not self.has_called and "run it" in told:
            self.has_called = True
            return Reply("", (ToolCall("shell", '{"command": "uname -a"}'),), "tool_calls")
        before = (self._window.refused, self._window.condensed)
        reply = self._window(request)
        if self.has_called and before == (self._window.refused, self._window.condensed):
            self.answered += 1
            self.forgot += "BLUEBIRD-7" not in told or "uname -a" not in told
        return reply


@pytest.mark.soak
@pytest.mark.timeout(900)
@BOTH
async def test_ten_thousand_turns_are_answered_within_the_window_and_nothing_agreed_is_lost(
    stage: Stage, vendor: str
) -> None:
    """What was agreed in the third turn and the open question are in each request to the last; the call is made once."""
    window, shell = Window(vendor, 4_000), fake_tool("shell", Effect.DANGER)
    remembering = Remembering(window)
    async with vendor_of(window, remembering) as model:
        process = await life(stage, model, shell, window=4_000)
        await said(process, "Find a name for the release.", AGREED, "run it", *chatter(5_000))
        [question] = await stage.pending()
        async with process.running():
            await process.click(question.id, Choice.APPROVE)
            await process.rest()
    assert len(await stage.answers()) == 5_003
    assert (remembering.answered >= 5_000, remembering.forgot) == (True, 0)
    assert window.largest <= window.tokens
    assert max(window.sizes[-1_000:]) <= 1.1 * max(window.sizes[:1_000])
    assert len(shell.calls) == 1
