"""The page of an invitation: whoever opens its link gives a name, and is somebody from then on."""

from __future__ import annotations

from html import escape
from typing import Final

from aiohttp import web

from bot.http.entrance import Entrance
from bot.operator.context import OperatorContext
from runtime.contract import PEOPLE
from runtime.http.answers import notice_page
from runtime.http.authentication import COOKIE_LIFE
from runtime.http.bodies import read_object
from runtime.http.browsers import browser_name
from runtime.http.errors import Refusal
from runtime.store.protocol.people import Invitation, Unjoined
from runtime.text.naming import PERSON_NAME_MAX_CHARS
from runtime.text.words import marked, say

JOIN_BODY_BYTES: Final = 10_000
JOIN_TITLE: Final = marked("Join this Signalbox")
INVITED_BY: Final = marked("{made_by} has invited you. What should people here call you?")
SIGNED_IN: Final = marked("This browser is signed in as {name}. If you join, {name} is signed out here.")
CALLED_OTHERWISE: Final = marked("You're called {name} here, because somebody has a name like the one you chose.")
SORRY: Final = {
    Unjoined.UNKNOWN: marked(
        "This invitation doesn't exist, or it's from long ago. Check that you have the whole link, or ask for a new one."
    ),
    Unjoined.USED: marked(
        "Somebody has used this invitation already: each lets one person in. If it wasn't you, tell whoever sent it, and ask for a new one."
    ),
    Unjoined.REVOKED: marked("This invitation was withdrawn. Ask whoever sent it for a new one."),
    Unjoined.EXPIRED: marked("This invitation has expired. Ask whoever sent it for a new one."),
}
STATUSES: Final = {Unjoined.UNKNOWN: 404}
INVITATION_GONE: Final = 410


class Joining:
    """Two routes: the page that asks for a name, and the answer to it, which uses the invitation up."""

    def __init__(self, context: OperatorContext, entrance: Entrance) -> None:
        self._context = context
        self._entrance = entrance

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/join/{token}", self.ask, allow_head=False), web.post("/api/join/{token}", self.join)]

    async def ask(self, request: web.Request) -> web.Response:
        """GET changes nothing, however often programs that show previews of links look. Errors: Refusal."""
        found = await self._context.store.people.invitation(request.match_info["token"])
        if isinstance(found, Unjoined):
            raise _sorry(found)
        return web.Response(text=_page(found, await self._here(request)), content_type="text/html")

    async def join(self, request: web.Request) -> web.Response:
        """Errors: Refusal for a name that can't be kept, or an invitation that is over."""
        from bot.operator.people import new_name  # with the first who joins

        given = (await read_object(request, JOIN_BODY_BYTES)).get("name")
        if not isinstance(given, str):
            raise Refusal(400, marked("Write a name."))
        name, rights = new_name(given, self._context.door()), self._context.rights()
        made = await self._context.store.people.join_by(
            request.match_info["token"],
            name,
            given=rights.given,
            browser=browser_name(request.headers.get("User-Agent", "")),
        )
        if isinstance(made, Unjoined):
            raise _sorry(made)
        self._context.notifier.notify(PEOPLE)
        told = "" if made.person.name == name else say(CALLED_OTHERWISE, name=made.person.name)
        response = web.json_response({"name": made.person.name, "told": told})
        self._entrance.authenticator.keep(request, response, made.token, COOKIE_LIFE)
        return response

    async def _here(self, request: web.Request) -> str:
        """The name of the person who is signed in already; empty for nobody."""
        try:
            return (await self._entrance.authenticator.visitor(request)).person.name
        except Refusal:
            return ""


def _sorry(why: Unjoined) -> Refusal:
    return Refusal(STATUSES.get(why, INVITATION_GONE), SORRY[why])


def _page(found: Invitation, here: str) -> str:
    most = PERSON_NAME_MAX_CHARS
    form = (
        f'<form id="join"><label for="name">{escape(say("Your name"))}</label>'
        f'<input id="name" name="name" maxlength="{most}" autocomplete="name" required>'
        f'<button type="submit">{escape(say("Join"))}</button><p id="said" role="status" aria-live="polite"></p></form>'
        '<script type="module" src="/static/join.js"></script>'
    )
    note = f"<p>{escape(say(SIGNED_IN, name=here))}</p>" if here else ""
    sentence = say(INVITED_BY, made_by=found.made_by).replace("`", "'")
    return notice_page(title=say(JOIN_TITLE), sentence=sentence, below=note + form)
