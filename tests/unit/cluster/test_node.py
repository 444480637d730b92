"""A process as a node: its lease, its heartbeat, and its end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest
from structlog.testing import capture_logs

from runtime.cluster.node import Node, NodeLost
from runtime.contract import NodeId
from runtime.errors import StoreError
from runtime.store.protocol import Duty, Lease
from runtime.store.protocol.leases import UNTOLD, AboutNode, Beat

LENGTH = timedelta(seconds=0.03)


@dataclass
class Registry:
    """Answers heartbeats as listed, then with yes."""

    beats: list[bool | StoreError] = field(default_factory=list)
    reaps: list[int] = field(default_factory=list)
    beaten: int = 0
    left: bool = False
    drain: timedelta | None = None

    async def join(
        self, node: NodeId, label: str, ttl: timedelta, *, alone: bool, agents: str = "", about: AboutNode = UNTOLD
    ) -> Lease:
        return Lease(node, 1)

    async def note_agents(self, lease: Lease, agents: str, settings: str = "") -> None: ...

    async def give_up_roles(self, lease: Lease) -> bool:
        return True

    async def beat(self, lease: Lease, ttl: timedelta, *, offset: timedelta | None = None) -> Beat | None:
        self.beaten += 1
        match self.beats.pop(0) if self.beats else True:
            case StoreError() as error:
                raise error
            case held:
                return Beat(self.drain) if held else None

    async def reap(self, *, but: NodeId | None = None) -> int:
        return self.reaps.pop(0) if self.reaps else 0

    async def live_nodes(self) -> list[str]:
        return []

    async def leave(self, lease: Lease) -> None:
        self.left = True

    async def take(self, lease: Lease, role: str) -> Duty | None:
        return Duty(role, lease.node, 1)

    async def account_identity(self, channel: str, name: str, fresh: str) -> str:
        return fresh

    async def note_account(self, channel: str, name: str, identity: str) -> None:
        raise NotImplementedError

    async def named_accounts(self) -> list[tuple[str, str, str]]:
        raise NotImplementedError

    async def served_accounts(self) -> list[tuple[str, str]]:
        raise NotImplementedError

    async def shift(self, by: timedelta, unseen: timedelta = timedelta()) -> None:
        raise NotImplementedError

    async def last_written(self) -> datetime | None:
        raise NotImplementedError

    async def note_fact(self, kind: str, by: str, subject: str, detail: str) -> None:
        raise NotImplementedError


class Clock:
    """Seconds, moved by the test."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def node(registry: Registry, clock: Clock, length: timedelta = LENGTH, reaped: list[None] | None = None) -> Node:
    told: list[None] = [] if reaped is None else reaped
    return Node(
        store=registry,
        lease=Lease(NodeId("n1"), 1),
        length=length,
        on_reaped=lambda: told.append(None),
        clock=clock,
    )


async def run_for(one: Node, seconds: float) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(one.run())
        await asyncio.sleep(seconds)
        task.cancel()


@pytest.mark.parametrize(("age", "fresh"), [(0, True), (4.4, True), (4.6, False), (60, False)])
def test_a_lease_is_fresh_until_shortly_before_it_ends(age: float, fresh: bool) -> None:
    """So that what begins under it ends the start before others may take over."""
    clock = Clock()
    one = node(Registry(), clock, timedelta(seconds=5))
    clock.at += age
    assert one.fresh() is fresh


async def test_a_heartbeat_renews_the_lease() -> None:
    clock, registry = Clock(), Registry()
    one = node(registry, clock)
    clock.at += 60
    await run_for(one, 0.05)
    assert registry.beaten >= 1
    assert one.fresh()


async def test_a_renewal_counts_from_before_it_was_asked_for() -> None:
    """A slow answer must not make the lease look longer than it is."""
    clock = Clock()

    class Slow(Registry):
        async def beat(self, lease: Lease, ttl: timedelta, *, offset: timedelta | None = None) -> Beat | None:
            clock.at += 60
            return await super().beat(lease, ttl, offset=offset)

    one = node(Slow(), clock)
    await run_for(one, 0.05)
    assert not one.fresh()


async def test_a_store_that_is_away_renews_nothing_and_ends_nothing() -> None:
    clock, registry = Clock(), Registry(beats=[StoreError("away")] * 1000)
    one = node(registry, clock)
    clock.at += 60
    with capture_logs():
        await run_for(one, 0.05)
    assert registry.beaten > 1
    assert not one.fresh()


async def test_a_node_that_is_asked_to_leave_learns_how_long_it_may_take() -> None:
    registry = Registry(drain=timedelta(minutes=3))
    one = node(registry, Clock())
    async with asyncio.TaskGroup() as group:
        beating = group.create_task(one.run())
        assert await one.asked_to_drain() == timedelta(minutes=3)
        beating.cancel()
    registry.drain = timedelta(seconds=20)
    await run_for(one, 0.05)
    assert one.drain_left == timedelta(seconds=20), "asked once more"


async def test_a_node_declared_dead_is_lost() -> None:
    with pytest.raises(NodeLost):
        async with asyncio.timeout(30):
            await node(Registry(beats=[True, False]), Clock()).run()


async def test_who_reaped_others_is_told() -> None:
    reaped: list[None] = []
    one = node(Registry(reaps=[0, 2, 0]), Clock(), reaped=reaped)
    for _ in range(3):
        await one.reap()
    assert len(reaped) == 1


async def test_a_node_leaves_by_giving_everything_back() -> None:
    registry = Registry()
    await node(registry, Clock()).leave()
    assert registry.left
