"""Failover of one account: its way to the platform is tried, and a node that lost it gives its roles to one that has it.

The node that serves the account tries its way whenever nothing was answered for a moment. In doubt it asks the others,
by a row; they try theirs for as long as it asks, and tell by a row too. `runtime.domain.failover` decides by those. With an
embedded database there is one process: then this only finds out how the account stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Final

import structlog

from bot.accounts.supervisor import AccountSupervisor
from runtime.cancellation import cancellable
from runtime.cluster.node import Membership
from runtime.cluster.notifier import LocalNotifier
from runtime.cluster.topics import ROLES
from runtime.contract import Connection, NodeId, Now
from runtime.delivery.courier import Courier
from runtime.domain.clock import steady
from runtime.domain.failover import LOST, Decision, GiveUp, Keep, decide
from runtime.errors import ChannelError, StoreError
from runtime.store.protocol import Failover as Store
from runtime.store.protocol import Lease
from runtime.store.protocol.cluster import Agenda

log = structlog.get_logger("accounts")

QUIET_BEFORE_PING: Final = timedelta(seconds=5)
"""How long nothing need be answered before the way is tried."""
TRY_INTERVAL: Final = timedelta(seconds=3)
"""From one try to the next while there is doubt, and how long one takes at most: three of them fit into `LOST`."""
WAY_LOOK_INTERVAL: Final = timedelta(seconds=1)
"""From one look to the next where all is well; it asks nobody anything."""


class Others:
    """The other nodes, as far as this one knows: the poller tells it each second."""

    def __init__(self) -> None:
        self.there = False
        self.asking = False

    def seen(self, agenda: Agenda) -> None:
        self.there = agenda.lease_ends_at is not None
        self.asking = agenda.asked


class Failover:
    """Watches `account`, whose sends are `courier`'s, until cancelled."""

    def __init__(
        self,
        account: AccountSupervisor,
        courier: Courier,
        *,
        store: Store,
        membership: Membership,
        notifier: LocalNotifier,
        others: Others,
        now: Now,
    ) -> None:
        self._account = account
        self._courier = courier
        self._way = account.reachability
        self._way.on_hold = False  # as an earlier life of this process may have left it
        self._store = store
        self._membership = membership
        self._notifier = notifier
        self._others = others
        self._now = now
        self._asks = False
        self._asked = False

    @property
    def _name(self) -> str:
        """Of the account among all nodes."""
        return f"{self._account.channel}:{self._account.identity}"

    async def run(self) -> None:
        while True:
            await self._account.begun()
            began = steady()
            try:
                await self._look()
            except StoreError as error:
                log.debug("other nodes cannot be asked", account=self._account.name, reason=str(error))
            await self._rest(timedelta(seconds=steady() - began))

    async def _rest(self, took: timedelta) -> None:
        """Until the next look: in doubt that is the next try, else a call without an answer ends it too."""
        if self._asked or self._asks or self._way.way().is_in_doubt:
            await asyncio.sleep((TRY_INTERVAL - took).total_seconds())
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(WAY_LOOK_INTERVAL.total_seconds()):
                await self._way.silence.wait()

    async def _look(self) -> None:
        await self._hear()
        self._way.connected(self._account.connection() if self._account.attends else Connection.CONNECTED)
        if self._is_due():
            await self._try()
        if self._others.there and self._account.identity:
            await self._tell()
        else:
            self._way.on_hold = False

    async def _hear(self) -> None:
        """Hear if others ask. Once they do no more, what they gave up may be ours."""
        lease, before = self._membership.lease, self._asked
        asked = await self._store.asked(lease.node) if lease and self._others.asking else ()
        self._asked = self._name in asked
        if before and not self._asked:
            self._notifier.notify_here(ROLES)

    def _is_due(self) -> bool:
        if self._asked or self._way.way().unanswered:
            return True
        return (self._account.listens or self._courier.on_duty) and self._way.silent() >= QUIET_BEFORE_PING

    async def _try(self) -> None:
        ping = self._account.features().ping
        assert ping  # noqa: S101 - else nobody watches it
        within = max(min(TRY_INTERVAL, LOST - self._way.silent()), WAY_LOOK_INTERVAL).total_seconds()
        try:
            async with asyncio.timeout(within):
                await cancellable(ping())
        except TimeoutError:
            self._way.unanswered(f"no answer within {within:.0f} s")
        except ChannelError as error:
            self._way.unanswered(str(error))
        except Exception as error:
            log.exception("an account broke", account=self._account.name, what="trying its way")
            self._way.unanswered(f"{type(error).__name__}, a fault of Signalbox")
        else:
            self._way.answered()

    async def _tell(self) -> None:
        """Tell the others what they need to know, and do what follows of what they told."""
        roles, way, lease = self._roles(), self._way.way(), self._membership.lease
        asks = bool(roles) and way.is_in_doubt
        decision: Decision = Keep()
        if lease and (asks or self._asks or self._asked):
            answered_at = None if way.unanswered else self._now() - way.silent
            others = await self._store.ping(lease, self._name, answered_at=answered_at, asks=asks)
            self._asks = asks
            decision = decide(way, others, self._now()) if asks else Keep()
        self._way.on_hold = not isinstance(decision, Keep)
        if lease and isinstance(decision, GiveUp):
            await self._give_up(lease, roles, decision.node)
            self._way.on_hold = False

    def _roles(self) -> Sequence[str]:
        return [*self._account.roles(), *([self._courier.role] if self._courier.on_duty else [])]

    async def _give_up(self, lease: Lease, roles: Sequence[str], node: NodeId) -> None:
        """Cut what is on its way, so that it can be looked for, and then hand over."""
        async with self._account.pause.hold(within=timedelta()), self._courier.pause.hold():
            given = await self._store.hand_over(lease, self._name, roles, node)
        if given:
            self._asks = False
            log.warning("its roles go to another process", account=self._account.name, to=node)
            self._notifier.notify(ROLES)
