"""Callers: which program asks, by its token, and what it may do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from aiohttp import web

from adapters.webhook.pace import NO_WAIT, Pace, ticking
from bot.operator.actor import Actor
from runtime.contract import Identity, Now, Person, Role
from runtime.domain.programs.token import TOKEN_PREFIX, ProgramToken
from runtime.http.errors import Refusal
from runtime.http.guard import BEARER
from runtime.store.programs.store import USE_NOTED_EACH, ProgramStore, TokensInMind

UNSIGNED: Final = (
    "This needs a token in the header `Authorization: Bearer …`. An owner makes one: {command} tokens make"
)
UNKNOWN_PROGRAM: Final = "This token isn't known here. An owner can list the tokens, and make a new one."
PROGRAM_GONE: Final = "The program of this token was removed. An owner can make it a new token."
IN_ADDRESS: Final = (
    "A token was in the address, where logs keep it, so it isn't accepted there. "
    "Send it in the header `Authorization: Bearer …`, and have this one replaced."
)
TOO_OFTEN: Final = "This token may ask {count} times a minute. Try again after the time in Retry-After."
NEEDS_ROLE: Final = "This needs a token with the role {role}, and this one's is {own}."


@dataclass(frozen=True, slots=True)
class Caller:
    """A program that asks, by its token."""

    token: ProgramToken
    person: Person

    @property
    def identity(self) -> Identity:
        return self.token.identity

    @property
    def role(self) -> Role:
        """The lesser one of its token's and its program's."""
        return min(self.token.role, self.person.role)

    @property
    def actor(self) -> Actor:
        """As operations of operators know it."""
        return Actor(self.person, self.identity)

    def must_be(self, role: Role) -> None:
        if self.role < role:
            raise Refusal(403, NEEDS_ROLE.format(role=role.word, own=self.role.word))


class Callers:
    """Checks tokens. One for the process: it counts how often each is used."""

    def __init__(
        self,
        store: ProgramStore,
        now: Now,
        *,
        command: str = "signalbox",
        ticks: Callable[[], timedelta] = ticking,
    ) -> None:
        self._store = store
        self._known = TokensInMind(store)
        self._now = now
        self._command = command
        self._ticks = ticks
        self._paces: dict[str, tuple[int, Pace]] = {}
        self._noted: dict[str, timedelta] = {}

    async def caller(self, request: web.Request) -> Caller:
        """The program that asks. Errors: Refusal 401 with the reason; 429 for one that asks too often."""
        await self._keep_out_of_addresses(request)
        return await self.holder(request.headers.get("Authorization", ""))

    async def holder(self, authorization: str) -> Caller:
        """As `caller`, by the value of the header alone."""
        if not authorization.startswith(BEARER):
            raise _unknown(UNSIGNED.format(command=self._command))
        found = await self._known.token_of(authorization.removeprefix(BEARER).strip())
        if found is None:
            raise _unknown(UNKNOWN_PROGRAM)
        token, person = found
        if fault := token.fault(self._now()):
            raise _unknown(fault)
        if person is None:
            raise _unknown(PROGRAM_GONE)
        self._paced(token)
        await self._note(token)
        return Caller(token, person)

    def _paced(self, token: ProgramToken) -> None:
        each, pace = self._paces.get(token.name, (0, None))
        if pace is None or each != token.per_minute:
            pace = Pace(token.per_minute, self._ticks)
            self._paces[token.name] = (token.per_minute, pace)
        if (wait := pace.take()) > NO_WAIT:
            seconds = str(math.ceil(wait.total_seconds()))
            raise Refusal(429, TOO_OFTEN.format(count=token.per_minute), Retry_After=seconds)

    async def _note(self, token: ProgramToken) -> None:
        """Its last use, seldom: a call costs no write."""
        now = self._ticks()
        if token.name in self._noted and now - self._noted[token.name] < USE_NOTED_EACH:
            return
        self._noted[token.name] = now
        await self._store.note_use(token.name)

    async def _keep_out_of_addresses(self, request: web.Request) -> None:
        if TOKEN_PREFIX not in request.raw_path:
            return
        for word in (*request.query.values(), *request.path.split("/")):
            if word.startswith(TOKEN_PREFIX) and (found := await self._known.token_of(word)):
                await self._store.note_exposed(found[0].name, request.path.partition(TOKEN_PREFIX)[0])
        raise _unknown(IN_ADDRESS)


def _unknown(why: str) -> Refusal:
    return Refusal(401, why, WWW_Authenticate='Bearer realm="Signalbox"')
