"""Sessions of the page that began at a provider: good while it says so, asked again after a minute."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from secrets import token_urlsafe
from typing import Final

import structlog

from bot.auth.admitting import Doorkeeper
from bot.auth.provider import AWAY_FOR, Provider
from bot.auth.words import PROVIDER_REFUSED, SESSION_OVER, away, not_admitted
from bot.wiring.logins.tokens import OTHER_KEY, LoginBook, LoginTokens, new_grant, place_of
from runtime.contract import Identity, Links, Person
from runtime.domain.ids import digest
from runtime.guard.sealing import Sealer, Unsealable
from runtime.http.errors import Refusal
from runtime.models.account.tokens import LoginFailed
from runtime.oauth.claims import OIDC_PREFIX, Claims
from runtime.oauth.errors import IssuerAway, IssuerError, IssuerRefused
from runtime.oauth.grant import IssuerGrant, issuer_grant_of
from runtime.oauth.signed import SignedRefused, UnknownKey
from runtime.store.logins.rows import KeptLogin
from runtime.store.people.sessions import session_name
from runtime.store.protocol import People
from runtime.store.protocol.people import Unadmitted
from runtime.text.words import say

log = structlog.get_logger("sign-in")

SESSION_PREFIX: Final = "sbp_"
"""Begins what a browser holds after a sign-in at a provider: a link's token never does."""
SESSION_TOKEN_BYTES: Final = 24
ASKED_AGAIN_AFTER: Final = timedelta(seconds=60)
"""Age of the provider's word after which it is asked again: a role that it took away is gone by then."""
READ_AGAIN_AFTER: Final = timedelta(seconds=1)
"""How long another node's change of a session or a person may go unnoticed."""
SESSIONS_IN_MIND: Final = 1_000

OF_ITSELF: Final = ("address", "issuer", "metadata")
"""Refusals by what a provider says of itself: no word about anybody, so that nobody's sign-in ends with it."""
TOKEN_SPENT: Final = ("401", "403")
"""Answers of userinfo to a token that is over."""

Visit = tuple[Person, Identity]


@dataclass(slots=True)
class _Seen:
    """A session as this process knows it: when it was read, when the provider was asked, and why it couldn't be."""

    lock: asyncio.Lock
    visit: Visit | None = None
    read_at: float = 0.0
    asked_at: float | None = None
    away: str = ""
    away_at: float = 0.0


