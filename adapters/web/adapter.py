"""The web page as a channel. What it shows is stored: the courier's checkpoint is the showing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from aiohttp import web

from adapters.web.api import Api
from adapters.web.events import Events
from adapters.web.ideas import IDEAS, Idea
from adapters.web.pages import Pages
from adapters.web.ratings import RatingsApi
from adapters.web.render import render
from adapters.web.rooms import IsNamed, Rooms, nothing_named
from adapters.web.settings import WebSettings
from adapters.web.transfer import FileTransfer, Transfer
from runtime.contract import (
    BOUNDLESS,
    CONNECTED,
    AdapterContext,
    Address,
    Attempt,
    Connection,
    ConnectionStatus,
    Delivery,
    Features,
    Part,
    Progress,
    Receipt,
    Settled,
    SettleResult,
    Sink,
    Space,
    Wire,
)
from runtime.http.authentication import Authenticator
from runtime.http.errors import Refusal
from runtime.text.emoji import any_emoji

CHANNEL: Final = "web"
ACCOUNT: Final = "main"
STARTING: Final = "The page can't accept messages yet: Signalbox is starting or stopping. Try again in a few seconds."

NOT_YET: Final = ConnectionStatus(Connection.CONNECTING, "the web page does not take messages yet")


class WebAdapter:
    """One account; `identity` is made once per installation and stored by the composition root.

    `banner` warns and stays; `notice` is for people to close. `is_named` tells rooms to which the settings send something. The composition root mounts `routes()` in its application behind `runtime.http.guard.install`. `authenticator` tells other
    pages of that application, such as the console, who asks.
    """

    def __init__(
        self,
        settings: WebSettings,
        given: AdapterContext,
        *,
        identity: str,
        banner: str = "",
        is_named: IsNamed = nothing_named,
        ideas: Sequence[Idea] = IDEAS,
        notice: str = "",
        space: Space = BOUNDLESS,
    ) -> None:
        self.channel: str = CHANNEL
        self.account: str = ACCOUNT
        self.identity: str = identity
        self.authenticator = Authenticator(
            links=given.links, identity=identity, command=settings.command, second=settings.second
        )
        self._pages = Pages(self.authenticator, settings.version)
        self._rooms = rooms = Rooms(
            authenticator=self.authenticator,
            history=given.history,
            channel=CHANNEL,
            account=identity,
            is_named=is_named,
        )
        self._events = Events(
            authenticator=self.authenticator, rooms=rooms, history=given.history, notifier=given.notifier
        )
        self._api = Api(
            authenticator=self.authenticator,
            rooms=rooms,
            given=given,
            sink=self._sink_now,
            banner=banner,
            ideas=ideas,
            notice=notice,
            upload_bytes=settings.upload_bytes,
        )
        files = FileTransfer(
            workspaces=given.workspaces, upload_bytes=settings.upload_bytes, new_id=given.new_id, space=space
        )
        self._transfer = Transfer(rooms=rooms, files=files)
        self._ratings = RatingsApi(rooms=rooms, rated=given.rated, own=given.own_marks)
        self._sink: Sink | None = None

    def features(self) -> Features:
        return Features(
            edits=True,
            stored=True,
            progress=self.progress,
            reach=self.reach,
            reacts=any_emoji,
            routes=self.routes,
            title="the web page",
            own_rooms=True,
        )

    def routes(self) -> list[web.RouteDef]:
        """Page, API, events and files."""
        events = web.get("/api/rooms/{room}/events", self._events.stream, allow_head=False)
        inbox = web.get("/api/inbox/events", self._events.inbox, allow_head=False)
        return [
            *self._pages.routes(),
            *self._api.routes(),
            *self._ratings.routes(),
            events,
            inbox,
            *self._transfer.routes(),
        ]

    async def listen(self, sink: Sink) -> None:
        self._sink = sink
        try:
            await asyncio.Event().wait()
        finally:
            self._sink = None
            self._events.close()

    def render(self, delivery: Delivery) -> list[Wire]:
        return [render(delivery)]

    async def show(self, part: Part) -> Receipt:
        return Receipt(part.id)

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        return Receipt(part.id)

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        return SettleResult.UNKNOWN

    async def reach(self, address: Address) -> str | None:
        return await self._rooms.reach(address)

    def progress(self, address: Address, event: Progress) -> None:
        self._events.progress(address, event)

    def standing(self) -> ConnectionStatus:
        return CONNECTED if self._sink is not None else NOT_YET

    def _sink_now(self) -> Sink:
        if self._sink is None:
            raise Refusal(503, STARTING)
        return self._sink
