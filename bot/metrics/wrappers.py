"""A model, a tool and a channel that are timed and counted, each with the Protocol of what it holds."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Mapping
from time import perf_counter
from types import TracebackType
from typing import Final

from bot.metrics.meters import Meters
from bot.telemetry.wrappers import AdapterWrapper, ToolWrapper
from runtime.contract import (
    Attempt,
    ChannelAdapter,
    Json,
    Model,
    ModelReply,
    ModelRequest,
    OnText,
    Part,
    Receipt,
    Settled,
    Shown,
    Tool,
    ToolContext,
    Usage,
)
from runtime.errors import ModelFailed, Rejected, Retryable, ToolError, Uncertain

Endings = Mapping[type[BaseException], str]

# A cancelled call was cut by a stop, by the end of the process, or by the longest time that it may take.
MODEL: Final[Endings] = {ModelFailed: "failed", CancelledError: "cut"}
TOOL: Final[Endings] = {ToolError: "failed", CancelledError: "cut"}
SEND: Final[Endings] = {
    Retryable: "retryable",
    Uncertain: "uncertain",
    Rejected: "rejected",
    CancelledError: "uncertain",
}
BROKE: Final = "broke"
"""Any other exception: a bug, ours or an adapter's."""

MICROS: Final = 1_000_000  # a dollar


class Stopwatch:
    """Tells how a block ended, `done` or by the word of its error, and how many seconds it took."""

    def __init__(self, done: str, endings: Endings, tell: Callable[[str, float], None]) -> None:
        self._done = done
        self._endings = endings
        self._tell = tell

    def __enter__(self) -> None:
        self._began = perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tell(self._done if error is None else self._word(error), perf_counter() - self._began)

    def _word(self, error: BaseException) -> str:
        return next((word for kind, word in self._endings.items() if isinstance(error, kind)), BROKE)


class MeteredModel:
    """Implements `contract.Model`. It is counted as `called`, its name in the settings where it has one there."""

    def __init__(self, model: Model, meters: Meters, called: str = "") -> None:
        self.name = model.name
        self._model = model
        self._meters = meters
        self._called = called or model.name

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        try:
            with Stopwatch("replied", MODEL, self._ended):
                reply = await self._model.reply(request, on_text)
        except ModelFailed as error:
            self._meters.model_failures.add(self._called, error.cause)
            raise
        self._spent(reply.usage)
        return reply

    def _ended(self, outcome: str, seconds: float) -> None:
        self._meters.model_calls.add(self._called, outcome)
        self._meters.model_seconds.observe(seconds, self._called)

    def _spent(self, usage: Usage) -> None:
        self._meters.request_tokens.observe(usage.input_tokens, usage.model)
        self._meters.tokens.add(usage.model, "in", by=usage.input_tokens)
        self._meters.tokens.add(usage.model, "out", by=usage.output_tokens)
        self._meters.dollars.add(usage.model, by=usage.cost_micros / MICROS)


class MeteredTool(ToolWrapper):
    """Implements `contract.Tool`."""

    def __init__(self, tool: Tool, meters: Meters) -> None:
        super().__init__(tool)
        self._meters = meters

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        with Stopwatch("done", TOOL, self._ended):
            return await self._tool.call(arguments, context)

    def _ended(self, outcome: str, seconds: float) -> None:
        if outcome == "cut" and seconds >= self.spec.timeout.total_seconds():
            outcome = "timeout"
        self._meters.tool_calls.add(self.spec.name, outcome)
        self._meters.tool_seconds.observe(seconds, self.spec.name)


class MeteredAdapter(AdapterWrapper):
    """Implements `contract.ChannelAdapter`, for its courier."""

    def __init__(self, adapter: ChannelAdapter, meters: Meters) -> None:
        super().__init__(adapter)
        self._meters = meters

    async def show(self, part: Part) -> Receipt:
        with Stopwatch("shown", SEND, self._sent):
            return await self._adapter.show(part)

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        with Stopwatch("shown", SEND, self._sent):
            return await self._adapter.edit(receipt, part)

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        found = await self._adapter.settle(part, attempt)
        if isinstance(found, Shown):
            self._meters.parts.add(self.channel, self.account, "found")
        return found

    def _sent(self, outcome: str, seconds: float) -> None:
        self._meters.sends.observe(seconds, self.channel, self.account, outcome)
