"""The OpenID provider of the settings: its addresses and keys, kept for a while, and what it says of people."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from runtime.contract import Now
from runtime.oauth.claims import Claims, claims_of, groups_in
from runtime.oauth.errors import IssuerAway, IssuerError, IssuerRefused
from runtime.oauth.grant import IssuerGrant
from runtime.oauth.issuer import Endpoints, IssuerTerms, Proof, asking_again, login_page
from runtime.oauth.openid import OpenIdClient
from runtime.oauth.signed import SignedRefused, SignedTerms, UnknownKey, checked, keys_of

if TYPE_CHECKING:
    from jwt import PyJWK

PROVIDER_TIMEOUT: Final = timedelta(seconds=5)
"""Somebody waits at a page for each answer."""
METADATA_KEPT_FOR: Final = timedelta(minutes=10)
"""Addresses and keys: a key that the provider gave up is refused after that."""
KEYS_READ_EACH: Final = timedelta(seconds=10)
"""Least time between two looks for a key that isn't there: tokens with made-up keys cost the provider no more."""
AWAY_FOR: Final = timedelta(seconds=3)
"""Time for which nobody else waits for a provider that didn't answer."""

T = TypeVar("T")


class Provider:
    """Asks the provider, and remembers its addresses and keys. Errors: IssuerRefused, IssuerAway, SignedRefused."""

    def __init__(
        self,
        terms: IssuerTerms,
        *,
        groups_claim: str,
        in_id_token: bool = False,
        audience: str,
        now: Now,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self.terms = terms
        self.audience = audience
        self.in_id_token = in_id_token
        self._groups = groups_claim
        self._now = now
        self._ticks = ticks
        self._lock = asyncio.Lock()
        self._endpoints: tuple[float, Endpoints] | None = None
        self._keys: tuple[float, list[PyJWK]] | None = None
        self._failed: tuple[float, IssuerError] | None = None

    def client(self, heard: Callable[[str], object] | None = None) -> OpenIdClient:
        return OpenIdClient(self.terms, now=self._now, timeout=PROVIDER_TIMEOUT, heard=heard)

    async def endpoints(self) -> Endpoints:
        if kept := self._kept(self._endpoints, METADATA_KEPT_FOR):
            return kept  # whoever has them waits for nobody who asks
        async with self._lock:
            if kept := self._kept(self._endpoints, METADATA_KEPT_FOR):
                return kept
            found = await self._told(self.client().endpoints)
            self._endpoints = (self._ticks(), found)
            return found

    async def page(self, proof: Proof, nonce: str, back: str, *, again: bool = False) -> str:
        """Address at which a person signs in; with a question for the password, whoever is signed in there, if `again`."""
        page = login_page(self.terms, await self.endpoints(), proof, back, nonce)
        return asking_again(page) if again else page

    async def signed_in(self, code: str, proof: Proof, nonce: str, back: str) -> tuple[IssuerGrant, Claims]:
        """The grant of a code that a browser brought back, and who it is, with their groups of now."""
        grant, token = await self.client().signed_in(await self.endpoints(), code, proof.verifier, back)
        client_id = self.terms.client_id
        told = await self._checked(token, SignedTerms(self.terms.issuer, client_id, nonce, client_id))
        claims = await self.now_of(grant.access_token, str(told.get("sub")))
        at = told.get("auth_time")
        claims = replace(claims, signed_in_at=float(at) if isinstance(at, int | float) else None)
        return grant, replace(claims, groups=groups_in(told, self._groups)) if self.in_id_token else claims

    async def with_groups(self, claims: Claims, token: str) -> Claims:
        """The claims with the groups of an ID token that came with a renewal."""
        client_id = self.terms.client_id
        told = await self._checked(token, SignedTerms(self.terms.issuer, client_id, client_id=client_id))
        if told.get("sub") != claims.subject:
            raise IssuerRefused("sub", "it names somebody else")
        return replace(claims, groups=groups_in(told, self._groups))

    async def now_of(self, access_token: str, subject: str) -> Claims:
        """Claims of the provider, as of now, about the person of a token."""
        told = await self.client().userinfo(await self.endpoints(), access_token)
        claims = claims_of(told, self._groups)
        if claims is None or claims.subject != subject:
            raise IssuerRefused("sub", "it names somebody else")  # OpenID Connect Core 5.3.2
        return claims

    async def of_token(self, token: str) -> tuple[Claims, float, float]:
        """Claims of a signed token of the API, when it was made, and when it ends, in seconds since 1970."""
        told = await self._checked(token, SignedTerms(self.terms.issuer, self.audience))
        claims = claims_of(told, self._groups)
        if claims is None:
            raise SignedRefused("sub", "names nobody")
        return claims, float(told["iat"]), float(told["exp"])

    async def _checked(self, token: str, terms: SignedTerms) -> dict[str, Any]:
        try:
            return checked(token, await self._known_keys(METADATA_KEPT_FOR), terms, self._now())
        except UnknownKey:
            return checked(token, await self._known_keys(KEYS_READ_EACH), terms, self._now())

    async def _known_keys(self, age: timedelta) -> list[PyJWK]:
        """The keys, read anew unless they are younger than `age`."""
        endpoints = await self.endpoints()
        if kept := self._kept(self._keys, age):
            return kept
        async with self._lock:
            if kept := self._kept(self._keys, age):
                return kept
            found = await self._told(partial(self._read_keys, endpoints))
            self._keys = (self._ticks(), found)
            return found

    async def _read_keys(self, endpoints: Endpoints) -> list[PyJWK]:
        if not (found := keys_of(await self.client().keys(endpoints))):
            raise IssuerAway("has no key that can be used")
        return found

    async def _told(self, ask: Callable[[], Awaitable[T]]) -> T:
        """The answer that `ask` brings; after a failure, the same failure for a while: those who wait don't ask one after the other."""
        if self._failed and self._is_young(self._failed[0], AWAY_FOR):
            raise self._failed[1].with_traceback(None)
        try:
            return await ask()
        except IssuerError as error:
            self._failed = (self._ticks(), error)
            raise

    def _kept(self, found: tuple[float, T] | None, age: timedelta) -> T | None:
        return found[1] if found and self._is_young(found[0], age) else None

    def _is_young(self, at: float, age: timedelta) -> bool:
        return self._ticks() - at < age.total_seconds()