class ProviderLinks:
    """Implements `Links`: our own links first, then sessions of the provider. A token of one kind never tries the other."""

    def __init__(
        self,
        own: Links,
        *,
        people: People,
        doorkeeper: Doorkeeper,
        provider: Provider,
        book: LoginBook,
        tokens: Callable[..., LoginTokens],
        sealer: Callable[[], Sealer],
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._own = own
        self._people = people
        self._door = doorkeeper
        self._provider = provider
        self._book = book
        self._tokens = tokens
        self._sealer = sealer
        self._ticks = ticks
        self._seen: dict[str, _Seen] = {}

    async def invited(self, token: str) -> Person | None:
        return await self._own.invited(token)

    async def linked(self, token: str) -> Person | None:
        return await self._own.linked(token)

    async def redeem(self, token: str, browser: str = "") -> str | None:
        return await self._own.redeem(token, browser)

    async def leave(self, token: str) -> None:
        """Sign a browser out, here and, where it takes tokens back, at the provider."""
        if not token.startswith(SESSION_PREFIX):
            return await self._own.leave(token)
        name = session_name(digest(token))
        kept = await self._book.login(name)
        await self._drop(token, "")  # first: a provider that hangs keeps nobody in
        if kept is not None:
            await self._give_back(name, kept)
        return None

    async def person_of(self, token: str, *, fresh: bool = False) -> Visit | None:
        if not token.startswith(SESSION_PREFIX):
            return await self._own.person_of(token, fresh=fresh)
        seen = self._in_mind(digest(token))
        async with seen.lock:
            if not fresh and seen.visit and self._ticks() - seen.read_at < READ_AGAIN_AFTER.total_seconds():
                return seen.visit
            return await self._read(token, seen)

    async def open(self, grant: IssuerGrant, who: Person, identity: Identity, browser: str = "") -> str:
        """Begin a session; what its browser holds from now on. The provider was asked just now."""
        token = SESSION_PREFIX + token_urlsafe(SESSION_TOKEN_BYTES)
        kept = new_grant(self._sealer(), session_name(digest(token)), grant)
        await self._people.keep_session(token, kept, self._provider.terms.issuer, identity, who, browser)
        self._in_mind(digest(token)).asked_at = self._ticks()
        return token

    async def supersede(self, token: str) -> None:
        """End what a browser was known by until it signed in anew. The provider isn't told: some end all that they gave with it."""
        if token.startswith(SESSION_PREFIX):
            await self._drop(token, "signed in anew")
        else:
            await self._own.leave(token)

    # ------------------------------------------------------------------------------------------------ one session

    def _in_mind(self, hashed: str) -> _Seen:
        if len(self._seen) >= SESSIONS_IN_MIND and hashed not in self._seen:
            del self._seen[next(iter(self._seen))]  # it is read and asked about anew
        return self._seen.setdefault(hashed, _Seen(asyncio.Lock()))

    async def _read(self, token: str, seen: _Seen) -> Visit:
        seen.visit = None
        found = await self._people.session(token)
        if found is None:
            self._seen.pop(digest(token), None)
            raise Refusal(401, say(SESSION_OVER, called=self._called))
        now = self._ticks()
        if seen.asked_at is None or now - seen.asked_at >= ASKED_AGAIN_AFTER.total_seconds():
            person = await self._asked(token, found[0], seen)
            found = (found[0], person, Identity(f"web:{person.id}"))
        seen.visit, seen.read_at = found[1:], self._ticks()
        return seen.visit

    async def _asked(self, token: str, identity: Identity, seen: _Seen) -> Person:
        """The person, as the provider's word of now has them. Errors: Refusal 401, and the session is over; 503 while it can't say."""
        if seen.away and self._ticks() - seen.away_at < AWAY_FOR.total_seconds():
            raise away(self._called, seen.away)
        seen.away = ""
        try:
            claims = await self._claims(token, identity)
        except IssuerAway as error:
            seen.away, seen.away_at = str(error), self._ticks()
            await self._door.record(identity, f"the provider {error}")
            raise away(self._called, error) from None
        except IssuerRefused as error:
            await self._turn_away(token, identity, f"the provider {error}")
            raise Refusal(401, say(PROVIDER_REFUSED, called=self._called, why=error)) from None
        person = await self._door.let_in(claims)
        if isinstance(person, Unadmitted):
            await self._drop(token, person)
            raise Refusal(401, not_admitted(person, self._called, identity))
        seen.asked_at = self._ticks()
        return person

    async def _claims(self, token: str, identity: Identity) -> Claims:
        """The provider's word of now."""
        name = session_name(digest(token))
        try:
            return await self._word(name, identity.removeprefix(OIDC_PREFIX))
        except UnknownKey:
            raise IssuerAway("signs with a key that it doesn't publish yet") from None
        except SignedRefused as error:
            raise IssuerRefused("id_token", f"gave a token that {error}") from None
        except IssuerRefused as error:
            if error.code not in OF_ITSELF:
                raise
            raise IssuerAway(str(error)) from None
        except LoginFailed as error:
            if error.is_away:
                raise IssuerAway("doesn't renew tokens right now") from None
            if str(error) == OTHER_KEY.format(name=name):
                raise IssuerAway("gave its token to a node with another key; see secrets.shared_key_env") from None
            raise IssuerRefused("token", "ended it") from None

    async def _word(self, name: str, subject: str) -> Claims:
        """Its word, with the groups of an ID token where only those have any."""
        kept, heard = await self._book.login(name), list[str]()
        if kept is not None and kept.issuer != self._provider.terms.issuer:
            raise IssuerRefused("other", "didn't give it; another provider did, before auth.issuer changed")
        tokens = self._tokens(name, client=lambda: self._provider.client(heard.append))
        claims = await self._now(tokens, subject)
        if not self._provider.in_id_token:
            return claims
        if not heard:
            await tokens.refused(await tokens.token(), again=False)  # renewed for the sake of its ID token
        if not heard:
            raise IssuerAway("told another node its groups")
        return await self._provider.with_groups(claims, heard[-1])

    async def _now(self, tokens: LoginTokens, subject: str) -> Claims:
        """Claims by the session's token, which is renewed once where the provider takes it no more."""
        access = await tokens.token()
        try:
            return await self._provider.now_of(access, subject)
        except IssuerRefused as error:
            if error.code not in TOKEN_SPENT:
                raise
            return await self._provider.now_of(await tokens.refused(access, again=False), subject)

    async def _turn_away(self, token: str, identity: Identity, why: str) -> None:
        await self._door.record(identity, why)
        await self._drop(token, why)

    async def _drop(self, token: str, why: str) -> None:
        self._seen.pop(digest(token), None)
        await self._people.drop_session(token, why=why)

    async def _give_back(self, name: str, kept: KeptLogin) -> None:
        if kept.issuer != self._provider.terms.issuer:
            return  # our secret is none of another provider's business
        try:
            grant = issuer_grant_of(self._sealer().open(kept.sealed, place_of(name)))
            if grant is not None:
                await self._provider.client().given_back(grant)
        except (Unsealable, IssuerError) as error:
            log.warning("a token was not given back", session=kept.by, reason=str(error))

    @property
    def _called(self) -> str:
        return self._door.rules.called
