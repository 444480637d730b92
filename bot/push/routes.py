"""Routes by which the page's browsers say that they want to be told, and that somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from aiohttp import web

from bot.operator.context import OperatorContext
from bot.push.vapid import BrowserAddress, Vapid, is_library_here
from bot.wiring.logins.sealed_files import MadeSealer
from runtime.contract import PersonId
from runtime.domain.ids import digest
from runtime.http import bodies
from runtime.http.authentication import Authenticator
from runtime.http.errors import Refusal
from runtime.text.words import language, marked, say

HERE_FOR: Final = timedelta(seconds=45)
"""How long somebody is taken to look at the page after it said so; it says so twice in that time."""
SEEN_MOST: Final = 100
TURNED_OFF: Final = marked("Notifications are off here. An operator turns them on with `[push]` in the settings.")
NO_LIBRARY: Final = marked(
    "Notifications need a library that isn't installed here. An operator installs it with "
    "`pip install 'signalbox-bot[push]'`, and starts Signalbox again."
)
NO_SESSION: Final = marked(
    "You are signed in by a proxy, which doesn't tell when you sign out. Open a link of your own to get notifications."
)


class PushRoutes:
    """For any person at the page. `vapid` is None where the settings turn it off."""

    def __init__(self, context: OperatorContext, sealer: MadeSealer, vapid: Callable[[], Vapid] | None) -> None:
        self._authenticator = Authenticator(
            links=context.links, identity=context.web_account, command=context.command, second=context.auth.page
        )
        self._store = context.store
        self._sealer = sealer
        self._vapid = vapid

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/push", self.terms),
            web.post("/api/push/browsers", self.keep),
            web.post("/api/push/browsers/drop", self.drop),
            web.post("/api/push/here", self.here),
        ]

    async def terms(self, request: web.Request) -> web.Response:
        """The key with which a browser asks its push service, or why there is none."""
        visitor = await self._authenticator.visitor(request)
        trouble = self._trouble(request)
        key = "" if trouble or self._vapid is None else self._vapid().public_key
        told = self._vapid is not None and await self._store.web_push.has_browser(visitor.person.id)
        return web.json_response({"on": self._vapid is not None, "key": key, "trouble": say(trouble), "told": told})

    async def keep(self, request: web.Request) -> web.Response:
        """Tell this browser from now on. The same one again only brings its keys."""
        from runtime.store.web_push.subscriptions import Browser  # where somebody turns it on

        visitor = await self._authenticator.visitor(request)
        body = await bodies.read_object(request)
        if trouble := self._trouble(request):
            raise Refusal(409, trouble)
        try:
            address = replace(BrowserAddress.of_browser(body), language=language())
        except ValueError as error:
            raise Refusal(400, str(error)) from error
        name = digest(address.endpoint)
        sealed = self._sealer().seal(address.as_text(), Browser.about_of(name))
        await self._store.web_push.keep_browser(name, visitor.person.id, self._session(request), sealed)
        return web.json_response({"kept": True}, status=201)

    async def drop(self, request: web.Request) -> web.Response:
        visitor = await self._authenticator.visitor(request)
        endpoint = (await bodies.read_object(request)).get("endpoint")
        if isinstance(endpoint, str):
            await self._store.web_push.drop_browser(digest(endpoint), visitor.person.id)
        return web.json_response({"kept": False})

    async def here(self, request: web.Request) -> web.Response:
        """Somebody looks at the page, or leaves it; `seen` are questions that they were shown there."""
        visitor = await self._authenticator.visitor(request)
        body = await bodies.read_object(request)
        seen = body.get("seen")
        named = seen[:SEEN_MOST] if isinstance(seen, list) else []
        questions = [one for one in named if isinstance(one, str) and bodies.APPROVAL_ID.fullmatch(one)]
        if self._vapid is not None:
            await self._note(visitor.person.id, questions, is_here=body.get("here") is True)
        return web.json_response({})

    async def _note(self, who: PersonId, questions: list[str], *, is_here: bool) -> None:
        await self._store.web_push.here(who, HERE_FOR if is_here else None, questions)

    def _trouble(self, request: web.Request) -> str:
        """The reason this browser can't be told, in words for its person; empty for none."""
        if self._vapid is None:
            return TURNED_OFF
        if not is_library_here():
            return NO_LIBRARY
        return "" if self._session(request) else NO_SESSION

    def _session(self, request: web.Request) -> str:
        token = request.cookies.get(self._authenticator.cookie)
        return digest(token) if token else ""
