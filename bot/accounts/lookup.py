"""Rooms as people write them: at accounts here, also while those connect, and at accounts that other nodes serve.

An account is called by its name in the settings, and stored by the identity that its platform tells once it is connected.
A process that has just started knows that identity from the last start. It waits for the platform all the same, since
another token has another identity, but never long: where the platform stays silent it goes by what it knows, and where it
refuses the account, whoever asks is told so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, Protocol

import structlog

from bot.accounts.naming import Account, Accounts, Known, accounts_of
from runtime.cluster.notifier import REST
from runtime.contract import Address, Connection, ConnectionStatus
from runtime.domain.clock import steady
from runtime.errors import Retryable, StoreError

CONNECT_TIMEOUT: Final = timedelta(seconds=15)
"""How long an account that people name gets to connect, here or at another node: a start takes some seconds."""
CONNECT_LOOK_INTERVAL: Final = timedelta(seconds=0.1)
SERVED_LOOK_INTERVAL: Final = timedelta(seconds=0.5)
"""From one look to the next, into this process and into the store."""
SERVED_FOR: Final = timedelta(minutes=1)
"""How long an account counts as served after a node was last seen to serve it: that node may be starting again."""

log = structlog.get_logger("accounts")


class Connecting(Account, Protocol):
    """An account at work."""

    @property
    def name(self) -> str: ...

    def standing(self) -> ConnectionStatus: ...


class Registry(Protocol):
    """The store's book of accounts."""

    async def named_accounts(self) -> list[Known]: ...

    async def served_accounts(self) -> list[tuple[str, str]]: ...


class RoomLookup:
    """Finds rooms. `before` are accounts as the store knew them at the start; `registry` is None where no other node can be."""

    def __init__(
        self,
        accounts: Accounts[Connecting],
        before: Sequence[Known] = (),
        registry: Registry | None = None,
        *,
        within: timedelta = CONNECT_TIMEOUT,
    ) -> None:
        self._accounts = accounts
        self._stored = accounts_of(before)
        self._registry = registry
        self._within = within
        self._seen: dict[tuple[str, str], float] = {}

    def known(self, text: str) -> Address | None:
        """The room, as far as this process knows it without waiting. Errors: ValueError for no address."""
        given = Address.parse(text)
        if self._own(given):
            return self._accounts.address(text)
        found = self._stored.address(text)
        return found if found and self.is_elsewhere(found) else None

    async def found(self, text: str) -> Address | None:
        """The room, once its account is connected; None if no account is called that.

        Errors: ValueError for no address; Retryable tells why its account isn't connected.
        """
        given = Address.parse(text)
        if own := self._own(given):
            await self._connected(own)
            return replace(given, account=own.expected)
        stored = await self._of_others(given)
        if stored is None:
            return None
        await self.until_served(stored)
        if not self.is_elsewhere(stored):
            raise Retryable(
                f"{given.channel}:{given.account} isn't connected: no process serves it at the moment. Try again later."
            )
        return stored

    async def until_served(self, address: Address) -> None:
        """Wait, not for long, until an account here or at another node serves `address`."""
        if self._registry is None or self._accounts.at(address):
            return
        end = steady() + self._within.total_seconds()
        while not self.is_elsewhere(address):
            await self.look()
            if self.is_elsewhere(address) or steady() >= end:
                return
            await asyncio.sleep(SERVED_LOOK_INTERVAL.total_seconds())

    def expected(self, channel: str, account: str) -> str:
        """The identity that the account called so has, or had at its last start."""
        own = self._own(Address(channel, account, ""))
        return own.expected if own else ""

    def is_elsewhere(self, address: Address) -> bool:
        """True if another node serves the account of `address`, or did a moment ago."""
        seen = self._seen.get((address.channel, address.account))
        return seen is not None and steady() - seen < SERVED_FOR.total_seconds()

    async def look(self) -> None:
        """Look which accounts are served. Where the store is away, what was seen before holds."""
        if self._registry is None:
            return
        try:
            self._stored = accounts_of(await self._registry.named_accounts())
            served: Collection[tuple[str, str]] = await self._registry.served_accounts()
        except StoreError as error:
            log.debug("cannot look which accounts other nodes serve", reason=str(error))
            return
        self._seen |= dict.fromkeys(served, steady())

    async def run(self) -> None:
        """Look now and then, for whoever asks without waiting, until cancelled."""
        while self._registry:
            await self.look()
            await asyncio.sleep(REST.total_seconds())

    def _own(self, given: Address) -> Connecting | None:
        name = (given.channel, given.account)
        return next((one for one in self._accounts if (one.channel, one.account) == name), None)

    async def _connected(self, own: Connecting) -> None:
        """Wait until `own` knows who it is, unless another node serves it. Errors: Retryable if it's refused, or never was connected."""
        end = steady() + self._within.total_seconds()
        if not own.identity:
            await self.look()
        while not (own.identity or self._has_twin_elsewhere(own)):
            status, is_late = own.standing(), steady() >= end
            if is_late and own.expected:
                return  # what goes there waits until the platform answers
            if is_late or status.connection is Connection.REFUSED:
                raise Retryable(f"{own.name} isn't connected. {status.reason}".strip())
            await asyncio.sleep(CONNECT_LOOK_INTERVAL.total_seconds())

    def _has_twin_elsewhere(self, own: Connecting) -> bool:
        return self.is_elsewhere(Address(own.channel, own.expected, ""))

    async def _of_others(self, given: Address) -> Address | None:
        """The room under the identity that the store has for its account, if other nodes can serve one."""
        if self._registry is None:
            return None
        if self._stored.called(given.channel, given.account) is None:
            await self.look()
        return self._stored.address(str(given))
