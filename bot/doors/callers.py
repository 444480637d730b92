"""Callers: which program asks, by its token, or which person at the page; and what they may do."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
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
EXPOSED_LOOKED_AT: Final = 3
"""Words of one address that are looked up."""
PAGE_TOO_OFTEN: Final = "That's more than {count} requests a minute. Try again after the time in Retry-After."
NEEDS_ROLE: Final = "This needs a token with the role {role}, and this one's is {own}."


@dataclass(frozen=True, slots=True)
class Caller:
    """A program that asks, by its token. `still` has both as they are by now; Errors: Refusal 401 once it lets nobody in.

    A person `at_page` has a token of no bounds of its own: their rooms are those of their page.
    """

    token: ProgramToken
    person: Person
    still: Callable[[], Awaitable[tuple[ProgramToken, Person]]] = field(compare=False, repr=False)
    at_page: bool = False

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

    async def renewed(self) -> Caller:
        """The caller with the role that they have by now, for whoever goes on answering. Errors: Refusal 401 as of `still`."""
        token, person = await self.still()
        return replace(self, token=token, person=person)

    def may_enter(self, room: str) -> bool:
        """As the token has it, with the role that it has by now."""
        return replace(self.token, role=self.role).may_enter(room)

    def must_be(self, role: Role) -> None:
        if self.at_page:
            self.actor.must_be(role)
        elif self.role < role:
            raise Refusal(403, NEEDS_ROLE.format(role=role.word, own=self.role.word))


SecondHolder = Callable[[str], Awaitable[tuple[ProgramToken, Person]]]
"""Who a bearer is that isn't one of our tokens, as a provider has it. Errors: Refusal."""
AtPage = Callable[[web.Request], Awaitable[Caller | None]]
"""The person at the page, where a request shows one and no bearer. Errors: Refusal."""


class Callers:
    """Checks tokens. One for the process: it counts how often each is used. `second` is asked about those that aren't ours."""

    def __init__(
        self,
        store: ProgramStore,
        now: Now,
        *,
        command: str = "signalbox",
        ticks: Callable[[], timedelta] = ticking,
        second: SecondHolder | None = None,
    ) -> None:
        self._second = second
        self._store = store
        self._known = TokensInMind(store)
        self._now = now
        self._command = command
        self._ticks = ticks
        self._paces: dict[str, tuple[int, Pace]] = {}
        self._noted: dict[str, timedelta] = {}
        self._exposed: dict[str, timedelta] = {}

    async def caller(self, request: web.Request, at_page: AtPage | None = None) -> Caller:
        """The program that asks, or the person `at_page`. Errors: Refusal 401 with the reason; 429 for one that asks too often."""
        await self._keep_out_of_addresses(request)
        if at_page and (visitor := await at_page(request)):
            self._paced(visitor.token, PAGE_TOO_OFTEN)
            return visitor
        return await self.holder(request.headers.get("Authorization", ""))

    async def holder(self, authorization: str) -> Caller:
        """As `caller`, by the value of the header alone."""
        if not authorization.startswith(BEARER):
            raise _unknown(UNSIGNED.format(command=self._command))
        secret = authorization.removeprefix(BEARER).strip()
        if self._second and not secret.startswith(TOKEN_PREFIX):
            token, person = await self._second(secret)
            self._paced(token)
            return Caller(token, person, partial(self._second, secret))
        token, person = await self._valid(secret)
        self._paced(token)
        await self._note(token)
        return Caller(token, person, partial(self._valid, secret))

    async def _valid(self, secret: str) -> tuple[ProgramToken, Person]:
        """The token and its program as they stand now. Errors: Refusal 401 with the reason."""
        found = await self._known.token_of(secret)
        if found is None:
            raise _unknown(UNKNOWN_PROGRAM)
        token, person = found
        if fault := token.fault(self._now()):
            raise _unknown(fault)
        if person is None:
            raise _unknown(PROGRAM_GONE)
        return token, person

    def _paced(self, token: ProgramToken, words: str = TOO_OFTEN) -> None:
        each, pace = self._paces.get(token.name, (0, None))
        if pace is None or each != token.per_minute:
            pace = Pace(token.per_minute, self._ticks)
            self._paces[token.name] = (token.per_minute, pace)
        if (wait := pace.take()) > NO_WAIT:
            seconds = str(math.ceil(wait.total_seconds()))
            raise Refusal(429, words.format(count=token.per_minute), Retry_After=seconds)

    async def _note(self, token: ProgramToken) -> None:
        """Its last use, seldom: a call costs no write."""
        now = self._ticks()
        if token.name in self._noted and now - self._noted[token.name] < USE_NOTED_EACH:
            return
        self._noted[token.name] = now
        await self._store.note_use(token.name)

    async def _keep_out_of_addresses(self, request: web.Request) -> None:
        words = {*request.query.values(), *request.path.split("/")}
        shown = [word for word in words if word.startswith(TOKEN_PREFIX)]
        if not shown and TOKEN_PREFIX not in request.raw_path:
            return
        for word in shown[:EXPOSED_LOOKED_AT]:
            if found := await self._known.token_of(word):
                await self._note_exposed(found[0].name, request.path.partition(TOKEN_PREFIX)[0])
        raise _unknown(IN_ADDRESS)

    async def _note_exposed(self, name: str, path: str) -> None:
        """Into the audit, once an hour: whoever repeats it can't fill that."""
        now = self._ticks()
        if name in self._exposed and now - self._exposed[name] < USE_NOTED_EACH:
            return
        self._exposed[name] = now
        await self._store.note_exposed(name, path)


def _unknown(why: str) -> Refusal:
    return Refusal(401, why, WWW_Authenticate='Bearer realm="Signalbox"')
