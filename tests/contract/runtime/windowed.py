"""A model with a window, and people who talk to it for long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bot.testing.scripted import USAGE
from runtime.agent.registry import Limits
from runtime.context import handoff
from runtime.context.sizes import of_text, of_tool, of_turns
from runtime.context.summaries import TASK
from runtime.context.window import Window
from runtime.contract import Call, Model, ModelReply, ModelRequest, OnText
from runtime.errors import ContextOverflow
from tests.contract.runtime.stage import FakeTool, Process, Stage
from tests.contract.runtime.strict import wrong

WINDOW = 4_000
AGREED = "We agreed on the name BLUEBIRD-7 for the release."
TASKS = (TASK, handoff.TASK)


def size_of(request: ModelRequest) -> int:
    """Tokens of a request, as its vendor counts them."""
    return of_text(request.system) + of_turns(request.turns) + sum(map(of_tool, request.tools))


class Windowed:
    """A strict vendor whose model reads at most `window` tokens, and refuses whatever is larger.

    `says` gives the answer to a request; `condenses` what it writes where a summary or a handoff is wanted, and `counts`
    the tokens that it tells of a request. `summaries`, `handoffs` and `requests` are those that it answered, `refused` counts
    the others.
    """

    name = "windowed"

    def __init__(
        self,
        says: Callable[[ModelRequest], str | Call | tuple[Call, ...]] = lambda _: "Yes.",
        condenses: Callable[[int], str] = lambda number: f"Record {number}: much was said.",
        window: int = WINDOW,
        counts: Callable[[ModelRequest], int] = lambda _: USAGE.input_tokens,
    ) -> None:
        self._says, self._condenses, self._window, self._counts = says, condenses, window, counts
        self.requests: list[ModelRequest] = []
        self.summaries: list[ModelRequest] = []
        self.handoffs: list[ModelRequest] = []
        self.refused = 0

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        faults = list(wrong(request.turns))
        assert not faults, f"a strict provider refuses this history: {faults}"
        if size_of(request) > self._window:
            self.refused += 1
            raise ContextOverflow(f"{size_of(request)} tokens are too many")
        usage = replace(USAGE, input_tokens=self._counts(request))
        if request.system.startswith(TASKS):
            (self.summaries if request.system.startswith(TASK) else self.handoffs).append(request)
            return ModelReply(self._condenses(len(self.summaries) + len(self.handoffs)), (), usage)
        self.requests.append(request)
        said = self._says(request)
        if isinstance(said, str):
            return ModelReply(said, (), usage)
        return ModelReply("", said if isinstance(said, tuple) else (said,), usage)


def heard(request: ModelRequest) -> str:
    return "\n".join(turn.text for turn in request.turns)


async def life(stage: Stage, model: Model, *tools: FakeTool, window: int = WINDOW, **more: Any) -> Process:
    limits = replace(more.pop("limits", Limits()), iterations=300, window=Window(lambda: window))
    return await stage.process(model, tools, limits=limits, **more)


async def said(process: Process, *texts: str) -> None:
    async with process.running():
        for text in texts:
            await process.say(text)
            await process.rest()


def chatter(count: int, letters: int = 400) -> list[str]:
    return [f"{number}: {'blah ' * (letters // 5)}" for number in range(count)]


async def kept(stage: Stage) -> list[tuple[Any, ...]]:
    return await stage.rows("SELECT kind, since_turn, upto_turn FROM summaries ORDER BY upto_turn")
