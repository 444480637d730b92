"""Programs over an engine: their tokens, and what became of what they said."""

from __future__ import annotations

from datetime import timedelta
from time import monotonic
from typing import Final

from runtime.contract import Person, RunId, SignalId
from runtime.domain.ids import digest
from runtime.domain.programs.followed import Followed, SaidStep
from runtime.domain.programs.token import ProgramToken
from runtime.store.common import fact
from runtime.store.programs.following import followed, id_by_key, keyed_said, said_by
from runtime.store.programs.tokens import (
    every_token,
    holder_named,
    make_token,
    note_use,
    revoke_token,
    token_named,
    token_of,
)
from runtime.store.sql.base import Base

TOKEN_KNOWN_FOR: Final = timedelta(seconds=1)
"""How long a change of a token by another node may go unnoticed here."""
TOKENS_IN_MIND: Final = 1_000
USE_NOTED_EACH: Final = timedelta(hours=1)
Holder = tuple[ProgramToken, Person | None]


class ProgramStore(Base):
    """Tokens are looked up with every call of a program: each is kept in mind for a second."""

    async def tokens(self) -> list[ProgramToken]:
        return await self._driver.read(every_token)

    async def token_named(self, name: str) -> ProgramToken | None:
        return await self._driver.read(lambda: token_named(name))

    async def token_of(self, secret: str) -> Holder | None:
        """The token and the person as which its program is known; None for what nobody made."""
        hashed = digest(secret)
        return await self._driver.read(lambda: token_of(hashed))

    async def holder_named(self, name: str) -> Holder | None:
        """The same by the token's name."""
        return await self._driver.read(lambda: holder_named(name))

    async def make_token(self, new: ProgramToken, secret: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: make_token(new, secret, now, self._new_id))

    async def revoke_token(self, name: str, by: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: revoke_token(name, by, now))

    async def note_use(self, name: str) -> None:
        """Note that a token was used, at most once an hour."""
        now = self.now()
        await self._driver.write(lambda: note_use(name, now, now - USE_NOTED_EACH))

    async def note_exposed(self, name: str, path: str) -> None:
        """Record that a token came in an address, where logs keep it."""
        now = self.now()
        await self._driver.write(lambda: fact(now, "token in an address", name, path, "refused"))

    async def followed(self, signal: str) -> Followed | None:
        """A message and how it stands; None for an id that no message has."""
        return await self._driver.read(lambda: followed(signal))

    async def said_by(self, run: RunId) -> tuple[SaidStep, ...]:
        """Texts of a run's model calls that are recorded, in order."""
        return await self._driver.read(lambda: said_by(run))

    async def keyed_said(self, actor: str, key: str, *, limit: int, behind: str = "") -> tuple[list[SignalId], int]:
        """Messages of `actor` whose keys begin with `key`, newest first, behind one of them; and how many there are."""
        return await self._driver.read(lambda: keyed_said(actor, key, limit, behind))

    async def id_by_key(self, platform: str, key: str) -> SignalId | None:
        return await self._driver.read(lambda: id_by_key(platform, key))


class TokensInMind:
    """Tokens that were looked up within the last second, by their hash."""

    def __init__(self, store: ProgramStore) -> None:
        self._store = store
        self._seen: dict[str, tuple[float, Holder | None]] = {}

    async def token_of(self, secret: str) -> Holder | None:
        at, key = monotonic(), digest(secret)
        seen = self._seen.get(key)
        if seen and at - seen[0] < TOKEN_KNOWN_FOR.total_seconds():
            return seen[1]
        found = await self._store.token_of(secret)
        if len(self._seen) >= TOKENS_IN_MIND:
            self._seen.clear()
        if found:
            self._seen[key] = (at, found)
        return found

    def forget(self) -> None:
        """A token was made or revoked here."""
        self._seen.clear()
