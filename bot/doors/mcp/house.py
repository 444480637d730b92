"""Everything behind `/mcp`: a request is one exchange of its own, so a restart in between is not noticed."""

from __future__ import annotations

import logging
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from bot.doors.callers import Caller
from bot.doors.conversing import Conversing
from bot.doors.mcp.asgi import bridged
from bot.doors.mcp.offers import Offers
from bot.doors.mcp.operating import OperatingOffers
from bot.doors.mcp.resources import Resources
from bot.doors.mcp.server import CALLER, server_of
from bot.doors.mcp.talking import TalkingOffers
from bot.doors.page.conversations import ConversationDoors
from bot.doors.places import PlaceDoors
from bot.doors.rooms import ProgramRooms
from bot.operator.context import OperatorContext
from runtime.http.errors import Refusal
from runtime.http.guard import is_our_host

MCP_BYTES_MAX: Final = 1 << 20
NO_STREAM: Final = "This server begins no stream by itself: send each request by POST."
FOREIGN_PAGE: Final = "A page of another site asks. Programs send no Origin header."


class McpHouse:
    def __init__(self, context: OperatorContext, conversing: Conversing, rooms: ProgramRooms) -> None:
        self._public_host = (urlsplit(context.public_url).netloc or "").lower()
        places = PlaceDoors(context, rooms)
        talking = TalkingOffers(context, conversing, places, ConversationDoors(context, rooms))
        offers = Offers([*talking.offers(), *OperatingOffers(context, rooms).offers()])
        self._server = server_of(offers, Resources(context, rooms, places), context.info.get("version", ""))
        # It tells the start and the end of each exchange, which is each request here.
        logging.getLogger("mcp.server.streamable_http_manager").setLevel(logging.WARNING)

    async def serve(self, request: web.Request, caller: Caller) -> web.StreamResponse:
        """One request of the protocol. Errors: Refusal 403 for a page of another site, 405 for anything but a POST."""
        if request.method != "POST":
            raise Refusal(405, NO_STREAM, Allow="POST")
        keep_pages_out(request, self._public_host)
        manager = StreamableHTTPSessionManager(self._server, stateless=True, max_request_body_size=MCP_BYTES_MAX)
        async with manager.run():
            return await bridged(request, manager.handle_request, {CALLER: caller})


def keep_pages_out(request: web.Request, public_host: str) -> None:
    """Refuse pages of other sites. A name of elsewhere that points to this machine (DNS rebinding) comes with an Origin."""
    origin = request.headers.get("Origin")
    if origin is None:
        return
    is_ours = urlsplit(origin).netloc.lower() == request.headers.get("Host", "").lower()
    if not (is_ours and is_our_host(request, {public_host})):
        raise Refusal(403, FOREIGN_PAGE)
