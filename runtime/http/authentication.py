"""Authentication of the page: a link sets a cookie, the cookie names a person."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from html import escape
from typing import Final
from urllib.parse import quote

from aiohttp import web

from runtime.contract import Identity, Links, Person, Role
from runtime.http.answers import notice_page
from runtime.http.browsers import browser_name
from runtime.http.errors import Refusal
from runtime.http.guard import is_secure
from runtime.text.words import marked, say

COOKIE_LIFE: Final = timedelta(days=365)  # a link lives until a new one voids it; the cookie should not end first
NO_LINK: Final = marked(
    "This page opens with a link of your own. On the machine that runs Signalbox, `{command} "
    "people link NAME` makes a new one; open the address it prints."
)
OLD_LINK: Final = marked(
    "This link doesn't work any more. A newer link replaces an older one, and the link of a "
    "first start works once, within 15 minutes. On the machine that runs Signalbox, "
    "`{command} people link NAME` makes a new one. Open the address it prints."
)
SIGNED_OUT: Final = marked(
    "This browser isn't signed in any more. Open your own link again. If that doesn't work either, a newer one took its "
    "place: on the machine that runs Signalbox, `{command} people link NAME` makes one."
)
BECOME: Final = marked(
    "This link signs this browser in as {name}. If somebody else is signed in here, they'll be signed out."
)
BY_PROXY: Final = marked("You're signed in by the proxy in front of Signalbox. Sign out there.")
OUR_OWN: Final = ("none", "same-origin")
"""Where a request comes from that no other site made. Source: W3C Fetch Metadata, Sec-Fetch-Site."""

AHEAD: Final = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
"""Headers by which browsers, newer and older ones, say that they only look ahead at what somebody may open."""


SIGN_IN_PATH: Final = "/sign-in"
SIGN_OUT_PATH: Final = "/sign-out"
SIGN_IN_HERE: Final = marked("Sign in at {called}, or open a link of your own.")
SIGN_IN_AT: Final = marked("Sign in at {called}")
PAGES_READ: Final = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class SecondLayer:
    """A provider behind our own links. `called`: its name, on the button with which people sign in there; empty for none.

    `ask` tells who a request without a cookie is of, where the provider stands in front of us. Errors: Refusal.
    `opened` is told of what a browser holds from now on when somebody opens their link, also once more.
    """

    called: str = ""
    ask: Callable[[web.Request], Awaitable[tuple[Person, Identity]]] | None = None
    opened: Callable[[str], None] = lambda _: None


NO_LAYER: Final = SecondLayer()


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person at the page, and the web identity under which they speak."""

    person: Person
    identity: Identity

    def must_be_able_to_write(self) -> None:
        if self.person.role < Role.USER:
            raise Refusal(403, say("Your role is viewer: you can read here, but not write. An owner can change that."))


Holder = Callable[[web.Request], Awaitable[Visitor | None]]


@dataclass(frozen=True, slots=True)
class Link:
    """A link that works, and whose it is. One for one use (`once`) is no cookie: another token takes its place."""

    token: str
    person: Person
    once: bool


