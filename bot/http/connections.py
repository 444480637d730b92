"""Connections of the web server: how many there may be, and how long each may take to say what it wants.

aiohttp bounds neither. A connection without a whole header is cut after HEADER_LIMIT. A body has to be whole after
BODY_LIMIT; a file may take longer while it comes at UPLOAD_RATE. When there are as many connections as may be, the oldest
that has nothing at work makes room, or else the oldest whose request has not come whole, so that health checks are
answered whoever holds the others. All of it is looked at once a second, so that a request costs nothing for it.
"""

from __future__ import annotations

import asyncio
import os
import resource
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any, Final, Self, cast

import structlog
from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from bot.http.shortage import Shortage
from runtime.http.errors import Refusal

HEADER_LIMIT: Final = timedelta(seconds=10)
BODY_LIMIT: Final = timedelta(seconds=30)
UPLOAD_RATE: Final = 8 * 1024  # bytes a second, over each BODY_LIMIT
GRACE: Final = timedelta(seconds=5)  # to answer that a body was too slow, before the connection is cut
CONNECTIONS_LOOK_INTERVAL: Final = timedelta(seconds=1)
TELL: Final = timedelta(minutes=1)
STORE_FILES: Final = 32  # descriptors kept for the store
CONNECTIONS_MAX: Final = 4096
BACKLOG: Final = 128
FILES_UNKNOWN: Final = 64  # open descriptors where the system does not list them
UPLOAD: Final = "multipart/form-data"
TOO_SLOW: Final = "The request did not arrive in time: send it again."

log = structlog.get_logger("web")


class TooSlow(Refusal, TimeoutError):
    """A body that did not come in time; whoever reads it meets this."""

    def __init__(self) -> None:
        super().__init__(408, TOO_SLOW)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on connections: in all, from one address, accepted in one turn of the loop, and the time each may take."""

    most: int
    of_one: int
    backlog: int
    header: timedelta = HEADER_LIMIT
    body: timedelta = BODY_LIMIT
    look: timedelta = CONNECTIONS_LOOK_INTERVAL

    @classmethod
    def of(cls, descriptors: int, used: int) -> Self:
        """Half of what is free: a connection may need a file too. One address leaves a quarter of them to others."""
        free = max(descriptors - used - STORE_FILES, 32)
        most = min(free // 2, CONNECTIONS_MAX)
        return cls(most, most * 3 // 4, min(free // 4, BACKLOG))

    @classmethod
    def of_this_process(cls) -> Self:
        descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return cls.of(
            descriptors if descriptors != resource.RLIM_INFINITY else 2 * CONNECTIONS_MAX + 1024, _open_files()
        )


def _open_files() -> int:
    try:
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - names alone
    except OSError:
        return FILES_UNKNOWN


class Connection(web.RequestHandler):
    """One connection, which is counted, and knows since when a header is awaited."""

    __slots__ = ("_all", "address", "awaits_since", "body")

    def __init__(self, server: web.Server, everyone: Connections, loop: asyncio.AbstractEventLoop) -> None:
        linger = everyone.bounds.header.total_seconds()
        super().__init__(server, loop=loop, lingering_time=linger, access_log=None)  # type: ignore[arg-type]  # None means none, as in AppRunner
        self._all = everyone
        self.address = ""
        self.awaits_since: float | None = loop.time()
        self.body: Body | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if isinstance(peer, tuple) else ""
        self._all.add(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._all.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._messages or self._current_request is not None:
            self.awaits_since = None
        elif self.awaits_since is None:
            self.awaits_since = self._loop.time()

    def log_exception(self, *args: Any, **kw: Any) -> None:
        """Log little of what was garbled before it reached us, which is the sender's fault: aiohttp would log a traceback for each."""
        if not isinstance(kw.get("exc_info"), (HttpProcessingError, web.RequestPayloadError)):
            super().log_exception(*args, **kw)

    @property
    def request(self) -> web.BaseRequest | None:
        """Request that is at work on it."""
        return self._current_request

    @property
    def is_idle(self) -> bool:
        return self._current_request is None and not self._messages

    @property
    def awaits_body(self) -> bool:
        """True if the request at work has not come whole: anybody can hold one so, also before they are known."""
        return self._current_request is not None and not _is_whole(self._current_request)

    def cut(self) -> None:
        """End it at once, whatever it holds."""
        if self.transport is not None:
            self.transport.abort()
        self.force_close()


def _is_whole(request: web.BaseRequest) -> bool:
    return request.content.is_eof() or request.content.at_eof()


