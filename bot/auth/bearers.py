"""Signed tokens of the provider at the API: checked by its keys, and whose they are here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from bot.auth.admitting import Doorkeeper
from bot.auth.provider import Provider
from bot.auth.sessions import ASKED_AGAIN_AFTER
from bot.auth.words import BEARER_AWAY, BEARER_REFUSED, NO_BEARERS, away, not_admitted
from runtime.contract import Identity, Now, Person, Role
from runtime.domain.ids import digest
from runtime.domain.programs.token import ProgramToken
from runtime.http.errors import Refusal
from runtime.oauth.claims import Claims
from runtime.oauth.errors import IssuerAway, IssuerRefused
from runtime.oauth.signed import CLOCK_SKEW, SignedRefused, looks_signed
from runtime.store.protocol.people import Unadmitted
from runtime.text.words import marked, say

SIGNED_IN_MIND: Final = 1_000
NOT_SIGNED: Final = marked("This token isn't known here, and it isn't one of {called} either.")


@dataclass(frozen=True, slots=True)
class _Known:
    """A token that was good, by whom, and in which role at most."""

    claims: Claims
    role: Role
    checked_at: float
    ends_at: float


class SignedTokens:
    """The second layer of the API. A token that it refuses is refused: nobody else is asked about it."""

    def __init__(
        self,
        provider: Provider,
        doorkeeper: Doorkeeper,
        *,
        now: Now,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._provider = provider
        self._door = doorkeeper
        self._now = now
        self._ticks = ticks
        self._known: dict[str, _Known] = {}
        self._turned_away: dict[str, tuple[float, str]] = {}

    async def holder(self, secret: str) -> tuple[ProgramToken, Person]:
        """The token as one of ours would be, and its person. Errors: Refusal 401 with the reason, 403, 503."""
        known = self._known.get(digest(secret)) or await self._checked(secret)
        if self._ticks() - known.checked_at >= ASKED_AGAIN_AFTER.total_seconds():
            known = await self._checked(secret)
        if known.ends_at + CLOCK_SKEW.total_seconds() <= self._now().timestamp():
            raise unknown(say(BEARER_REFUSED, why="has ended"))
        person = await self._door.people.identified(known.claims.identity)
        if person is None:
            self._known.pop(digest(secret), None)
            raise unknown(not_admitted(Unadmitted.UNKNOWN, self._called, known.claims.identity))
        role = min(known.role, person.role)
        return spoken_for(known.claims.identity, role), replace(person, role=role)

    async def _checked(self, secret: str) -> _Known:
        at, why = self._turned_away.get(digest(secret), (0.0, ""))
        if why and self._ticks() - at < ASKED_AGAIN_AFTER.total_seconds():
            raise Refusal(403, why)
        if not looks_signed(secret):
            raise unknown(say(NOT_SIGNED, called=self._called))
        if not self._provider.audience:
            raise unknown(say(NO_BEARERS, called=self._called))
        self._known.pop(digest(secret), None)
        try:
            claims, made_at, ends_at = await self._provider.of_token(secret)
        except SignedRefused as error:
            await self._door.record("", f"a token {error}")
            raise unknown(say(BEARER_REFUSED, why=error)) from None
        except (IssuerAway, IssuerRefused) as error:
            await self._door.record("", f"the provider {error}")
            raise away(self._called, error, BEARER_AWAY) from None
        # A token says what was so when it was made: only a new one may raise a role, or set it.
        person = await self._door.let_in(claims, age=timedelta(seconds=self._now().timestamp() - made_at))
        if isinstance(person, Unadmitted):
            raise self._not_admitted(secret, not_admitted(person, self._called, claims.identity))
        if len(self._known) >= SIGNED_IN_MIND:
            self._known.clear()
        known = _Known(claims, person.role, self._ticks(), ends_at)
        self._known[digest(secret)] = known
        return known

    def _not_admitted(self, secret: str, why: str) -> Refusal:
        """Refused for a minute: a program that repeats it costs the store nothing."""
        if len(self._turned_away) >= SIGNED_IN_MIND:
            self._turned_away.clear()
        self._turned_away[digest(secret)] = (self._ticks(), why)
        return Refusal(403, why)

    @property
    def _called(self) -> str:
        return self._door.rules.called


def spoken_for(identity: Identity, role: Role) -> ProgramToken:
    """A token of a provider, as one of ours with no bounds of its own."""
    return ProgramToken(name=identity, role=role, speaks_as=identity)


def unknown(why: str) -> Refusal:
    return Refusal(401, why, WWW_Authenticate='Bearer realm="Signalbox", error="invalid_token"')
