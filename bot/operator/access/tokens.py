"""Tokens of programs for operators: made, listed and revoked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.operator.actor import Actor
from bot.operator.partial_api import PartialApi, by_role, role_of
from bot.operator.views import View, at
from runtime.calendar.errors import WhenError
from runtime.calendar.until import until
from runtime.contract import Now, Role
from runtime.domain.programs.token import (
    CALLS_PER_MINUTE,
    CALLS_PER_MINUTE_MAX,
    PROGRAM_NAME,
    TOKEN_ROLES,
    ProgramToken,
    fresh_secret,
    globs_of,
    standing_of,
)
from runtime.http.errors import Refusal
from runtime.store.programs.store import ProgramStore
from runtime.text.words import count, marked, say

BAD_PROGRAM_NAME: Final = marked(
    "A program's name is 1 to 40 small letters, digits and dashes, such as `build-server`."
)
NO_SUCH_ROLE: Final = marked("A token's role is user or operator. Owners are people.")
BAD_PACE: Final = marked("A token's calls a minute are a number from 1 to {most}.")
STILL_VALID: Final = marked("There is a valid token called {name}. Revoke it first: signalbox tokens revoke {name}")
NO_VALID_ONE: Final = marked(
    "There is no token called {name}, or it is revoked already. `signalbox tokens list` has them."
)
NO_SUCH_AGENT: Final = marked("There is no agent {name}. There are: {names}.")
UNTIL_ZONE: Final = "UTC"


@dataclass(frozen=True, slots=True)
class WantedToken:
    """A token as an owner asks for it."""

    name: str
    role: Role
    agents: Sequence[str] = ()
    rooms: Sequence[str] = ()
    until: str = ""
    per_minute: str = ""


@dataclass(frozen=True, slots=True)
class TokenOperations:
    """`agents` are the names of those there are."""

    store: ProgramStore
    now: Now
    agents: Sequence[str]

    async def listed(self) -> list[View]:
        return [self._view(one) for one in await self.store.tokens()]

    async def made(self, wanted: WantedToken, actor: Actor) -> View:
        token, secret = self._checked(wanted, actor), fresh_secret()
        if not await self.store.make_token(token, secret):
            raise Refusal(409, say(STILL_VALID, name=token.name))
        kept = await self.store.token_named(token.name)
        return {**self._view(kept or token), "token": secret}

    async def revoked(self, name: str, actor: Actor) -> View:
        if not await self.store.revoke_token(name, actor.name):
            raise Refusal(404, say(NO_VALID_ONE, name=name))
        kept = await self.store.token_named(name)
        told = say("The token {name} is revoked. Within a second no door takes it.", name=name)
        return {**(self._view(kept) if kept else {"name": name}), "told": told}

    def _checked(self, wanted: WantedToken, actor: Actor) -> ProgramToken:
        if not re.fullmatch(PROGRAM_NAME, wanted.name):
            raise Refusal(400, BAD_PROGRAM_NAME)
        if wanted.role not in TOKEN_ROLES:
            raise Refusal(400, NO_SUCH_ROLE)
        agents = globs_of(wanted.agents)
        if strange := [name for name in agents if name not in self.agents]:
            raise Refusal(404, say(NO_SUCH_AGENT, name=strange[0], names=", ".join(self.agents)))
        return ProgramToken(
            name=wanted.name,
            role=wanted.role,
            agents=agents,
            rooms=globs_of(wanted.rooms),
            per_minute=_pace(wanted.per_minute),
            until=_until(wanted.until, self.now()),
            made_by=actor.name,
        )

    def _view(self, one: ProgramToken) -> View:
        return {
            "name": one.name,
            "identity": one.identity,
            "role": one.role.word,
            "state": standing_of(one, self.now()),
            "agents": list(one.agents),
            "rooms": list(one.rooms),
            "per_minute": one.per_minute,
            "until": at(one.until),
            "made_by": one.made_by,
            "made_at": at(one.made_at),
            "used_at": at(one.used_at),
            "revoked_at": at(one.revoked_at),
        }


def _pace(text: str) -> int:
    if not text:
        return CALLS_PER_MINUTE
    if not (text.isascii() and text.isdecimal() and len(text) <= 4 and 1 <= int(text) <= CALLS_PER_MINUTE_MAX):
        raise Refusal(400, say(BAD_PACE, most=count(CALLS_PER_MINUTE_MAX)))
    return int(text)


def _until(text: str, now: datetime) -> datetime | None:
    """The end of a token's time."""
    if not text:
        return None
    try:
        return until(text, zone=UNTIL_ZONE, now=now)
    except WhenError as error:
        raise Refusal(400, str(error)) from error


@by_role
class TokensApi(PartialApi):
    """Tokens of programs."""

    async def tokens(self) -> list[View]:
        """Tokens of programs, by name."""
        return await self._tokens.listed()

    async def make_token(
        self,
        name: str,
        role: str = "user",
        agents: Sequence[str] = (),
        rooms: Sequence[str] = (),
        until: str = "",
        per_minute: str = "",
    ) -> View:
        """Make a program a token, which is in this answer and nowhere else."""
        wanted = WantedToken(name, role_of(role), agents, rooms, until, per_minute)
        return await self._tokens.made(wanted, self.actor)

    async def revoke_token(self, name: str) -> View:
        """End a token: its program is let in no more."""
        return await self._tokens.revoked(name, self.actor)

    @property
    def _tokens(self) -> TokenOperations:
        has = self._context
        return TokenOperations(has.store.programs, has.now, [row["name"] for row in has.agents()])
