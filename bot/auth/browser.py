"""Routes by which a browser signs in at the provider: code and PKCE, each sign-in bound to its browser."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from html import escape
from posixpath import normpath
from secrets import token_urlsafe
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from aiohttp import web

from bot.auth.admitting import Doorkeeper
from bot.auth.provider import Provider
from bot.auth.sessions import ProviderLinks
from bot.auth.words import CANCELLED, OTHER_SIGN_IN, PROVIDER_REFUSED, away, not_admitted
from runtime.guard.sealing import Sealer, Unsealable
from runtime.http.answers import linked, notice_page
from runtime.http.authentication import OUR_OWN, SIGN_IN_AT, SIGN_IN_PATH, SIGN_OUT_PATH, Authenticator
from runtime.http.browsers import browser_name
from runtime.http.errors import Refusal
from runtime.http.guard import is_secure
from runtime.oauth.errors import IssuerAway, IssuerRefused
from runtime.oauth.issuer import Proof, check_return
from runtime.oauth.signed import SignedRefused
from runtime.store.people.sessions import SESSION_LIFE
from runtime.store.protocol.people import Unadmitted
from runtime.text.words import marked, say

BACK_PATH: Final = f"{SIGN_IN_PATH}/back"
SIGN_IN_OTHERWISE: Final = marked("Sign in as somebody else")
SIGNED_IN: Final = marked("You're signed in at {called}.")
SIGNED_IN_UNCONFIRMED: Final = marked(
    "You're signed in, but {called} didn't say when you typed your password, so this doesn't show that it's you. Open your link "
    "instead, or paste it where you're asked for it."
)
SIGN_IN_TIME: Final = timedelta(minutes=10)
"""For one sign-in, from our page to the provider and back."""
BEGUN_PREFIX: Final = "signalbox-in-"
"""Begins the cookie of one sign-in that was begun; each has its own, so that two tabs don't meet."""
BEGUN_PLACE: Final = "a sign-in that was begun"
BEGUN_AT_ONCE_MAX: Final = 8
"""Sign-ins begun in one browser; the others are forgotten."""
FINISHED_IN_MIND: Final = 10_000
NEXT_MAX_CHARS: Final = 500
HOME: Final = "/"
AGAIN: Final = "again"
"""In the query of a sign-in that is to ask for the password, whoever is signed in at the provider."""
CLOCKS_APART: Final = timedelta(seconds=60)
"""How much the provider's clock may be behind ours."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A sign-in that a browser began: what only it may finish, and where it wants to go then. `held` is what it is known by until
    then, which doesn't come along on the way back, and `again` that it was to show once more who it is of.
    """

    proof: Proof
    nonce: str
    back: str
    next: str
    at: float
    held: str = ""
    again: bool = False

    def text(self) -> str:
        return json.dumps(
            [self.proof.verifier, self.proof.state, self.nonce, self.back, self.next, self.at, self.held, self.again]
        )


def begun_of(text: str) -> Begun:
    verifier, state, nonce, back, following, at, held, again = json.loads(text)
    return Begun(Proof(verifier, state), nonce, back, following, float(at), held, again)


def inside(path: str | None) -> str:
    """The address to go on to: a path of ours, or the start. No other site, however it is written.

    >>> inside("/console/runs?state=done")
    '/console/runs?state=done'
    >>> {
    ...     inside(one)
    ...     for one in (
    ...         "https://evil.example",
    ...         "//evil.example",
    ...         "/\\\\evil.example",
    ...         "javascript:x",
    ...         "/%6cink/x",
    ...         "",
    ...         None,
    ...     )
    ... }
    {'/'}
    """
    if not path or len(path) > NEXT_MAX_CHARS or not path.isprintable() or "\\" in path or not path.startswith("/"):
        return HOME
    try:
        parts = urlsplit(path)
    except ValueError:
        return HOME
    is_ours = not parts.scheme and not parts.netloc and not path.startswith("//")
    place = normpath(unquote(parts.path))  # as a browser and our routes read it
    return path if is_ours and not place.startswith((SIGN_IN_PATH, SIGN_OUT_PATH, "/link/")) else HOME


def begun_cookie(state: str) -> str:
    return BEGUN_PREFIX + hashlib.sha256(state.encode()).hexdigest()[:16]


