"""A proxy before a homeserver: a bot's calls go through it, and meet the faults that a test puts there.

What the homeserver answers is its own; only the way to it is ours.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
from aiohttp import web
from yarl import URL

from bot.testing.serve import abort, serving

Raw = dict[str, Any]

KEPT_BACK: Final = frozenset({"host", "transfer-encoding", "content-length", "content-encoding", "connection"})
CUTS: Final = frozenset({"cut before", "cut after", "cut late"})


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing going wrong: a word of `Trouble`, and its seconds."""

    do: str
    seconds: float = 0.0


class Proxy:
    """`moments` is told of each call of the bot's before it passes, once it was applied, and once it was answered: a call
    for which it says False is cut there."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.faults: dict[str, deque[Fault]] = defaultdict(deque)
        self.token = False
        self.away = False
        self.again: list[tuple[str, Raw]] = []
        self.moments: Callable[[str, str], bool] = pass_on
        self._applied: set[str] = set()
        self._deaf_next = False
        self._syncs: set[_Sync] = set()
        self._late: set[asyncio.Task[None]] = set()
        self._http: aiohttp.ClientSession | None = None

    # ------------------------------------------------------------------------------------------------------- faults

    def add(self, on: str, do: str, count: int, seconds: float) -> None:
        self.faults[on].extend([Fault(do, seconds)] * count)

    def drop(self) -> None:
        for sync in list(self._syncs):
            sync.cut.set()

    def deafen(self) -> None:
        """Syncs under way stay open, and nothing comes on them; the next ones are as ever."""
        self._deaf_next = not self._syncs
        for sync in self._syncs:
            sync.is_deaf = True

    def lift(self) -> None:
        self.token = self.away = self._deaf_next = False
        self.faults.clear()

    # ------------------------------------------------------------------------------------------------------ the way

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._handle)
        async with aiohttp.ClientSession(auto_decompress=False) as self._http, serving(app) as url:
            try:
                yield url
            finally:
                for task in self._late:
                    task.cancel()
                self.drop()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if self.token:
            return _refused(401, "M_UNKNOWN_TOKEN", "Unrecognised access token")
        if self.away:
            return web.Response(status=503, text="away")
        if request.path.endswith("/sync"):
            return await self._sync(request, body)
        kind = _kind(request, body)
        fault = self._strike(kind, request.path, body)
        if fault is not None:
            return await self._failed(request, body, fault)
        if not self.moments("before", kind):
            return abort(request)
        answer = await self._passed(request, body)
        if not self.moments("applied", kind):
            return abort(request)
        with suppress(ConnectionResetError):  # the bot has gone meanwhile
            await answer.prepare(request)
            await answer.write_eof()
        self.moments("answered", kind)
        return answer

    def _strike(self, kind: str, path: str, body: bytes) -> Fault | None:
        queue = self.faults.get(kind)
        if not queue or path in self._applied:
            return None
        if queue[0].do == "form" and not _is_rich(body):
            return None
        return queue.popleft()

    async def _failed(self, request: web.Request, body: bytes, fault: Fault) -> web.StreamResponse:
        match fault.do:
            case "rate":
                more = {"retry_after_ms": int(fault.seconds * 1000)}
                return _refused(429, "M_LIMIT_EXCEEDED", "Too many requests", **more)
            case "error":
                return _refused(500, "M_UNKNOWN", "Internal server error")
            case "closed":
                return _refused(403, "M_FORBIDDEN", "User not in room")
            case "form":
                return _refused(413, "M_TOO_LARGE", "event too large")
            case "cut after":
                await self._passed(request, body)
            case "cut late":
                task = asyncio.get_running_loop().create_task(self._later(request, body, fault.seconds))
                self._late.add(task)
                task.add_done_callback(self._late.discard)
            case _:
                pass
        return abort(request)

    async def _later(self, request: web.Request, body: bytes, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._passed(request, body)

    async def _passed(self, request: web.Request, body: bytes) -> web.Response:
        assert self._http is not None
        url = f"{self.upstream}{request.raw_path}"
        headers = {name: value for name, value in request.headers.items() if name.lower() not in KEPT_BACK}
        try:
            async with self._http.request(
                request.method,
                URL(url, encoded=True),
                data=body or None,
                headers=headers,
                allow_redirects=False,
            ) as answer:
                content = await answer.read()
                if answer.status == 200 and "/send/" in request.path:
                    self._applied.add(request.path)
                kept = {name: value for name, value in answer.headers.items() if name.lower() not in KEPT_BACK}
                return web.Response(status=answer.status, body=content, headers=kept)
        except aiohttp.ClientError:
            return abort(request)

    async def _sync(self, request: web.Request, body: bytes) -> web.StreamResponse:
        sync = _Sync(is_deaf=self._deaf_next)
        self._deaf_next = False
        self._syncs.add(sync)
        passing = asyncio.ensure_future(self._passed(request, body))
        cut = asyncio.ensure_future(sync.cut.wait())
        try:
            await asyncio.wait({passing, cut}, return_when=asyncio.FIRST_COMPLETED)
            if sync.is_deaf:
                await sync.cut.wait()
            if sync.cut.is_set() or self.token or self.away:
                return abort(request)
            return self._with_again(await passing)
        finally:
            self._syncs.discard(sync)
            passing.cancel()
            cut.cancel()

    def _with_again(self, answer: web.Response) -> web.Response:
        """The answer with events in it that it told before."""
        if not self.again or answer.status != 200 or not isinstance(answer.body, bytes):
            return answer
        told = json.loads(answer.body)
        for room, event in self.again:
            here = told.setdefault("rooms", {}).setdefault("join", {}).setdefault(room, {})
            events = here.setdefault("timeline", {}).setdefault("events", [])
            events.insert(0, event)
        self.again.clear()
        return web.json_response(told)


def pass_on(moment: str, kind: str) -> bool:
    """Let every call pass."""
    return True


@dataclass(eq=False)
class _Sync:
    is_deaf: bool = False

    def __post_init__(self) -> None:
        self.cut = asyncio.Event()


def _kind(request: web.Request, body: bytes) -> str:
    if request.method != "PUT" or "/send/m.room.message/" not in request.path:
        return ""
    content = json.loads(body)
    if content.get("msgtype") == "m.notice":
        return "notice"
    return "edit" if "m.new_content" in content else "send"


def _is_rich(body: bytes) -> bool:
    content = json.loads(body)
    return "formatted_body" in content or "url" in content


def _refused(status: int, code: str, text: str, **more: Any) -> web.Response:
    return web.json_response({"errcode": code, "error": text, **more}, status=status)
