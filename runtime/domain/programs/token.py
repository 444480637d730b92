"""Token of a program: what it may do, where, and until when. Pure."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Final

from runtime.contract import Identity, Role

TOKEN_PREFIX: Final = "sbx_"  # noqa: S105 - by which people and scanners know one
TOKEN_SECRET_BYTES: Final = 24
PROGRAM_NAME: Final = r"[a-z0-9][a-z0-9-]{0,39}"
CALLS_PER_MINUTE: Final = 60
CALLS_PER_MINUTE_MAX: Final = 6_000
PROGRAM_PREFIX: Final = "api:"
"""Begins the identities of programs: each says what it wants itself, as a person does, and joins nobody else's run."""
VOUCHED_PREFIXES: Final = ("oidc:", "auth:")
"""Begin those of people who come to the API with a provider's word; at the page they have another one."""
API_PREFIXES: Final = (PROGRAM_PREFIX, *VOUCHED_PREFIXES)
TOKEN_ROLES: Final = (Role.USER, Role.OPERATOR)
"""Roles that a program may have: people stay the owners."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramToken:
    """A token as it is kept, without its secret.

    `agents` are those that it may ask, the first one where it names none; empty: all, and `main` first. `rooms` are globs
    of rooms as settings write them, and of names of its own rooms; empty: its own rooms alone, and for an operator all.
    A glob without a colon is about own names: `s*` is no word about `slack:work/…`. `speaks_as` is the identity of somebody
    whom a provider vouches for, in place of a program.
    """

    name: str
    role: Role
    agents: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    per_minute: int = CALLS_PER_MINUTE
    until: datetime | None = None
    made_by: str = ""
    made_at: datetime | None = None
    used_at: datetime | None = None
    revoked_at: datetime | None = None
    speaks_as: Identity | None = None

    @property
    def identity(self) -> Identity:
        """As whom the program speaks."""
        return self.speaks_as or program_identity(self.name)

    def fault(self, now: datetime) -> str:
        """The reason it lets nobody in, as a sentence; empty while it does."""
        if self.revoked_at is not None:
            return "This token was revoked. An owner can make a new one."
        if self.until is not None and now >= self.until:
            return "This token's time is over. An owner can make a new one."
        return ""

    def may_ask(self, agent: str) -> bool:
        return not self.agents or agent in self.agents

    def may_enter(self, room: str) -> bool:
        """True for a room that it may speak in and read: as settings write it, or the bare name of one of its own."""
        if not self.rooms:
            return ":" not in room or self.role >= Role.OPERATOR
        is_own = ":" not in room
        return any((":" not in glob) == is_own and fnmatchcase(room, glob) for glob in self.rooms)


def is_vouched(identity: str) -> bool:
    """True for the identity of somebody whom a provider vouches for."""
    return identity.startswith(VOUCHED_PREFIXES)


def program_identity(name: str) -> Identity:
    return Identity(f"{PROGRAM_PREFIX}{name}")


def fresh_secret() -> str:
    """A new token, which is shown once."""
    return TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_SECRET_BYTES)


def standing_of(token: ProgramToken, now: datetime) -> str:
    """A word for lists."""
    if token.revoked_at is not None:
        return "revoked"
    return "over" if token.fault(now) else "valid"


def globs_of(words: Sequence[str]) -> tuple[str, ...]:
    """Globs as they were given: several in one text, or each by itself."""
    return tuple(one.strip() for text in words for one in text.split(",") if one.strip())
