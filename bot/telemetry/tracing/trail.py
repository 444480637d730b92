"""Spans of one process on their way to the collector, each in the trace of the message that it belongs to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Final

import structlog
from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, TraceIdRatioBased
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from bot.telemetry.tracing.identity import root_id, trace_id

log = structlog.get_logger("tracing")

LAST_WORDS: Final = timedelta(seconds=1.5)
"""How long a leaving process tries to hand over what it has. A collector that is away gets nothing more."""

Attribute = str | int | float | bool


class _Ids(RandomIdGenerator):
    """Random ids, but for a span that stands for a message: its ids follow from the message's."""

    def __init__(self) -> None:
        self.work: str | None = None

    def generate_trace_id(self) -> int:
        return trace_id(self.work) if self.work else super().generate_trace_id()

    def generate_span_id(self) -> int:
        return root_id(self.work) if self.work else super().generate_span_id()


class Trail:
    """Makes spans. They carry ids, words of ours and numbers; never what people, models or tools said."""

    def __init__(self, exporter: SpanExporter, *, service: str, version: str, sample: float) -> None:
        self._ids = _Ids()
        self._sampler = TraceIdRatioBased(sample)
        self._provider = TracerProvider(
            sampler=ParentBased(self._sampler),
            id_generator=self._ids,
            resource=Resource.create({"service.name": service, "service.version": version}),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("signalbox", version)

    def message(self, work: str, began: int, **attributes: Attribute) -> None:
        """The span that stands for a message itself, from `began` (nanoseconds since 1970) to its acceptance, now."""
        self._ids.work = work  # nothing else runs until the span is there
        try:
            span = self._tracer.start_span(
                "message", Context(), SpanKind.CONSUMER, _named(attributes), start_time=began
            )
        finally:
            self._ids.work = None
        span.end()

    @contextmanager
    def span(
        self, name: str, kind: SpanKind = SpanKind.INTERNAL, *, work: str | None = None, **attributes: Attribute
    ) -> Iterator[Span]:
        """A span around a block: below the message of `work`, else below the span that is open here.

        An error is told by its class alone, since its words may be a person's.
        """
        context = self._below(work) if work else None
        with self._tracer.start_as_current_span(
            name, context, kind, _named(attributes), record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    async def close(self) -> None:
        """Hand over what is left, for a short while; a dead collector keeps nobody from leaving."""
        done, loop = asyncio.Event(), asyncio.get_running_loop()

        def shut() -> None:
            self._provider.shutdown()
            with suppress(RuntimeError):  # the loop is closed: nobody waits for us any more
                loop.call_soon_threadsafe(done.set)

        # A thread of our own: the event loop waits for those that it lends.
        threading.Thread(target=shut, name="last-traces", daemon=True).start()
        try:
            async with asyncio.timeout(LAST_WORDS.total_seconds()):
                await done.wait()
        except TimeoutError:
            log.warning("the last traces were not handed over", reason="the collector did not answer in time")

    def _below(self, work: str) -> Context:
        parent = SpanContext(trace_id(work), root_id(work), is_remote=True, trace_flags=self._flags(work))
        return set_span_in_context(NonRecordingSpan(parent), Context())

    def _flags(self, work: str) -> TraceFlags:
        """Flags of this message's trace: every process decides the same, by its id."""
        decision = self._sampler.should_sample(None, trace_id(work), "message").decision
        return TraceFlags(TraceFlags.SAMPLED if decision is Decision.RECORD_AND_SAMPLE else TraceFlags.DEFAULT)


def _named(attributes: dict[str, Attribute]) -> dict[str, Attribute]:
    """Keyword names as OpenTelemetry writes them: `signalbox__run` is `signalbox.run`."""
    return {name.replace("__", "."): value for name, value in attributes.items()}
