"""House of the doors: the one handler behind their routes, which lets in, finds the door and serves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, cast

from aiohttp import web

from bot.doors.callers import Callers
from bot.doors.conversing import Conversing
from bot.doors.live.growing import GrowingAnswers
from bot.doors.live.hearing import Hearing
from bot.doors.openai.doors import OpenAiDoors
from bot.doors.openapi import document_of
from bot.doors.operations import operation_doors
from bot.doors.page.conversations import ConversationDoors
from bot.doors.page.copies import CopyDoors
from bot.doors.page.visitors import PageVisitors
from bot.doors.places import PlaceDoors
from bot.doors.rest import RestDoors
from bot.doors.rooms import ProgramRooms
from bot.doors.run_stream import RunStreamDoor
from bot.doors.streams import Streams
from bot.doors.table import Asked, Door, DoorTable
from bot.operator.context import OperatorContext

if TYPE_CHECKING:
    from bot.doors.a2a.house import A2aHouse
    from bot.doors.mcp.house import McpHouse

DOCUMENT_PATH: str = "/api/v1/openapi.json"
REST_PATHS: str = "/api/v1/"
MCP_PATH: str = "/mcp"
A2A_PATHS: tuple[str, ...] = ("/a2a", "/.well-known/agent-card.json")


def doors_of(context: OperatorContext, conversing: Conversing, rooms: ProgramRooms, hearing: Hearing) -> list[Door]:
    """Every door, by the document and then those of OpenAI's clients."""
    growing = GrowingAnswers(context, conversing, hearing)
    streams = Streams()
    rest, openai = RestDoors(context, conversing, rooms, growing, streams), OpenAiDoors(context, conversing, growing)
    run_doors, operations = RunStreamDoor(context, rooms, streams).doors(), operation_doors(context, rooms)
    places = [*PlaceDoors(context, rooms).doors(), *ConversationDoors(context, rooms).doors()]
    places += CopyDoors(context, rooms).doors()
    return [*rest.doors(), *places, *run_doors, *operations, *openai.doors()]


def declared_doors() -> list[Door]:
    """Every door without a process behind it, to be told of."""
    nothing = cast(OperatorContext, None)
    rooms = ProgramRooms(nothing)
    return doors_of(nothing, Conversing(nothing, rooms), rooms, Hearing())


class House:
    """Everything behind the doors of one process."""

    def __init__(self, context: OperatorContext) -> None:
        self.callers = Callers(context.store.programs, context.now, command=context.command, second=context.auth.holder)
        self._at_page = PageVisitors(context).caller
        self._context = context
        self._rooms = ProgramRooms(context)
        self.conversing = Conversing(context, self._rooms)
        hearing = Hearing()
        context.overhear(hearing.heard)
        self.table = DoorTable(doors_of(context, self.conversing, self._rooms, hearing))

    @cached_property
    def document(self) -> dict[str, object]:
        """The OpenAPI document. It is open to everybody: it tells nothing of this installation."""
        return document_of(self.table.doors)

    @cached_property
    def mcp(self) -> McpHouse:
        """Loaded with the first request of its kind."""
        from bot.doors.mcp.house import McpHouse

        return McpHouse(self._context, self.conversing, self._rooms)

    @cached_property
    def a2a(self) -> A2aHouse:
        """Loaded with the first request of its kind."""
        from bot.doors.a2a.house import A2aHouse

        return A2aHouse(self._context, self.conversing)

    async def handler(self, request: web.Request) -> web.StreamResponse:
        if request.path == DOCUMENT_PATH and request.method in ("GET", "HEAD"):
            return web.json_response(self.document)
        if request.path == A2A_PATHS[1]:
            return self.a2a.open_card(request)
        is_rest = request.path.startswith(REST_PATHS)
        caller = await self.callers.caller(request, self._at_page if is_rest else None)
        if request.path.startswith(A2A_PATHS[0]):
            return await self.a2a.serve(request, caller)
        if request.path == MCP_PATH:
            return await self.mcp.serve(request, caller)
        door, pieces = self.table.found(request)
        caller.must_be(door.role)
        return await door.serve(Asked(request, caller, pieces))


def house_of(context: OperatorContext) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """The handler of a house that is made now."""
    return House(context).handler
