"""Traces, put together: what the composition root wraps the parts of the process in when they are wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

from bot.node.version import VERSION
from bot.settings.sections.operating import Telemetry
from bot.telemetry.instrument import Instrument
from bot.telemetry.tracing.exporter import Telling
from bot.telemetry.tracing.trail import Trail
from bot.telemetry.tracing.wrappers import TracedAdapter, TracedModel, TracedTool, TracedWorker, traced_sink
from runtime.contract import ChannelAdapter, Model, Sink, Tool
from runtime.intake.dispatch import Worker

LAST_STEP: Final = "/v1/traces"


class Tracing(Instrument):
    """One trace a message, from its acceptance to its answer on screen."""

    def __init__(self, trail: Trail) -> None:
        self._trail = trail

    def model(self, model: Model) -> Model:
        return TracedModel(model, self._trail)

    def tools(self, tools: Mapping[str, Tool]) -> Mapping[str, Tool]:
        return {name: TracedTool(tool, self._trail) for name, tool in tools.items()}

    def adapter(self, adapter: ChannelAdapter) -> ChannelAdapter:
        return TracedAdapter(adapter, self._trail)

    def sink(self, sink: Sink) -> Sink:
        return traced_sink(sink, self._trail)

    def worker(self, worker: Worker) -> Worker:
        return TracedWorker(worker, self._trail)

    async def close(self) -> None:
        await self._trail.close()


def tracing_of(settings: Telemetry) -> Tracing:
    headers = {"authorization": f"Bearer {settings.token.get_secret_value()}"} if settings.token else None
    endpoint = whole(settings.endpoint)
    exporter = Telling(OTLPSpanExporter(endpoint=endpoint, headers=headers), endpoint)
    return Tracing(Trail(exporter, service=settings.service_name, version=VERSION, sample=settings.sample))


def whole(endpoint: str) -> str:
    """The address to its last step, which settings leave out and some variables do not."""
    return endpoint if endpoint.endswith(LAST_STEP) else endpoint.rstrip("/") + LAST_STEP