@dataclass(slots=True)
class Body:
    """Bytes of a request's body that had come when it was last looked at, and the time of that look."""

    request: web.BaseRequest
    since: float
    received: int = 0
    refused_at: float | None = None


class Connections:
    """All connections of one listening port."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds
        self._open: dict[Connection, None] = {}  # oldest first
        self._of: Counter[str] = Counter()
        self._cut: Counter[str] = Counter()
        self._told_at: float | None = None
        self._looking: asyncio.TimerHandle | None = None

    @property
    def bounds(self) -> Bounds:
        """Counted at the first look, when the store and all else that stays open is."""
        if self._bounds is None:
            self._bounds = Bounds.of_this_process()
        return self._bounds

    def __len__(self) -> int:
        return len(self._open)

    def add(self, new: Connection) -> None:
        """Count a new one; where there are too many, one makes room."""
        self._open[new] = None
        self._of[new.address] += 1
        if len(self._open) > self.bounds.most:
            self._make_room(new, list(self._open))
        elif self._of[new.address] > self.bounds.of_one:
            self._make_room(new, [one for one in self._open if one.address == new.address])
        self._look_later()

    def remove(self, gone: Connection) -> None:
        if gone in self._open:
            del self._open[gone]
            self._of[gone.address] -= 1
            if not self._of[gone.address]:
                del self._of[gone.address]

    def no_descriptor(self) -> None:
        """A connection could not be accepted: something else uses up the descriptors of this process."""
        self._cut["without_descriptor"] += 1
        self._look_later()

    def _make_room(self, new: Connection, those: Sequence[Connection]) -> None:
        """The oldest idle one goes, else the oldest that awaits a body, else the new one."""
        idle = (one for one in those if one.is_idle and one is not new)
        half = (one for one in those if one.awaits_body)
        self._end(next(chain(idle, half), new), "too_many")

    def _end(self, one: Connection, why: str) -> None:
        self._cut[why] += 1
        self.remove(one)
        one.cut()

    def _look_later(self) -> None:
        if self._looking is None:
            self._looking = asyncio.get_running_loop().call_later(self.bounds.look.total_seconds(), self._look)

    def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        for one in list(self._open):
            if one.awaits_since is not None and now - one.awaits_since > self.bounds.header.total_seconds():
                self._end(one, "slow_header")
            elif one.request is not None:
                self._watch_body(one, one.request, now)
        self._tell(now)
        self._looking = None
        if self._open or self._cut:
            self._look_later()

    def _watch_body(self, one: Connection, request: web.BaseRequest, now: float) -> None:
        if _is_whole(request):
            one.body = None
            return
        if one.body is None or one.body.request is not request:
            one.body = Body(request, now)
        elif one.body.refused_at is not None:
            if now - one.body.refused_at > GRACE.total_seconds():
                self._end(one, "slow_body")
        elif (took := now - one.body.since) >= self.bounds.body.total_seconds():
            self._judge(one.body, took, now)

    def _judge(self, body: Body, took: float, now: float) -> None:
        """Judge if it may go on for as long again."""
        received = body.request.content.total_bytes
        if body.request.content_type == UPLOAD and received - body.received >= UPLOAD_RATE * took:
            body.since, body.received = now, received
            return
        body.refused_at = now
        body.request.content.set_exception(TooSlow())

    def _tell(self, now: float) -> None:
        """Tell what was cut, at most once in TELL."""
        if self._cut and (self._told_at is None or now - self._told_at >= TELL.total_seconds()):
            log.warning("connections were cut", open=len(self._open), most=self.bounds.most, **self._cut)
            self._cut.clear()
            self._told_at = now


class Site(web.TCPSite):
    """Listens as aiohttp does, with bounded connections."""

    def __init__(self, runner: web.AppRunner, host: str, port: int, connections: Connections | None = None) -> None:
        self._connections = Connections() if connections is None else connections  # an empty one is false
        self._shortage: Shortage | None = None
        super().__init__(runner, host, port, backlog=self._connections.bounds.backlog)

    async def start(self) -> None:
        """Errors: OSError when the port cannot be listened on."""
        await web.BaseSite.start(self)
        loop, server = asyncio.get_running_loop(), cast("web.Server", self._runner.server)
        self._server = await loop.create_server(
            lambda: Connection(server, self._connections, loop), self._host, self._port, backlog=self._backlog
        )
        self._shortage = Shortage.of(loop)
        self._shortage.tell(self._connections.no_descriptor, [one.fileno() for one in self._server.sockets])

    async def stop(self) -> None:
        if self._shortage is not None:
            self._shortage.forget(self._connections.no_descriptor)
        await super().stop()
