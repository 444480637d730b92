"""A process as a node: it joins, does its duties, drains and leaves; after its lease was lost it joins again."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from bot.accounts.failover import Others
from bot.accounts.supervisor import AccountSupervisor
from bot.node.version import VERSION
from bot.node.watchdog import Watchdog
from bot.settings.settings import Settings
from bot.telemetry.instrument import Duty
from runtime.cancellation import cancellable
from runtime.cluster.node import Membership, Node, NodeLost
from runtime.cluster.notifier import LocalNotifier
from runtime.cluster.poller import Poller
from runtime.cluster.topics import LANES, ROLES
from runtime.contract import NewId, NodeId
from runtime.delivery.courier import Courier
from runtime.delivery.couriers import Couriers
from runtime.errors import BotError, StoreError
from runtime.intake.dispatch import Dispatch
from runtime.store.cluster.store import ClusterStore
from runtime.store.protocol import Lease
from runtime.store.protocol.leases import AboutNode

log = structlog.get_logger("app")

LEAVE: Final = timedelta(seconds=1)
"""How long the store gets to take back what the process holds."""
REJOIN: Final = timedelta(seconds=1)
DRAINED_WORDS: Final = "An operator asked this node to leave."
FOLLOW: Final = timedelta(seconds=1)
"""Between two looks at how long a drain may take."""
NODE_JOINED: Final = "node joined"
NODE_DRAINED: Final = "node drained"
NODE_LEFT: Final = "node left"


class Drained(BotError):
    """An operator asked this node to leave, and it has brought its work to an end."""


class Life:
    """Work of one process for as long as it is a node.

    `listeners` take in what happens until they are cancelled, and are the first to stop; `duties` are further loops, made
    anew each time it joins, and may have ends; `dispatch` makes that of a lease; `goodbye` tells the others that it left.
    `agents` tells the digest of the agents that work here, `about` its program and settings, and `offset` how far the clock of
    the machine is ahead of the store's.
    """

    def __init__(
        self,
        *,
        settings: Settings,
        store: ClusterStore,
        membership: Membership,
        watchdog: Watchdog,
        notifier: LocalNotifier,
        accounts: Sequence[AccountSupervisor],
        couriers: Couriers,
        dispatch: Callable[[Lease], Dispatch],
        others: Others,
        listeners: Sequence[Duty],
        duties: Callable[[], Iterable[Duty]],
        goodbye: Callable[[], Awaitable[None]],
        agents: Callable[[], str],
        about: Callable[[], AboutNode],
        offset: Callable[[], timedelta | None],
        new_id: NewId,
    ) -> None:
        self._settings = settings
        self._store = store
        self._membership = membership
        self._watchdog = watchdog
        self._notifier = notifier
        self._accounts = accounts
        self._couriers = couriers
        self._make_dispatch = dispatch
        self._others = others
        self._listeners = listeners
        self._make_duties = duties
        self._goodbye = goodbye
        self._agents = agents
        self._about = about
        self._offset = offset
        self._new_id = new_id
        self._handed_over = False
        self._label = f"{socket.gethostname()}/{os.getpid()}"

    async def run(self, on_ready: Callable[[], None]) -> None:
        """Be a node until cancelled, or until an operator asks it to leave; then drain.

        Errors: whatever a duty ends with that is neither that nor the loss of the lease.
        """
        while True:
            try:
                await cancellable(self._as_node(on_ready))
            except BaseExceptionGroup as ended:
                if ended.split((NodeLost, Drained))[1] is not None:
                    raise
                if self._membership.is_draining:
                    return
                log.warning("joining again", reason="no sign for longer than the lease; others go on with our work")

    async def _as_node(self, on_ready: Callable[[], None]) -> None:
        """From one join to the end by cancellation, with a drain, or by the loss of the lease."""
        node = await self._join()
        await self._note(NODE_JOINED, node)
        dispatch = self._make_dispatch(node.lease)
        self._membership.sit(node, dispatch.take_in)
        self._watchdog.joined()
        async with asyncio.TaskGroup() as group:
            beating = group.create_task(node.run())
            for duty in (self._poller(node).run, *self._make_duties(), *self._service(), dispatch.run):
                group.create_task(duty())
            listening = [group.create_task(listen()) for listen in self._listeners]
            group.create_task(self._announce(on_ready))
            try:
                within = await node.asked_to_drain()
                await self._hand_over(node, dispatch, listening, within)
                raise Drained(DRAINED_WORDS)
            finally:
                if node.is_lost:  # others have our work: nothing is left to bring to a good place
                    self._watchdog.lost()
                else:
                    if not self._handed_over:
                        await self._drain(dispatch, listening)
                    await self._note(NODE_DRAINED, node)
                    beating.cancel()  # before the lease is given back: a beat after it would say that it was lost
                    await self._leave(node)

    async def _join(self) -> Node:
        """A node with a fresh lease. After the first time it is asked for until the store gives it."""
        while True:
            try:
                return await Node.join(
                    store=self._store,
                    node=NodeId(self._new_id()),
                    label=self._label,
                    length=self._settings.nodes.lease,
                    # The lock of an embedded database proves that every earlier process is gone.
                    alone=self._settings.database_file is not None,
                    on_reaped=self._freed,
                    agents=self._agents(),
                    about=self._about(),
                    offset=self._offset,
                )
            except StoreError as error:
                if self._membership.is_empty:
                    raise
                log.debug("cannot join again yet", reason=str(error))
                await asyncio.sleep(REJOIN.total_seconds())

    def _freed(self) -> None:
        """Lanes and roles of another node, which is dead."""
        for topic in (LANES, ROLES):
            self._notifier.notify(topic)

    def _poller(self, node: Node) -> Poller:
        return Poller(
            store=self._store,
            node=node.lease.node,
            notifier=self._notifier,
            reap=node.reap,
            look_around=self._couriers.look_around,
            seen=self._others.seen,
        )

    def _service(self) -> list[Duty]:
        return [partial(serve, *each) for each in zip(self._accounts, self._couriers, strict=True)]

    async def _announce(self, on_ready: Callable[[], None]) -> None:
        """Say that we are ready once the page takes messages. Platforms may take long; `/readyz` tells of them."""
        await self._accounts[0].begun()
        with suppress(asyncio.InvalidStateError):  # it was said in an earlier life of this process
            on_ready()

    async def _leave(self, node: Node) -> None:
        """Give back what we hold. Where the store does not answer, others take it when our lease ends."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(LEAVE.total_seconds()):
                await node.leave()
                await self._store.note_fact(NODE_LEFT, self._label, node.lease.node, "")
        await self._goodbye()

    async def _note(self, kind: str, node: Node) -> None:
        """Tell the audit, and so whoever follows events. Where the store does not answer, that is no reason to stop."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(LEAVE.total_seconds()):
                await self._store.note_fact(kind, self._label, node.lease.node, f"signalbox {VERSION}")

    async def _hand_over(
        self, node: Node, dispatch: Dispatch, listening: Sequence[asyncio.Task[None]], within: timedelta
    ) -> None:
        """Leave accounts and rooms to other nodes at once, and let runs at work come to their end `within` this time.

        What is just being sent is waited for; what then is still on its way is cut with its marker, so that whoever
        serves the account next looks for it.
        """
        log.info(
            "draining", within_seconds=round(within.total_seconds()), reason="an operator asked this node to leave"
        )
        ends_at = asyncio.get_running_loop().time() + within.total_seconds()
        self._membership.is_draining = True
        dispatch.pause()
        for task in listening:
            task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(min(self._settings.nodes.drain, within).total_seconds()):
                for courier in self._couriers:
                    await courier.quiet()
        async with AsyncExitStack() as held:
            for courier in self._couriers:
                await held.enter_async_context(courier.pause.hold())
            with suppress(StoreError):  # then they are free with the lease
                await node.give_up_roles()
        await self._goodbye()
        try:
            async with asyncio.timeout_at(ends_at) as limit, asyncio.TaskGroup() as group:
                following = group.create_task(_follow(node, limit))
                await dispatch.drain()
                following.cancel()
        except TimeoutError:
            log.warning("time to drain is over", reason="what is at work is handed over where it stands")
        self._handed_over = True

    async def _drain(self, dispatch: Dispatch, listening: Sequence[asyncio.Task[None]]) -> None:
        """Take nothing more in, and let what runs come to an end."""
        for task in listening:
            task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.nodes.drain.total_seconds()):
                await dispatch.drain()
                for courier in self._couriers:
                    await courier.quiet()


async def _follow(node: Node, limit: asyncio.Timeout) -> None:
    """Keep `limit` at the time that was asked for last: more of it, or less."""
    while not limit.expired():
        limit.reschedule(asyncio.get_running_loop().time() + node.drain_left.total_seconds())
        await asyncio.sleep(FOLLOW.total_seconds())


async def serve(account: AccountSupervisor, courier: Courier) -> None:
    """Be the account's courier, as soon as it is known who the account is."""
    await account.learn()
    await courier.run()
