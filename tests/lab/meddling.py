"""A platform's events, meddled with on their way: repeated, turned round, or with ids that are null."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Any, Final

import aiohttp
from aiohttp import web

from bot.testing.serve import serving

Event = dict[str, Any]
Meddle = Callable[[list[Event]], list[Event]]

POLL: Final = "getUpdates"
KEPT: Final = frozenset({"content-type", "date", "retry-after"})


def repeated(events: list[Event]) -> list[Event]:
    """Each a second time, behind all others."""
    return [*events, *deepcopy(events)]


def turned(events: list[Event]) -> list[Event]:
    return events[::-1]


def with_nulls(events: list[Event]) -> list[Event]:
    """Beside each stands one whose ids are null, and one of a kind that nobody knows."""
    return [one for event in events for one in (nulled(event), event, {"update_id": event["update_id"], "riddle": {}})]


def nulled(event: Event) -> Event:
    """As `event`, with null for every id in it; its own number stays, or nobody could confirm it."""
    found: Event = _nulled(event)
    return {**found, "update_id": event["update_id"]}


def _nulled(value: Any) -> Any:
    match value:
        case dict():
            return {key: None if key.endswith("id") else _nulled(one) for key, one in value.items()}
        case list():
            return [_nulled(one) for one in value]
        case _:
            return value


@asynccontextmanager
async def meddled(platform: str, meddle: Meddle) -> AsyncIterator[str]:
    """A server before `platform` whose polls are answered as `meddle` says; its URL."""
    async with aiohttp.ClientSession() as http:

        async def pass_on(request: web.Request) -> web.Response:
            body = await request.read()
            kept = {"Content-Type": request.headers.get("Content-Type", "")}
            async with http.request(request.method, platform + request.path_qs, data=body, headers=kept) as answer:
                told = await answer.read()
                headers = {name: value for name, value in answer.headers.items() if name.lower() in KEPT}
                if request.path.endswith(POLL) and answer.status == 200:
                    found = json.loads(told)
                    told = json.dumps({**found, "result": meddle(found["result"])}).encode()
                return web.Response(status=answer.status, body=told, headers=headers)

        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/{path:.*}", pass_on)
        async with serving(app) as url:
            yield url
