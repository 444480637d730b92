"""Of several processes one attends an exclusive listener; when it leaves or dies, another does within the lease."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from bot.accounts.supervisor import AccountSupervisor
from runtime.cluster.node import Node
from runtime.contract import ChannelAdapter, NodeId
from tests.contract.store.stage import TTL, Stage
from tests.unit.bot.accounts.test_supervisor import Exclusive, at_work, until

SOON = timedelta(milliseconds=10)


async def note(adapter: ChannelAdapter) -> None:
    """Nobody keeps it."""


@asynccontextmanager
async def process(stage: Stage, name: str) -> AsyncIterator[tuple[Node, Exclusive]]:
    """A node with an account that has a poller; its lease is not renewed by itself."""
    lease = await stage.store.cluster.join(NodeId(name), name, TTL, alone=False)
    node = Node(store=stage.store.cluster, lease=lease, length=TTL, on_reaped=lambda: None)
    adapter = Exclusive("poller")
    async with at_work(AccountSupervisor(adapter, take=node.take, on_learnt=note, look=SOON)):
        yield node, adapter


async def test_when_it_leaves_another_takes_over(stage: Stage) -> None:
    async with process(stage, "n1") as (one, first):
        await until(lambda: first.attended)
        async with process(stage, "n2") as (_, second):
            await asyncio.sleep(0.1)
            assert second.attended == []
            await one.leave()
            await until(lambda: second.attended)


async def test_when_it_dies_another_takes_over_once_its_lease_is_over(stage: Stage) -> None:
    async with process(stage, "n1") as (_, first):
        await until(lambda: first.attended)
        async with process(stage, "n2") as (heir, second):
            stage.clock.advance(seconds=4)
            await stage.store.cluster.beat(heir.lease, TTL)
            await stage.store.cluster.reap()
            await asyncio.sleep(0.1)
            assert second.attended == []
            stage.clock.advance(seconds=2)
            await stage.store.cluster.reap()
            await until(lambda: second.attended)


async def test_two_that_start_at_once_attend_it_once(stage: Stage) -> None:
    await stage.many()
    async with process(stage, "n1") as (_, first), process(stage, "n2") as (_, second):
        await until(lambda: first.attended or second.attended)
        await asyncio.sleep(0.1)
        assert len(first.attended + second.attended) == 1
