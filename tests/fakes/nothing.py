"""An installation in which nothing ever happened, for adapters that are only made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from runtime.contract import AdapterContext, Address, Identity, Person, Room, Seen, View, WorkBehind
from runtime.domain.ids import new_id


def given_nothing() -> AdapterContext:
    """The context of an adapter where nothing is stored."""
    nothing = Nothing()
    return AdapterContext(nothing, nothing, nothing, nothing, nothing, lambda: datetime.now(UTC), new_id)


class Nothing:
    """Implements the seams of `contract.rooms` for an installation in which nothing ever happened."""

    async def rooms(self, channel: str, account: str, owner: Identity) -> list[Room]:
        return []

    async def own_rooms(self, channel: str, account: str, owner: Identity) -> frozenset[Address]:
        return frozenset()

    async def room_owner(self, address: Address) -> Identity | None:
        return None

    async def is_untouched(self, address: Address) -> bool:
        return True

    async def view(
        self,
        address: Address,
        *,
        before: datetime | None = None,
        after: datetime | None = None,
        around: str = "",
        limit: int = 200,
    ) -> View:
        return View((), busy=False)

    async def work_behind(self, address: Address, entry_id: str) -> WorkBehind:
        return WorkBehind()

    async def person_of(self, token: str, *, fresh: bool = False) -> tuple[Person, Identity] | None:
        return None

    async def invited(self, token: str) -> Person | None:
        return None

    async def linked(self, token: str) -> Person | None:
        return None

    async def leave(self, token: str) -> None:
        """Nobody is signed in."""

    async def redeem(self, token: str, browser: str = "") -> str | None:
        return None

    def folder(self, address: Address) -> Path:
        raise LookupError("there are no workspaces here")

    def open(self, address: Address, path: str) -> AbstractContextManager[BinaryIO]:
        raise FileNotFoundError(path)

    def admit(self, made: int) -> None:
        """Nobody runs tools here."""

    async def seen(self, channel: str, account: str, since: datetime) -> list[Seen]:
        return []

    async def last_heard(self, channel: str, account: str) -> datetime | None:
        return None

    async def moved(self, channel: str, account: str) -> Mapping[str, str]:
        return {}

    async def receipts(self, address: Address, since: datetime) -> list[str]:
        return []

    async def unsettled(self, channel: str, account: str) -> list[Address]:
        return []

    def notify(self, topic: str) -> None:
        """Nobody waits."""

    async def listen(self, *topics: str) -> AsyncIterator[str]:
        for topic in topics[:0]:
            yield topic

    def calling(self, told: Callable[[str], None], *topics: str) -> AbstractContextManager[None]:
        return nullcontext()
