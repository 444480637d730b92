"""Everything behind `/a2a`: requests of JSON-RPC by either version, answered from rows, so that any node answers."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from datetime import timedelta
from typing import Any, Final

from aiohttp import web

from bot.doors.a2a.card import card, old_card
from bot.doors.a2a.pushes import A2aPushes
from bot.doors.a2a.tasks import A2aTasks
from bot.doors.a2a.wire import OLD_NAMES, A2aError, Code, Dialect, Method, Shown, failure, link_of, task, updates
from bot.doors.callers import Caller
from bot.doors.conversing import Conversing
from bot.doors.streams import STREAM_BEAT, STREAM_LIFE, Streams, begun, sent
from bot.operator.context import OperatorContext
from runtime.contract import SignalId
from runtime.domain.programs.followed import Followed
from runtime.http.bodies import BODY_LIMIT, read_object
from runtime.http.errors import Refusal

A2A_PATH: Final = "/a2a"
A2A_BODY_MAX_BYTES: Final = 8 * BODY_LIMIT
"""Of a request: files come within messages."""
CARD_PATH: Final = "/.well-known/agent-card.json"
VERSION_HEADER: Final = "A2A-Version"
PEER_HELD_MAX: Final = timedelta(seconds=280)
"""Longest wait of a request without a stream, below the five minutes of common clients."""
PEER_BEAT: Final = b": still here\n\n"
BY_POST: Final = "Send requests of A2A by POST, as JSON-RPC."
NO_VERSION: Final = "This version of A2A isn't spoken here. There are 1.0 and 0.3."
NO_METHOD: Final = "There is no method {name!r}."
NO_REQUEST: Final = "This is no request of JSON-RPC 2.0."
OVER_ALREADY: Final = "This task is over, so nothing more comes of it. GetTask has it."
CODES_OF_STATUS: Final[Mapping[int, Code]] = {404: Code.TASK_NOT_FOUND, 422: Code.INVALID_PARAMS}
PUSH: Final = frozenset({Method.PUSH_CREATE, Method.PUSH_GET, Method.PUSH_LIST, Method.PUSH_DELETE})


class A2aHouse:
    def __init__(self, context: OperatorContext, conversing: Conversing) -> None:
        self._context = context
        self._conversing = conversing
        self._tasks = A2aTasks(context, conversing)
        self._pushes = A2aPushes(context, self._tasks)
        self._link = link_of(context.public_url, context.named)
        self._streams = Streams()
        self._answers: Mapping[Method, Callable[[Caller, Shown, str, Dialect], Awaitable[Shown]]] = {
            Method.SEND: self._send,
            Method.GET: self._get,
            Method.LIST: self._list,
            Method.CANCEL: self._cancel,
        }

    def open_card(self, request: web.Request) -> web.Response:
        """The card for everybody: it tells nothing of this installation."""
        words = request.headers.get(VERSION_HEADER, "")
        return web.json_response(self._card(request, Dialect.OLD if words.startswith(Dialect.OLD) else Dialect.ONE))

    def _card(self, request: web.Request, dialect: Dialect, agents: list[str] | None = None) -> Shown:
        base = self._context.public_url or f"{request.scheme}://{request.host}"
        made = old_card if dialect is Dialect.OLD else card
        return made(f"{base}{A2A_PATH}", self._context.info.get("version", ""), agents or ())

    async def serve(self, request: web.Request, caller: Caller) -> web.StreamResponse:
        """One request. Errors: Refusal 403, 405, 413, 429; all else is answered as JSON-RPC."""
        if request.method != "POST":
            raise Refusal(405, BY_POST, Allow="POST")
        name, dialect = None, Dialect.ONE
        try:
            asked = await _read(request)
            name, dialect = asked.get("id"), _dialect(request, asked)
            return await self._answered(request, caller, asked, dialect)
        except A2aError as error:
            return web.json_response(_reply(name, error=failure(error, dialect)))
        except Refusal as refusal:
            if refusal.status in (403, 413, 429, 503):
                raise
            told = A2aError(CODES_OF_STATUS.get(refusal.status, Code.INVALID_PARAMS), refusal.sentence)
            return web.json_response(_reply(name, error=failure(told, dialect)))

    async def _answered(
        self, request: web.Request, caller: Caller, asked: Shown, dialect: Dialect
    ) -> web.StreamResponse:
        method, params = _method(asked, dialect), asked.get("params")
        given: Shown = params if isinstance(params, dict) else {}
        agent = request.path.removeprefix(A2A_PATH).strip("/")
        if method in PUSH:
            return web.json_response(
                _reply(asked.get("id"), result=await self._pushes.answer(method, caller, given, dialect))
            )
        if method is Method.CARD:
            names = self._conversing.agents(caller)
            return web.json_response(_reply(asked.get("id"), result=self._card(request, dialect, names)))
        if method in (Method.STREAM, Method.SUBSCRIBE):
            return await self._stream(request, caller, asked, method, given, agent, dialect)
        result = await self._answers[method](caller, given, agent, dialect)
        return web.json_response(_reply(asked.get("id"), result=result))

    async def _send(self, caller: Caller, given: Shown, agent: str, dialect: Dialect) -> Shown:
        taken = await self._taken(caller, given, agent, dialect)
        terms = given.get("configuration") or {}
        is_held = not terms.get("returnImmediately", False) and terms.get("blocking", True)
        within = PEER_HELD_MAX if is_held else timedelta()
        found = await self._conversing.answered(caller, taken, within)
        made = task(found, dialect, self._link)
        return made if dialect is Dialect.OLD else {"task": made}

    async def _taken(self, caller: Caller, given: Shown, agent: str, dialect: Dialect) -> SignalId:
        """The message, taken in, and the place that came with it."""
        place = await self._pushes.wanted(caller, given, dialect)
        name = await self._tasks.send(caller, given, agent)
        if place is not None:
            await self._pushes.keep(caller, name, place, dialect)
        return name

    async def _get(self, caller: Caller, given: Shown, agent: str, dialect: Dialect) -> Shown:
        found = await self._tasks.found(caller, given)
        return task(found, dialect, self._link, own=given.get("historyLength") != 0)

    async def _list(self, caller: Caller, given: Shown, agent: str, dialect: Dialect) -> Shown:
        found, following, total = await self._tasks.listed(caller, given)
        rows = [task(one, dialect, self._link, own=False) for one in found]
        return {"tasks": rows, "nextPageToken": following, "pageSize": len(rows), "totalSize": total}

    async def _cancel(self, caller: Caller, given: Shown, agent: str, dialect: Dialect) -> Shown:
        return task(await self._tasks.cancelled(caller, given), dialect, self._link)

    async def _stream(
        self,
        request: web.Request,
        caller: Caller,
        asked: Shown,
        method: Method,
        given: Shown,
        agent: str,
        dialect: Dialect,
    ) -> web.StreamResponse:
        """The task as it stands, and each change until it is over or asks people."""
        with self._streams.opened(caller):
            if method is Method.STREAM:
                name = await self._taken(caller, given, agent, dialect)
                first = await self._conversing.look(caller, name)
            else:
                first = await self._tasks.found(caller, given)
                if first.state.is_over and dialect is Dialect.ONE:
                    raise A2aError(Code.UNSUPPORTED_OPERATION, OVER_ALREADY)
            response = await begun(request)
            opening = task(first, dialect, self._link)
            await _tell(response, asked, opening if dialect is Dialect.OLD else {"task": opening})
            await self._follow(response, caller, asked, first, dialect)
            return response

    async def _follow(
        self, response: web.StreamResponse, caller: Caller, asked: Shown, first: Followed, dialect: Dialect
    ) -> None:
        last, beats = first, STREAM_LIFE // STREAM_BEAT
        if last.state.is_over or last.questions:
            for event in updates(last, dialect, self._link):
                await _tell(response, asked, event)
            return
        for _ in range(beats):
            async with aclosing(self._conversing.follow(caller, first.id, STREAM_BEAT)) as changes:
                async for found in changes:
                    if found.state is not last.state:
                        for event in updates(found, dialect, self._link):
                            await _tell(response, asked, event)
                    last = found
                    if found.state.is_over or found.questions:
                        return
            await sent(response, PEER_BEAT)


async def _tell(response: web.StreamResponse, asked: Shown, event: Shown) -> None:
    data = json.dumps(_reply(asked.get("id"), result=event), ensure_ascii=False)
    await sent(response, f"data: {data}\n\n".encode())


async def _read(request: web.Request) -> Shown:
    try:
        asked = await read_object(request, A2A_BODY_MAX_BYTES)
    except Refusal as refusal:
        if refusal.status == 413:
            raise
        raise A2aError(Code.PARSE, refusal.sentence) from refusal
    if asked.get("jsonrpc") != "2.0" or not isinstance(asked.get("method"), str):
        raise A2aError(Code.INVALID_REQUEST, NO_REQUEST)
    return asked


def _dialect(request: web.Request, asked: Mapping[str, Any] | None = None) -> Dialect:
    """The version that is asked for; the names of methods tell it where nothing else does."""
    words = request.headers.get(VERSION_HEADER) or request.query.get(VERSION_HEADER)
    if words is None:
        return Dialect.OLD if asked and asked.get("method") in OLD_NAMES else Dialect.ONE
    for one in Dialect:
        if words == one or words.startswith(f"{one}."):
            return one
    raise A2aError(Code.VERSION_NOT_SUPPORTED, NO_VERSION)


def _method(asked: Mapping[str, Any], dialect: Dialect) -> Method:
    name = asked["method"]
    if name in OLD_NAMES and dialect is Dialect.OLD:
        return OLD_NAMES[name]
    if name not in set(Method) or dialect is Dialect.OLD:
        raise A2aError(Code.NO_METHOD, NO_METHOD.format(name=name[:64]))
    return Method(name)


def _reply(name: object, **told: Any) -> Shown:
    return {"jsonrpc": "2.0", "id": name if isinstance(name, str | int) else None, **told}