class Authenticator:
    """The cookie's name holds the installation's identity: two of them on one machine do not log each other out."""

    def __init__(
        self, *, links: Links, identity: str, command: str = "signalbox", second: SecondLayer = NO_LAYER
    ) -> None:
        self._links = links
        self._command = command
        self._second = second
        self.holder: Holder | None = None
        """Tells who a program of this machine speaks for, by what it shows; None for any other request."""
        self.cookie = f"signalbox-{hashlib.sha256(identity.encode()).hexdigest()[:10]}"

    @property
    def provider(self) -> str:
        """Name of the provider at which people sign in and out; empty where they don't."""
        return self._second.called

    def is_held(self, request: web.Request) -> bool:
        """True if the browser itself holds what it is known by, so that it can be signed out."""
        return bool(request.cookies.get(self.cookie))

    def is_shown(self, request: web.Request) -> bool:
        """True if the request shows what a person at the page is known by."""
        if self.cookie in request.cookies:
            return True
        return self._second.ask is not None and (bool(request.cookies) or "Authorization" in request.headers)

    async def visitor(self, request: web.Request, *, fresh: bool = False) -> Visitor:
        """Visitor who asks, as of this very moment if `fresh`. Errors: Refusal 401 tells how to get a link."""
        token = request.cookies.get(self.cookie)
        if not token and self.holder and (held := await self.holder(request)):
            return held
        if not token and self._second.ask:
            return Visitor(*await self._second.ask(request))
        if not token:
            raise self._unknown(request, NO_LINK)
        try:
            known = await self._links.person_of(token, fresh=fresh)
        except Refusal as refusal:
            raise self._with_way(request, refusal) if refusal.status == 401 else refusal from None
        if known is None:
            raise self._unknown(request, SIGNED_OUT)
        return Visitor(*known)

    def _unknown(self, request: web.Request, sentence: str) -> Refusal:
        words = (
            say(SIGN_IN_HERE, called=self._second.called)
            if self._second.called
            else say(sentence, command=self._command)
        )
        return self._with_way(request, Refusal(401, words))

    def _with_way(self, request: web.Request, refusal: Refusal) -> Refusal:
        """The refusal with a button to sign in at the provider, which leads back here."""
        if not self._second.called:
            return refusal
        here = f"?next={quote(request.path_qs, safe='')}" if request.method in PAGES_READ else ""
        return refusal.with_link(f"{SIGN_IN_PATH}{here}", say(SIGN_IN_AT, called=self._second.called))

    async def enter(self, request: web.Request) -> web.Response:
        """GET /link/{token}: to the page as its person; asks first where that could be somebody else's doing.

        Another site can make a browser open a link, and with it exchange who is signed in there. A strict cookie does
        not come along from there, so we cannot see it: such a request is always asked about.
        """
        link, here = await self._link(request), await self._here(request)
        held = request.cookies.get(self.cookie, "")
        if here == link.person.id and not link.once and held != link.token:
            self._second.opened(held)
            return web.Response(status=303, headers={"Location": "/"})
        if here not in (None, link.person.id) or may_be_foreign(request, link):
            return web.Response(text=_question(link.person), content_type="text/html")
        return await self._sign_in(request, link, web.Response(status=303, headers={"Location": "/"}))

    async def become(self, request: web.Request) -> web.Response:
        """POST /link/{token}: the answer to that question, which only our own page can send."""
        return await self._sign_in(request, await self._link(request), web.Response(status=204))

    async def _link(self, request: web.Request) -> Link:
        """Errors: Refusal 401 for one that does not work."""
        token = request.match_info["token"]
        if known := await self._links.linked(token):
            return Link(token, known, once=False)
        if person := await self._links.invited(token):
            return Link(token, person, once=True)
        raise Refusal(401, say(OLD_LINK, command=self._command))

    async def _here(self, request: web.Request) -> str | None:
        """The id of the person who is signed in already."""
        token = request.cookies.get(self.cookie)
        try:
            known = await self._links.person_of(token) if token else None
        except Refusal:  # a session of a provider that is over: nobody is
            known = None
        return known[0].id if known else None

    async def _sign_in(self, request: web.Request, link: Link, response: web.Response) -> web.Response:
        token = await self._links.redeem(link.token, _browser(request))
        if token is None:
            raise Refusal(401, say(OLD_LINK, command=self._command))  # somebody else was faster
        if held := request.cookies.get(self.cookie):
            await self._links.leave(held)
        self.keep(request, response, token, COOKIE_LIFE)
        self._second.opened(token)
        return response

    async def renew(self, request: web.Request, response: web.Response) -> None:
        """Give a session of its own to a browser that was signed in before browsers had any: it holds the link's own token."""
        token = request.cookies.get(self.cookie, "")
        if token and await self._links.linked(token) and (fresh := await self._links.redeem(token, _browser(request))):
            self.keep(request, response, fresh, COOKIE_LIFE)

    async def leave(self, request: web.Request) -> web.Response:
        """POST /sign-out: this browser is nobody's any more. A link stays good; it opens the page again."""
        token = request.cookies.get(self.cookie)
        if not token and self._second.ask:
            raise Refusal(404, say(BY_PROXY))
        if token:
            await self._links.leave(token)
        answer = web.json_response({"next": "/"})
        self.drop(answer)
        return answer

    def keep(self, request: web.Request, response: web.Response, token: str, life: timedelta) -> None:
        """Have the browser hold `token`, which tells from now on who asks."""
        response.set_cookie(
            self.cookie,
            token,
            max_age=int(life.total_seconds()),
            httponly=True,
            samesite="Strict",
            secure=is_secure(request),
        )

    def drop(self, response: web.Response) -> None:
        response.del_cookie(self.cookie)


def _browser(request: web.Request) -> str:
    return browser_name(request.headers.get("User-Agent", ""))


def may_be_foreign(request: web.Request, link: Link) -> bool:
    """True if another site may have made this browser come, or a program that only looks what is behind a link.

    Browsers leave Sec-Fetch-Site out under plain http and a name that is not the machine's own; all of them call
    themselves Mozilla. Programs that send neither hold no session that could be exchanged, yet one that shows previews
    of links must not use one up.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is None:
        return link.once or "mozilla/" in request.headers.get("User-Agent", "").lower()
    return site not in OUR_OWN or any(name in request.headers for name in AHEAD)


def _question(person: Person) -> str:
    name = escape(person.name)
    button = f'<button type="button" id="become" data-testid="become">{say("Become {name}", name=name)}</button>'
    script = '<script type="module" src="/static/link.js"></script>'
    sentence = say(BECOME, name=person.name.replace("`", "'"))
    return notice_page(title=say("Become {name}?", name=person.name), sentence=sentence, below=button + script)
