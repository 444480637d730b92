"""The console's routes, for the one application of the process.

Its pages, and what they are made of, are loaded with the first that somebody opens: most processes show none for hours.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache, partial
from pathlib import Path
from typing import Final

from aiohttp import web

from bot.http.downloads import Downloads
from bot.http.entrance import Entrance
from bot.http.event_stream import EventStream
from bot.http.joining import Joining
from bot.http.operator_api import operator_routes
from bot.operator.context import OperatorContext
from runtime.http.assets import Asset, answer, asset_of

STATIC_FOLDER: Final = Path(__file__).parent / "static"
ASSETS: Final = ("console.css", "console.js", "logs.js", "schedules.js", "settings.css", "settings.js")


def console_routes(context: OperatorContext) -> list[web.RouteDef]:
    """Pages under /console and the API under /console/api. They rely on `runtime.http.guard` standing before them."""
    if not context.control_token:
        raise ValueError("an empty control token would let everybody in")
    entrance = Entrance(context)
    stream = EventStream(context, entrance)
    return [
        *operator_routes(context, entrance),
        *stream.routes(),
        *Joining(context, entrance).routes(),
        *Downloads(context, entrance).routes(),
        *_pages(context, entrance),
    ]


def _pages(context: OperatorContext, entrance: Entrance) -> list[web.RouteDef]:
    page = partial(_serving, context, entrance)
    return [
        web.get("/console", page("overview")),
        web.get("/console/", page("without slash")),
        web.get("/console/agents", page("agents")),
        web.get("/console/approvals", page("approvals")),
        web.get("/console/children", page("children")),
        web.get("/console/events", page("events")),
        web.get("/console/feedback", page("feedback")),
        web.get("/console/goals", page("goals")),
        web.get("/console/goals/{id}", page("goal")),
        web.get("/console/grants", page("grants")),
        web.get("/console/health", page("health")),
        web.get("/console/knowledge", page("knowledge")),
        web.get("/console/logs", page("logs")),
        web.get("/console/memory", page("memory")),
        web.get("/console/models", page("models")),
        web.get("/console/outbox", page("outbox")),
        web.get("/console/outbox/{id}", page("delivery")),
        web.get("/console/people", page("people")),
        web.get("/console/people/{id}", page("person")),
        web.get("/console/people/{id}/merge", page("merge")),
        web.get("/console/reports", page("reports")),
        web.get("/console/runs", page("runs")),
        web.get("/console/runs/{id}", page("run")),
        web.get("/console/schedules", page("schedules")),
        web.get("/console/schedules/new", page("new schedule")),
        web.get("/console/schedules/{id}", page("schedule")),
        web.get("/console/settings", page("settings")),
        web.get("/console/settings/{id}", page("setting")),
        web.get("/console/settings-channels", page("settings channels")),
        web.get("/console/settings-model", page("settings model")),
        web.get("/console/schedules/{id}/edit", page("schedule form")),
        web.get("/console/skills", page("skills")),
        web.get("/console/tasks", page("tasks")),
        web.get("/console/tasks/{id}", page("task")),
        web.get("/console/tokens", page("tokens")),
        web.get("/console/trace", page("newest trace")),
        web.get("/console/trace/{id}", page("trace")),
        web.get("/console/triggers", page("triggers")),
        web.get("/console/workflows", page("workflows")),
        web.get("/console/workflows/{id}", page("workflow")),
        web.get("/console/static/{name}", _asset),
    ]


def _serving(
    context: OperatorContext, entrance: Entrance, name: str
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def serve(request: web.Request) -> web.StreamResponse:
        actor = await entrance.actor(request)
        from bot.console.pages import PAGE_MAKERS
        from bot.operator.operations import Operations

        return web.Response(text=await PAGE_MAKERS[name](request, Operations(context, actor)), content_type="text/html")

    return serve


async def _asset(request: web.Request) -> web.Response:
    """The console's own style and script: nothing in them is secret."""
    asset = _kept_asset(request.match_info["name"])
    if asset is None:
        raise web.HTTPNotFound
    return answer(request, asset)


@cache
def _kept_asset(name: str) -> Asset | None:
    """Read with the first page that wants it."""
    return asset_of(name, (STATIC_FOLDER / name).read_bytes()) if name in ASSETS else None
