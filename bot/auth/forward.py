"""A forward-auth address: it is asked who somebody is. A header of the request itself is never believed.

A proxy in front of us could name people in headers, and anybody who reaches us past it could write the same ones. So the
address is asked with the cookies and the authorization of the request, and only its own answer names somebody.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from aiohttp import web

from bot.auth.admitting import Doorkeeper
from bot.auth.bearers import spoken_for, unknown
from bot.auth.sessions import ASKED_AGAIN_AFTER
from bot.auth.words import away, not_admitted
from runtime.contract import Identity, Person
from runtime.domain.ids import digest
from runtime.domain.programs.token import ProgramToken
from runtime.http.errors import Refusal
from runtime.http.guard import BEARER, is_secure
from runtime.oauth.claims import PROXY_PREFIX, Claims, is_subject
from runtime.store.protocol.people import Unadmitted
from runtime.text.words import marked, say

FORWARD_TIMEOUT: Final = timedelta(seconds=5)
FORWARD_IN_MIND: Final = 1_000
FORWARD_HEADER_MAX_CHARS: Final = 16_384
OWN_COOKIES: Final = "signalbox-"
NOT_FORWARDED: Final = marked("{called} doesn't know you. Sign in there, and open this page again.")


@dataclass(frozen=True, slots=True)
class ForwardTerms:
    """The address, and the headers of its answer that name somebody."""

    url: str
    user: str
    groups: str
    name: str


class ForwardAuth:
    """Asks the address, at most once a minute for the same cookies and authorization."""

    def __init__(
        self, terms: ForwardTerms, doorkeeper: Doorkeeper, *, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        self._terms = terms
        self._door = doorkeeper
        self._ticks = ticks
        self._known: dict[str, tuple[float, Person, Identity]] = {}

    async def visitor(self, request: web.Request) -> tuple[Person, Identity]:
        """The person at the page. Errors: Refusal 401, 403, 503."""
        cookies = (f"{name}={value}" for name, value in request.cookies.items() if not name.startswith(OWN_COOKIES))
        shown = {"Cookie": "; ".join(cookies), "Authorization": request.headers.get("Authorization", "")}
        here = {"X-Forwarded-Host": request.host, "X-Forwarded-Proto": "https" if is_secure(request) else "http"}
        person, _ = await self._asked(shown, here)
        return person, Identity(f"web:{person.id}")

    async def holder(self, secret: str) -> tuple[ProgramToken, Person]:
        """The token at the API as one of ours would be, and its person. Errors: as above."""
        person, identity = await self._asked({"Authorization": f"{BEARER}{secret}"}, {})
        return spoken_for(identity, person.role), person

    async def _asked(self, shown: Mapping[str, str], here: Mapping[str, str]) -> tuple[Person, Identity]:
        given = {name: value for name, value in shown.items() if value}
        if not given or any(len(value) > FORWARD_HEADER_MAX_CHARS for value in given.values()):
            raise unknown(say(NOT_FORWARDED, called=self._called))
        key = digest(repr(sorted(given.items())))
        seen = self._known.get(key)
        if seen and self._ticks() - seen[0] < ASKED_AGAIN_AFTER.total_seconds():
            return await self._still(seen[1], seen[2])
        self._known.pop(key, None)
        claims = await self._answer({**given, **here, "X-Forwarded-Method": "GET", "X-Forwarded-Uri": "/"})
        person = await self._door.let_in(claims)
        if isinstance(person, Unadmitted):
            raise Refusal(403, not_admitted(person, self._called, claims.identity))
        if len(self._known) >= FORWARD_IN_MIND:
            self._known.clear()
        self._known[key] = (self._ticks(), person, claims.identity)
        return person, claims.identity

    async def _still(self, person: Person, identity: Identity) -> tuple[Person, Identity]:
        """The person as they are stored now: an owner here may have changed them since."""
        known = await self._door.people.identified(identity)
        if known is None:
            raise unknown(not_admitted(Unadmitted.UNKNOWN, self._called, identity))
        return Person(known.id, known.name, min(known.role, person.role)), identity

    async def _answer(self, headers: Mapping[str, str]) -> Claims:
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=FORWARD_TIMEOUT.total_seconds())
        try:
            async with (
                aiohttp.ClientSession(trust_env=False, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session,
                session.get(self._terms.url, headers=headers, allow_redirects=False) as answer,
            ):
                return await self._read(answer.status, answer.headers)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            why = "didn't answer in time" if isinstance(error, TimeoutError) else "can't be reached"
            await self._door.record("", f"the forward-auth address {why}")
            raise away(self._called, why) from None

    async def _read(self, status: int, told: Mapping[str, str]) -> Claims:
        if 300 <= status < 400 or status in (401, 403):
            await self._door.record("", f"the forward-auth address answered {status}")
            raise unknown(say(NOT_FORWARDED, called=self._called))
        user = told.get(self._terms.user, "")
        if not 200 <= status < 300 or not is_subject(user):
            why = f"answered {status}" if status // 100 != 2 else f"named nobody in {self._terms.user}"
            await self._door.record("", f"the forward-auth address {why}")
            raise away(self._called, why)
        groups = tuple(one.strip() for one in told.get(self._terms.groups, "").split(",") if one.strip())
        return Claims(user, told.get(self._terms.name, ""), groups=groups, prefix=PROXY_PREFIX)

    @property
    def _called(self) -> str:
        return self._door.rules.called
