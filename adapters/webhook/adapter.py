"""The webhooks of the settings: `POST /hooks/NAME`, answered once what it brought is committed.

Whoever cannot prove that it may learns nothing: an unknown name and a wrong proof get the same answer, after the same
work. Nothing is stored of what is refused before the sink. The sender repeats what was answered 429 or 503, or not at all;
the repeat is known by its id.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Final

import structlog
from aiohttp import web

from adapters.webhook.keys import NoId, keys_of
from adapters.webhook.pace import NO_WAIT, Pace, ticking
from adapters.webhook.parse import Told, signal_of, told_of
from adapters.webhook.payload import Unknown, Unreadable, payload_of
from adapters.webhook.proof import Proven, proven
from adapters.webhook.settings import ROUTE, Hook, Proof
from runtime.contract import Address, Identity, Now, Outcome, Sink, Verdict
from runtime.errors import Rejected, StoreError
from runtime.http.bodies import read

log = structlog.get_logger("hooks")

READ_WITHIN: Final = timedelta(seconds=20)
RETRY_AFTER: Final = timedelta(seconds=5)
"""When a sender is told to come back, while we are away."""

STRANGER: Final = "There is no hook of this name, or its secret is missing or wrong."
LATE: Final = (
    "The signature is valid, but the timestamp is too far from our time. Check your clock, then sign it again."
)
BY_POST: Final = "Call a hook with POST."
TOO_LARGE: Final = "A hook takes at most 1 MiB."
TOO_SLOW: Final = "The body didn't arrive in time. Send it again."
BODY_CUT: Final = "The body was cut off, or can't be unpacked."
TOO_MANY: Final = "This hook is called too often. Send it again after the time in Retry-After."
NO_ID: Final = "The header {name} is missing. This hook needs it to recognise repeats (dedupe_header)."
CLOSED: Final = "Not accepted: the room is off, or the person this hook acts for may not speak there."
AWAY: Final = "This can't be accepted right now. Send it again."
REFUSED: Final = (Outcome.REFUSED, Outcome.IGNORED)

AddressOf = Callable[[str], Address | None]
"""The room that settings write so; None while its account is not known to its platform."""
ActorOf = Callable[[Hook], Identity | None]
"""As whom a hook acts; None as above."""
Keep = Callable[[Address, str, bytes], None]
"""Writes a file of a room's workspace, whole; blocks. Errors: OSError."""


class Webhooks:
    """All of them. The composition root mounts `routes` where no browser's cookie counts."""

    def __init__(
        self,
        hooks: Iterable[Hook],
        *,
        address_of: AddressOf,
        actor_of: ActorOf,
        keep: Keep,
        now: Now,
        ticks: Callable[[], timedelta] = ticking,
        read_within: timedelta = READ_WITHIN,
    ) -> None:
        self._hooks = {hook.name: hook for hook in hooks}
        self._paces = {name: Pace(hook.per_minute, ticks) for name, hook in self._hooks.items()}
        self._nobody = Proof("token", secrets.token_urlsafe())
        self._address_of = address_of
        self._actor_of = actor_of
        self._keep = keep
        self._now = now
        self._read_within = read_within
        self._sink: Sink | None = None

    def routes(self) -> list[web.RouteDef]:
        """None where no hook is set."""
        return [web.route("*", ROUTE, self.receive)] if self._hooks else []

    async def listen(self, sink: Sink) -> None:
        """Take in what comes, until cancelled."""
        self._sink = sink
        try:
            await asyncio.Event().wait()
        finally:
            self._sink = None

    async def receive(self, request: web.Request) -> web.Response:
        """Check method and size first, which is asked of everybody. Then the proof, and only then what else is wrong."""
        if request.method != "POST":
            return refused(405, BY_POST, Allow="POST")
        try:
            async with asyncio.timeout(self._read_within.total_seconds()):
                body = await read(request)
        except TimeoutError:
            return refused(408, TOO_SLOW)
        except web.RequestPayloadError:
            return refused(400, BODY_CUT)
        if body is None:
            return refused(413, TOO_LARGE)
        return await self._admitted(request, body)

    async def _admitted(self, request: web.Request, body: bytes) -> web.Response:
        name = request.match_info["name"]
        hook = self._hooks.get(name)
        match proven(hook.proof if hook else self._nobody, request.headers, body, self._now()):
            case Proven.YES if hook:
                return await self._paced(hook, request, body)
            case Proven.LATE:
                log.info("a request was too late", hook=name)
                return refused(401, LATE)
            case _:
                log.info("a request proved nothing", hook=name[:64], known=hook is not None)
                return refused(401, STRANGER)

    async def _paced(self, hook: Hook, request: web.Request, body: bytes) -> web.Response:
        if (wait := self._paces[hook.name].take()) > NO_WAIT:
            log.warning("a hook is called too often", hook=hook.name, per_minute=hook.per_minute)
            return refused(429, TOO_MANY, wait=wait)
        try:
            payload = payload_of(request.content_type, request.charset, body, hook.fields)
            told = told_of(hook, request.headers, payload, body, self._now())
            return await self._taken(hook, request.headers, body, told)
        except Unknown as error:
            return refused(415, str(error))
        except Unreadable as error:
            return refused(400, str(error))
        except NoId as error:
            return refused(400, NO_ID.format(name=error))

    async def _taken(self, hook: Hook, headers: Mapping[str, str], body: bytes, told: Told) -> web.Response:
        """202 once it is committed. Errors: NoId."""
        now, address, actor = self._now(), self._address_of(hook.to), self._actor_of(hook)
        keys = keys_of(hook, headers, body, now)
        if self._sink is None or address is None or actor is None:
            log.warning("not taken in: its room is not known to its platform yet", hook=hook.name, to=hook.to)
            return refused(503, AWAY, wait=RETRY_AFTER)
        try:
            if told.file:
                await asyncio.to_thread(self._keep, address, told.file.path, body)
            return answer(await self._sink(signal_of(hook, told, keys, actor=actor, address=address, now=now)))
        except (StoreError, Rejected, OSError) as error:
            log.warning("not taken in, so the sender is asked to repeat it", hook=hook.name, reason=str(error))
            return refused(503, AWAY, wait=RETRY_AFTER)


def answer(verdict: Verdict) -> web.Response:
    """Response to the sender, by the verdict."""
    match verdict.outcome:
        case Outcome.DUPLICATE:
            return web.json_response({"id": verdict.signal_id, "duplicate": True})
        case outcome if outcome in REFUSED:
            return refused(403, CLOSED)
        case _:
            return web.json_response({"id": verdict.signal_id}, status=202)


def refused(status: int, sentence: str, *, wait: timedelta | None = None, **headers: str) -> web.Response:
    """`wait` is told in whole seconds, upwards."""
    if wait is not None:
        headers["Retry-After"] = str(math.ceil(wait.total_seconds()))
    return web.json_response({"error": sentence}, status=status, headers=headers)
