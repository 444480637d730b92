"""The console's routes, for the one application of the process."""

from __future__ import annotations

from aiohttp import web

from bot.console.pages import Pages
from bot.http.entrance import Entrance
from bot.http.event_stream import EventStream
from bot.http.operator_api import operator_routes
from bot.operator.context import OperatorContext


def console_routes(context: OperatorContext) -> list[web.RouteDef]:
    """Pages under /console and the API under /console/api. They rely on `runtime.http.guard` standing before them."""
    if not context.control_token:
        raise ValueError("an empty control token would let everybody in")
    entrance = Entrance(context)
    stream = EventStream(context, entrance)
    return [*operator_routes(context, entrance), *stream.routes(), *Pages(context, entrance).routes()]