class SignInRoutes:
    def __init__(
        self,
        *,
        provider: Provider,
        links: ProviderLinks,
        doorkeeper: Doorkeeper,
        authenticator: Authenticator,
        sealer: Callable[[], Sealer],
        public_url: str = "",
        signed_in: Callable[[str], None] = lambda _: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._provider = provider
        self._links = links
        self._door = doorkeeper
        self._authenticator = authenticator
        self._sealer = sealer
        self._public_url = public_url.rstrip("/")
        self._signed_in_now = signed_in
        self._now = now
        self._finished: dict[str, float] = {}

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(SIGN_IN_PATH, self.begin, allow_head=False),
            web.get("/sign-in/back", self.finish, allow_head=False),
        ]

    # ----------------------------------------------------------------------------------------------------------- begin

    async def begin(self, request: web.Request) -> web.Response:
        """GET /sign-in: to the provider. A page elsewhere that sends a browser here only gets a question shown."""
        following = inside(request.query.get("next"))
        if request.headers.get("Sec-Fetch-Site", "none") not in OUR_OWN:
            return _page(
                say("Sign in?"),
                say("Signalbox is about to sign you in at {called}.", called=self._called),
                self._button(following),
            )
        back, held = self._base(request) + BACK_PATH, request.cookies.get(self._authenticator.cookie, "")
        again = request.query.get(AGAIN) == "1"
        begun = Begun(Proof(), token_urlsafe(24), back, following, self._now(), held, again)
        try:
            there = await self._provider.page(begun.proof, begun.nonce, begun.back, again=again)
        except IssuerAway as error:
            raise away(self._called, error) from None
        except IssuerRefused as error:
            await self._door.record("", f"the provider {error}")
            raise away(self._called, error) from None
        answer = web.Response(status=303, headers={"Location": there})
        sealed = self._sealer().seal(begun.text(), BEGUN_PLACE)
        life = int(SIGN_IN_TIME.total_seconds())
        self._keep(request, answer, begun_cookie(begun.proof.state), sealed, life)
        for name in self._begun(request)[: -BEGUN_AT_ONCE_MAX + 1]:
            answer.del_cookie(name, path=SIGN_IN_PATH)
        return answer

    def _begun(self, request: web.Request) -> list[str]:
        return [name for name in request.cookies if name.startswith(BEGUN_PREFIX)]

    def _base(self, request: web.Request) -> str:
        """Our own address: that of the settings, else the one the browser came to, which the guard has checked."""
        return self._public_url or f"{'https' if is_secure(request) else 'http'}://{request.host}"

    def _keep(self, request: web.Request, answer: web.Response, name: str, value: str, life: int) -> None:
        """In a cookie that comes along when the provider sends the browser back, which a strict one wouldn't."""
        answer.set_cookie(
            name, value, max_age=life, path=SIGN_IN_PATH, httponly=True, samesite="Lax", secure=is_secure(request)
        )

    # ---------------------------------------------------------------------------------------------------------- finish

    async def finish(self, request: web.Request) -> web.Response:
        """GET /sign-in/back: from the provider, into the page; only in the browser that began, and once."""
        state = request.query.get("state", "")
        begun = await self._opened(request, state)
        if error := request.query.get("error"):
            code = "".join(letter for letter in error if letter.isalnum() or letter in "_-.")[:60]
            await self._door.record("", f"the provider answered {code}")
            raise self._again(say(CANCELLED, called=self._called, why=code))
        token, is_confirmed = await self._signed_in(request, begun, state)
        is_short = begun.again and not is_confirmed
        words = SIGNED_IN_UNCONFIRMED if is_short else SIGNED_IN
        answer = _page(
            say("Signed in"),
            say(words, called=self._called),
            linked(begun.next, say("Go on")),
            onward="" if is_short else begun.next,
        )
        self._authenticator.keep(request, answer, token, SESSION_LIFE)
        answer.del_cookie(begun_cookie(state), path=SIGN_IN_PATH)
        return answer

    async def _opened(self, request: web.Request, state: str) -> Begun:
        """The sign-in that this browser began with `state`. Errors: Refusal 400 for any other, and for one that is finished."""
        sealed = request.cookies.get(begun_cookie(state), "")
        try:
            begun = begun_of(self._sealer().open(sealed, BEGUN_PLACE))
        except (Unsealable, ValueError, TypeError):
            begun = None
        now = self._now()
        self._finished = {one: at for one, at in self._finished.items() if now - at < SIGN_IN_TIME.total_seconds()}
        is_late = begun is None or now - begun.at > SIGN_IN_TIME.total_seconds()
        if begun is None or is_late or state != begun.proof.state or state in self._finished:
            await self._door.record("", "a sign-in of another browser, or a finished one")
            raise self._again(OTHER_SIGN_IN)
        if len(self._finished) < FINISHED_IN_MIND:
            self._finished[state] = now
        return begun

    async def _signed_in(self, request: web.Request, begun: Begun, state: str) -> tuple[str, bool]:
        """The token that the browser holds from now on, and whether its person has just typed their password. Errors: Refusal."""
        try:
            endpoints = await self._provider.endpoints()
            check_return(endpoints, begun.proof, state, request.query.get("iss"))
            code = request.query.get("code", "")
            grant, claims = await self._provider.signed_in(code, begun.proof, begun.nonce, begun.back)
        except IssuerAway as error:
            raise away(self._called, error) from None
        except (IssuerRefused, SignedRefused) as error:
            why = f"its token {error}" if isinstance(error, SignedRefused) else str(error)
            await self._door.record("", why)
            raise self._again(say(PROVIDER_REFUSED, called=self._called, why=why)) from None
        who = await self._door.let_in(claims)
        if isinstance(who, Unadmitted):
            raise self._again(not_admitted(who, self._called, claims.identity), status=403)
        token = await self._links.open(grant, who, claims.identity, browser_name(request.headers.get("User-Agent", "")))
        if begun.held:
            await self._links.supersede(begun.held)
        typed_at = claims.signed_in_at
        is_confirmed = typed_at is not None and typed_at >= begun.at - CLOCKS_APART.total_seconds()
        if is_confirmed:
            self._signed_in_now(token)
        return token, is_confirmed

    # ----------------------------------------------------------------------------------------------------------- words

    @property
    def _called(self) -> str:
        return self._door.rules.called

    def _button(self, following: str) -> str:
        return linked(f"{SIGN_IN_PATH}?next={quote(following, safe='')}", say(SIGN_IN_AT, called=self._called))

    def _again(self, sentence: str, status: int = 400) -> Refusal:
        words = SIGN_IN_OTHERWISE if status == 403 else SIGN_IN_AT
        return Refusal(status, sentence).with_link(SIGN_IN_PATH, say(words, called=self._called))


def _page(title: str, sentence: str, below: str, onward: str = "") -> web.Response:
    """A page that goes on to `onward` by itself. Not a redirect: strict cookies don't come along on one from elsewhere."""
    text = notice_page(title=title, sentence=sentence.replace("`", "'"), below=below)
    if onward:
        leap = f'<meta http-equiv="refresh" content="0;url={escape(onward, quote=True)}">'
        text = text.replace("<title>", f"{leap}<title>", 1)
    return web.Response(text=text, content_type="text/html")
