"""A stand-in for an OpenTelemetry collector: takes traces as OTLP over HTTP, as protobuf, and keeps them."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Status

PROTOBUF = "application/x-protobuf"


@dataclass(frozen=True)
class Seen:
    """A span as it came over the wire. Ids are in hex; `parent` is empty for the first of a trace."""

    name: str
    trace: str
    id: str
    parent: str
    took: int
    failed: str
    attributes: dict[str, Any]
    events: Sequence[str]
    resource: dict[str, Any]


@dataclass
class Collector:
    """`refuse` answers each request with 503."""

    url: str = ""
    refuse: bool = False
    requests: int = 0
    headers: list[dict[str, str]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    spans: list[Seen] = field(default_factory=list)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, request: web.Request) -> web.Response:
        self.requests += 1
        if self.refuse:
            return web.Response(status=503)
        if request.content_type != PROTOBUF:
            return web.Response(status=415)
        body = await request.read()
        body = gzip.decompress(body) if request.headers.get("Content-Encoding") == "gzip" else body
        self.headers.append(dict(request.headers))
        self.raw.append(body)
        self.spans += _spans(ExportTraceServiceRequest.FromString(body))
        self._arrived.set()
        return web.Response(body=ExportTraceServiceResponse().SerializeToString(), content_type=PROTOBUF)

    def named(self, name: str) -> list[Seen]:
        return [span for span in self.spans if span.name == name]

    async def until(self, holds: Callable[[Collector], bool]) -> None:
        """Wait until what has come is as asked for."""
        async with asyncio.timeout(20):
            while not holds(self):
                self._arrived.clear()
                await self._arrived.wait()


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    collector = Collector()
    app = web.Application()
    app.router.add_post("/v1/traces", collector.take)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        collector.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield collector
    finally:
        await runner.cleanup()


def _spans(request: ExportTraceServiceRequest) -> list[Seen]:
    return [
        Seen(
            span.name,
            span.trace_id.hex(),
            span.span_id.hex(),
            span.parent_span_id.hex(),
            span.end_time_unix_nano - span.start_time_unix_nano,
            span.status.message if span.status.code == Status.STATUS_CODE_ERROR else "",
            _attributes(span.attributes),
            [event.name for event in span.events],
            _attributes(group.resource.attributes),
        )
        for group in request.resource_spans
        for scope in group.scope_spans
        for span in scope.spans
    ]


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
