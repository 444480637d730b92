"""Routes of the doors: a few, whatever is behind; all else is loaded by the first request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import import_module
from typing import Final

from aiohttp import web

from bot.operator.context import OperatorContext

DOOR_PATHS: Final = ("/api/v1/{path}", "/v1/{path}", "/mcp", "/a2a", "/a2a/{path}", "/.well-known/agent-card.json")
"""As the router names them. They check each request by its token, and any host may be named; a cookie counts at the REST API
alone, for requests that `check_page` finds to be of our own page."""


def door_routes(context: OperatorContext) -> list[web.RouteDef]:
    """The routes of the doors."""

    @cache
    def handler() -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        made: Callable[[web.Request], Awaitable[web.StreamResponse]] = import_module("bot.doors.house").house_of(
            context
        )
        return made

    async def serve(request: web.Request) -> web.StreamResponse:
        return await handler()(request)

    return [
        web.route("*", "/api/v1/{path:.*}", serve),
        web.route("*", "/v1/{path:.*}", serve),
        web.route("*", "/mcp", serve),
        web.route("*", "/a2a", serve),
        web.route("*", "/a2a/{path}", serve),
        web.get("/.well-known/agent-card.json", serve, allow_head=False),
    ]
