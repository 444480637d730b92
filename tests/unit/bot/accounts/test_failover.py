"""Two nodes on one store, and a platform that answers some of them: who has the roles of an account, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from bot.accounts import failover as module
from bot.accounts.failover import Failover, Others
from bot.accounts.supervisor import AccountSupervisor
from runtime.cluster.node import Membership, Node
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import ChannelAdapter, Features, NodeId
from runtime.delivery.context import CourierContext
from runtime.delivery.courier import Courier
from runtime.delivery.retry_policy import RetryPolicy
from runtime.domain import failover as rules
from runtime.domain.ids import new_id
from runtime.errors import Retryable
from runtime.intake.reception import plainly
from runtime.store.protocol import Duty
from runtime.store.store import Store
from tests.contract.runtime.stores import memory_store
from tests.unit.bot.accounts.test_supervisor import Exclusive, no_sink, until

LEASE = timedelta(minutes=1)
OF = 100
"""Every wait is so much shorter."""


class Pinged(Exclusive):
    """Its platform answers while `open`; `stalls` else, or says that there is no connection."""

    def __init__(self) -> None:
        super().__init__("poller")
        self.open, self.stalls, self.pings = True, False, 0

    def features(self) -> Features:
        return replace(super().features(), ping=self.ping)

    async def ping(self) -> None:
        self.pings += 1
        if not self.open:
            await (asyncio.Event().wait() if self.stalls else asyncio.sleep(0))
            raise Retryable("no connection")


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QUIET_BEFORE_PING", "TRY_INTERVAL", "WAY_LOOK_INTERVAL", "LOST"):
        monkeypatch.setattr(module, name, getattr(module, name) / OF)
    for name in ("LOST", "DOWN"):
        monkeypatch.setattr(rules, name, getattr(rules, name) / OF)


@dataclass
class OneNode:
    adapter: Pinged
    account: AccountSupervisor
    courier: Courier
    others: Others
    failover: Failover
    lease: str

    @property
    def serves(self) -> bool:
        return self.account.attends and self.courier.on_duty


async def a_node(store: Store, notifier: LocalNotifier) -> OneNode:
    joined = await Node.join(
        store=store.cluster, node=NodeId(new_id()), label="n", length=LEASE, alone=False, on_reaped=lambda: None
    )
    membership, adapter, others = Membership(notifier), Pinged(), Others()
    membership.sit(joined, plainly)

    async def note(known: ChannelAdapter) -> None:
        """Nobody asks."""

    async def take(role: str) -> Duty | None:
        return await membership.take(role)

    account = AccountSupervisor(adapter, take=take, vacancy=membership.vacancy, on_learnt=note)
    courier = Courier(
        outbox=store.outbox,
        adapter=account,
        features=account.features(),
        pace=RetryPolicy(),
        context=CourierContext(take=take, vacancy=membership.vacancy, now=store.now, on_shown=lambda address: None),
    )
    watch = Failover(
        account, courier, store=store.cluster, membership=membership, notifier=notifier, others=others, now=store.now
    )
    return OneNode(adapter, account, courier, others, watch, joined.lease.node)


@asynccontextmanager
async def cluster() -> AsyncIterator[tuple[OneNode, OneNode]]:
    """The first has the roles."""
    store = memory_store(lambda: datetime.now(UTC))
    notifier = LocalNotifier()
    first, second = await a_node(store, notifier), await a_node(store, notifier)

    async def pulse(one: OneNode) -> None:
        while True:
            one.others.seen(await store.cluster.agenda(NodeId(one.lease)))
            await asyncio.sleep(0.01)

    with capture_logs():
        async with asyncio.TaskGroup() as group:
            tasks = []
            for one in (first, second):
                account = one.account
                works = (account.learn(), account.listen(no_sink), one.courier.run(), one.failover.run(), pulse(one))
                tasks += [group.create_task(work) for work in works]
                await until(lambda: first.serves)
            yield first, second
            for task in tasks:
                task.cancel()
    await store.close()


@pytest.mark.parametrize("stalls", [True, False])
async def test_the_roles_go_to_the_one_that_is_answered_and_stay_there(stalls: bool) -> None:
    async with cluster() as (first, second):
        first.adapter.stalls, first.adapter.open = stalls, False
        await until(lambda: second.serves)
        assert not first.serves
        assert first.account.standing().trouble
        assert second.account.standing().trouble is None
        first.adapter.open = True
        await until(lambda: first.account.standing().trouble is None)
        assert first.account.standing().reason == "another process listens"
        await asyncio.sleep(0.3)
        assert second.serves
        second.adapter.open = False
        await until(lambda: first.serves)


async def test_where_nobody_is_answered_nothing_moves() -> None:
    async with cluster() as (first, second):
        first.adapter.open = second.adapter.open = False
        await until(lambda: first.account.standing().trouble)
        await asyncio.sleep(0.5)
        assert (first.serves, second.serves) == (True, False)
        assert not first.account.reachability.on_hold, "alone it keeps trying"
        first.adapter.open = second.adapter.open = True
        await until(lambda: first.account.standing().trouble is None)
        await asyncio.sleep(0.3)
        assert (first.serves, second.serves) == (True, False)


async def test_one_that_stands_by_tries_its_way_only_while_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine it may be: the first one's try takes so long that it is in doubt."""
    async with cluster() as (first, second):
        ping, unasked = second.adapter.ping, 0

        async def counted() -> None:
            nonlocal unasked
            unasked += not (second.failover._asked or second.account.listens or second.courier.on_duty)
            await ping()

        monkeypatch.setattr(second.adapter, "ping", counted)
        await until(lambda: first.adapter.pings > 1)
        await asyncio.sleep(0.3)
        assert unasked == 0
        first.adapter.open = False
        await until(lambda: second.serves)
    assert second.adapter.pings > unasked == 0


async def test_a_call_without_an_answer_beside_one_with_it_is_no_reason_to_look_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "QUIET_BEFORE_PING", timedelta(seconds=1))
    looks, look = 0, Failover._look

    async def counted(watch: Failover) -> None:
        nonlocal looks
        looks += 1
        await look(watch)

    async with cluster() as (first, _):
        monkeypatch.setattr(Failover, "_look", counted)
        first.account.reachability.unanswered("cut")
        first.account.reachability.answered()
        await asyncio.sleep(0.1)
        assert looks < 200
        assert first.serves


async def test_in_doubt_nothing_is_begun_that_another_may_soon_do_better(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "LOST", timedelta(minutes=1))
    async with cluster() as (first, _):
        first.adapter.open = False
        await until(lambda: first.account.reachability.on_hold)
        first.adapter.open = True
        await until(lambda: not first.account.reachability.on_hold)
        assert first.serves


async def test_a_connection_that_is_down_moves_once_where_both_are_answered() -> None:
    """Or two nodes that cannot connect would hand the roles to and fro."""
    from runtime.contract import Connection, ConnectionStatus

    async with cluster() as (first, second):
        for one in (first, second):
            one.adapter.stands = ConnectionStatus(Connection.RECONNECTING, "cut")
        await until(lambda: second.serves)
        await asyncio.sleep(0.5)
        assert second.serves
