"""Entrance for operators: the holder of the control token as the owner, or an operator with the web page's cookie."""

from __future__ import annotations

from typing import Final

from aiohttp import web

from bot.node.login import HEADER, sender
from bot.operator.actor import Actor, owner_of
from bot.operator.context import OperatorContext
from runtime.contract import Role
from runtime.domain.ids import digest
from runtime.http.authentication import Authenticator, Visitor
from runtime.http.errors import Refusal
from runtime.http.guard import bears, shows_bearer

EDITORS_WIRE: Final = frozenset(
    {
        "GET /api/rooms/{room}/events",
        "GET /api/rooms/{room}/timeline",
        "GET /api/rooms/{room}/work/{id}",
        "POST /api/rooms/{room}/files",
        "POST /api/rooms/{room}/messages",
        "POST /api/rooms/{room}/stop",
    }
)
"""Routes of the page that the control token opens, for `signalbox acp`."""


class Entrance:
    def __init__(self, context: OperatorContext) -> None:
        self._token = context.control_token
        self.authenticator = Authenticator(
            links=context.links, identity=context.web_account, command=context.command, second=context.auth.page
        )
        self._people = context.store.people

    async def actor(self, request: web.Request) -> Actor:
        """The actor who asks. Errors: Refusal 401 for nobody we know, 403 for a person below operator."""
        if shows_bearer(request):
            return await self._holder(request)
        visitor = await self.authenticator.visitor(request)
        held = request.cookies.get(self.authenticator.cookie)
        actor = Actor(visitor.person, visitor.identity, session=digest(held) if held else "")
        actor.must_be(Role.OPERATOR)
        return actor

    async def speaks_for(self, request: web.Request) -> Visitor | None:
        """The owner, where a room of the page is asked for with the control token. None for anybody and anything else."""
        resource = request.match_info.route.resource
        route = f"{request.method} {resource.canonical if resource else ''}"
        if route not in EDITORS_WIRE or not bears(request, self._token):
            return None
        actor = await self._holder(request)
        return Visitor(actor.person, actor.identity)

    async def _holder(self, request: web.Request) -> Actor:
        if not bears(request, self._token):
            raise Refusal(
                401, "This token is not the running process's. Start the command again; it reads the new one."
            )
        return await owner_of(self._people, sender(request.headers.get(HEADER)))
