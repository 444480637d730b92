"""One account looked at live, with neither a store nor a process: for `doctor`, and for whoever sets it up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, Final, Protocol, runtime_checkable

from bot.settings.accounts import AnyAccount
from bot.wiring.channels import adapter_of
from runtime.contract import AdapterContext, Address, Finding, Identity, Level, Person, Room, Seen, View
from runtime.domain.ids import new_id
from runtime.errors import BotError

PATIENCE: Final = timedelta(seconds=20)  # a platform that does not answer is told, and the others with it
WHY: Final = "Nobody is answered there."


@runtime_checkable
class HasChecks(Protocol):
    """An adapter that can look at its own account. It needs no store, and no process that listens."""

    async def checks(self) -> Sequence[Finding]:
        """Ids begin with the account, such as "slack.work.scopes". Changes nothing; ends within seconds."""


async def look_at(account: AnyAccount, patience: timedelta = PATIENCE) -> Sequence[Finding]:
    """What the platform and its adapter say about an account. What goes wrong is a finding too."""
    try:
        adapter = adapter_of(account, given_nothing())
        if not isinstance(adapter, HasChecks):
            return [_finding(account, Level.OK, "checks", "there is nothing to look at beforehand")]
        async with asyncio.timeout(patience.total_seconds()):
            return await adapter.checks()
    except BotError as error:
        return [_finding(account, Level.ERROR, "settings", str(error), WHY, "change it, then: signalbox doctor")]
    except TimeoutError:
        what = f"the platform did not answer within {patience.total_seconds():g} s"
        fix = "look at this machine's network, and at the status page of the platform"
        return [_finding(account, Level.ERROR, "reachable", what, WHY, fix)]
    except Exception as error:  # noqa: BLE001 - what breaks with one account must not hide the others
        what = f"looking at it failed: {type(error).__name__}: {error}"
        return [_finding(account, Level.ERROR, "check", what, WHY, "report it: this is a fault of Signalbox")]


def _finding(account: AnyAccount, level: Level, step: str, what: str, why: str = "", fix: str = "") -> Finding:
    return Finding(level, f"{account.channel}.{account.name}.{step}", what, why, fix)


def given_nothing() -> AdapterContext:
    """What an adapter is given where nothing is stored."""
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

    async def view(self, address: Address, *, before: datetime | None = None, limit: int = 200) -> View:
        return View((), busy=False)

    async def person_of(self, token: str, *, fresh: bool = False) -> tuple[Person, Identity] | None:
        return None

    async def invited(self, token: str) -> Person | None:
        return None

    async def redeem(self, token: str) -> str | None:
        return None

    def folder(self, address: Address) -> Path:
        raise LookupError("there are no workspaces here")

    def open(self, address: Address, path: str) -> AbstractContextManager[BinaryIO]:
        raise FileNotFoundError(path)

    def admit(self, path: Path) -> None:
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

    def ring(self, topic: str) -> None:
        """Nobody waits."""

    async def listen(self, *topics: str) -> AsyncIterator[str]:
        for topic in topics[:0]:
            yield topic
