"""Exporter of spans to the collector, and its words in the log when they are not taken."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import structlog
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

log = structlog.get_logger("tracing")


class Telling(SpanExporter):
    """Says once when the collector stops taking spans, and once when it takes them again.

    OpenTelemetry says it at each try, which drowns everything else in the log; so its own lines are left out.
    """

    def __init__(self, exporter: SpanExporter, endpoint: str) -> None:
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        self._exporter = exporter
        self._endpoint = endpoint
        self._failing = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        self._tell(failing=result is not SpanExportResult.SUCCESS)
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def _tell(self, *, failing: bool) -> None:
        if failing and not self._failing:
            reason = f"telemetry.endpoint: {self._endpoint} doesn't accept traces. They are dropped until it does"
            log.warning("traces are lost", reason=reason)
        elif self._failing and not failing:
            log.info("traces are taken again", endpoint=self._endpoint)
        self._failing = failing
