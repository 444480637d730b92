"""Routes of one's own data: for everybody who is known at the page, each about nobody but themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import IO, TYPE_CHECKING, Final

from aiohttp import web

from bot.http.entrance import Entrance
from bot.operator.actor import Actor
from bot.operator.context import OperatorContext
from bot.operator.views import View
from runtime.domain.ids import digest
from runtime.http.bodies import read_object
from runtime.http.errors import Refusal
from runtime.text.words import marked

if TYPE_CHECKING:
    from bot.own.data import OwnData

OWN_BODY_BYTES: Final = 10_000
OWN_ZIP: Final = "my-data.zip"
EXPORT_GOES_ON: Final = marked("An export is being made right now. Try again in a minute.")

Change = Callable[["OwnData", web.Request], Awaitable[View]]


class OwnRoutes:
    """The page, the export, and what people change of theirs. An export reads every table, so one is made at a time."""

    def __init__(self, context: OperatorContext, entrance: Entrance) -> None:
        self._context = context
        self._entrance = entrance
        self._exporting = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/me", self.page, allow_head=False),
            web.get("/me/data.zip", self.export, allow_head=False),
            web.post("/api/me/sessions/end-others", self._does(lambda own, _: own.sign_out_others())),
            web.post("/api/me/sessions/{id}/end", self._does(lambda own, asked: own.sign_out(_id(asked)))),
            web.post("/api/me/memories/{id}/forget", self._does(lambda own, asked: own.forget_memory(_id(asked)))),
            web.post("/api/me/browsers/{id}/drop", self._does(lambda own, asked: own.drop_browser(_id(asked)))),
            web.post("/api/me/zone", self._does(_zone)),
            web.post("/api/me/forget", self._does(_forget)),
            web.post("/api/me/forget/withdraw", self._does(lambda own, _: own.withdraw_forgetting())),
        ]

    async def page(self, request: web.Request) -> web.Response:
        own = await self._own(request)
        from bot.own.page import own_data

        response = web.Response(text=own_data(await own.told()), content_type="text/html")
        await self._entrance.authenticator.renew(request, response)
        return response

    async def export(self, request: web.Request) -> web.StreamResponse:
        """All that is kept of whoever asks. Errors: Refusal 429 while another one is made."""
        own = await self._own(request)
        from bot.http.downloads import sent
        from bot.operator.access.exporting import export_to

        if self._exporting.locked():
            raise Refusal(429, EXPORT_GOES_ON)

        async def write(file: IO[bytes]) -> None:
            async with self._exporting:  # not while it is sent: somebody's line may be slow
                await export_to(file, own, own.folders(), own.actor.person.name)

        return await sent(request, OWN_ZIP, write)

    def _does(self, change: Change) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def answer(request: web.Request) -> web.Response:
            return web.json_response(await change(await self._own(request), request))

        return answer

    async def _own(self, request: web.Request) -> OwnData:
        """Errors: Refusal 401 for nobody we know."""
        visitor = await self._entrance.authenticator.visitor(request, fresh=True)
        from bot.own.data import OwnData  # with the first who asks

        held = request.cookies.get(self._entrance.authenticator.cookie)
        return OwnData(self._context, Actor(visitor.person, visitor.identity, session=digest(held) if held else ""))


async def _zone(own: OwnData, request: web.Request) -> View:
    zone = (await read_object(request, OWN_BODY_BYTES)).get("zone")
    return await own.keep_zone(zone if isinstance(zone, str) else "")


async def _forget(own: OwnData, request: web.Request) -> View:
    confirm = (await read_object(request, OWN_BODY_BYTES)).get("confirm")
    return await own.ask_to_be_forgotten(confirm if isinstance(confirm, str) else "")


def _id(request: web.Request) -> str:
    return request.match_info["id"]
