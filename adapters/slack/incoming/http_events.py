"""Events over HTTP: a route of our own web server, for requests that carry Slack's signature."""

from __future__ import annotations

import re
from typing import Final

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest

from runtime.http.bodies import read

TYPES: Final = frozenset({"application/json", "application/x-www-form-urlencoded"})
STAMP: Final = re.compile(r"[0-9]{1,12}")


class HttpEvents:
    """Bolt checks signature and age (5 minutes) of a request before anything of it is read as an event."""

    def __init__(self, account: str, app: AsyncApp) -> None:
        self.path = f"/slack/{account}/events"
        self._app = app

    def routes(self) -> list[web.RouteDef]:
        return [web.post(self.path, self.receive)]

    async def receive(self, request: web.Request) -> web.Response:
        if request.content_type not in TYPES:
            return web.Response(status=415, text="Slack sends JSON or a form.")
        if not STAMP.fullmatch(request.headers.get("X-Slack-Request-Timestamp", "")):
            return web.Response(status=401, text="Slack signs its requests.")  # bolt would stumble over it
        raw = await read(request)
        if raw is None:
            return web.Response(status=413, text="The request is too large.")
        try:
            body = raw.decode()
            asked = AsyncBoltRequest(body=body, query=request.query_string, headers=dict(request.headers))
        except (ValueError, TypeError, AttributeError, KeyError):
            return web.Response(status=400, text="The body cannot be read.")
        return await to_aiohttp_response(await self._app.async_dispatch(asked))
