"""The sink, the agent, a model, a tool and a channel that leave spans, each with the Protocol of what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from time import time_ns

import structlog
from opentelemetry.trace import SpanKind

from bot.telemetry.tracing.trail import Trail
from bot.telemetry.wrappers import AdapterWrapper, ToolWrapper
from runtime.contract import (
    Attempt,
    ChannelAdapter,
    Json,
    Model,
    ModelReply,
    ModelRequest,
    OnText,
    Outcome,
    Part,
    Receipt,
    Settled,
    SettleResult,
    Signal,
    Sink,
    Tool,
    ToolContext,
    Verdict,
)
from runtime.intake.dispatch import Worker
from runtime.store.protocol import Claim

# Attributes of models and tools have the names of OpenTelemetry's conventions for generative AI.


def traced_sink(sink: Sink, trail: Trail) -> Sink:
    """Only a message begins a trace. One that comes again has its trace already."""

    async def traced(signal: Signal) -> Verdict:
        began = time_ns()
        verdict = await sink(signal)
        if verdict.outcome is Outcome.ACCEPTED:
            trail.message(
                verdict.signal_id,
                began,
                signalbox__signal=verdict.signal_id,
                signalbox__channel=signal.address.channel,
            )
        return verdict

    return traced


class TracedWorker:
    """Implements `dispatch.Worker`: each stretch of work on a run is a span. One that is parked holds none open."""

    def __init__(self, worker: Worker, trail: Trail) -> None:
        self._worker = worker
        self._trail = trail

    async def work(self, claim: Claim) -> bool:
        run = claim.run_id
        with self._trail.span("run", work=run, signalbox__run=run, signalbox__resumed=claim.resumed):
            return await self._worker.work(claim)

    async def fail(self, claim: Claim, text: str) -> bool:
        with self._trail.span("run failed", work=claim.run_id, signalbox__run=claim.run_id):
            return await self._worker.fail(claim, text)


class TracedModel:
    """Implements `contract.Model`."""

    def __init__(self, model: Model, trail: Trail) -> None:
        self.name = model.name
        self._model = model
        self._trail = trail

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        with self._trail.span(
            f"chat {self.name}",
            SpanKind.CLIENT,
            gen_ai__operation__name="chat",
            gen_ai__request__model=self.name,
        ) as span:
            silent = True

            def speaking(text: str) -> None:
                nonlocal silent
                if silent and text:
                    span.add_event("first words")
                    silent = False
                on_text(text)

            reply = await self._model.reply(request, speaking)
            span.set_attribute("gen_ai.usage.input_tokens", reply.usage.input_tokens)
            span.set_attribute("gen_ai.usage.output_tokens", reply.usage.output_tokens)
            span.set_attribute("signalbox.cost_micros", reply.usage.cost_micros)
            span.set_attribute("signalbox.calls", len(reply.calls))
            return reply


class TracedTool(ToolWrapper):
    """Implements `contract.Tool`."""

    def __init__(self, tool: Tool, trail: Trail) -> None:
        super().__init__(tool)
        self._trail = trail

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        with self._trail.span(
            f"execute_tool {self.spec.name}",
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name=self.spec.name,
            gen_ai__tool__call__id=context.call_id,
        ):
            return await self._tool.call(arguments, context)


class TracedAdapter(AdapterWrapper):
    """Implements `contract.ChannelAdapter`, for its courier."""

    def __init__(self, adapter: ChannelAdapter, trail: Trail) -> None:
        super().__init__(adapter)
        self._trail = trail

    async def show(self, part: Part) -> Receipt:
        with self._trail.span("show", SpanKind.CLIENT, work=at_work(part), **self._about(part)):
            return await self._adapter.show(part)

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        with self._trail.span("edit", SpanKind.CLIENT, work=at_work(part), **self._about(part)):
            return await self._adapter.edit(receipt, part)

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        with self._trail.span("look for", SpanKind.CLIENT, work=at_work(part), **self._about(part)) as span:
            found = await self._adapter.settle(part, attempt)
            span.set_attribute("signalbox.found", found.value if isinstance(found, SettleResult) else "shown")
            return found

    def _about(self, part: Part) -> dict[str, str | int]:
        return {
            "signalbox__channel": self.channel,
            "signalbox__account": self.account,
            "signalbox__delivery": part.delivery_id,
            "signalbox__part": part.ordinal,
        }


def at_work(part: Part) -> str:
    """The piece of work that a part belongs to: the same id that every line of the log about it carries as `trace`."""
    return str(structlog.contextvars.get_contextvars().get("trace", part.delivery_id))
