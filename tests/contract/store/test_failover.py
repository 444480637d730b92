"""Roles of an account that move to a node whose way to the platform is open."""

from __future__ import annotations

import pytest

from runtime.contract import NodeId
from runtime.domain.failover import Ping
from runtime.store.protocol import Lease
from tests.contract.store.stage import TTL, Stage

ACCOUNT = "telegram:1001"
COURIER, POLLER = f"courier:{ACCOUNT}", f"listener:{ACCOUNT}:poller"


async def node(stage: Stage, name: str) -> Lease:
    return await stage.store.cluster.join(NodeId(name), name, TTL, alone=False)


@pytest.fixture
async def cut(stage: Stage) -> Lease:
    """It has the roles and asks."""
    lease = await node(stage, "n1")
    for role in (COURIER, POLLER):
        assert await stage.store.cluster.take(lease, role)
    await stage.store.cluster.ping(lease, ACCOUNT, answered_at=None, asks=True)
    return lease


@pytest.fixture
async def well(stage: Stage, cut: Lease) -> Lease:
    lease = await node(stage, "n2")
    await stage.store.cluster.ping(lease, ACCOUNT, answered_at=stage.clock.at, asks=False)
    return lease


async def test_a_node_that_asks_is_heard_by_all_others_until_it_asks_no_more(stage: Stage, cut: Lease) -> None:
    other = await node(stage, "n2")
    assert await stage.store.cluster.asked(other.node) == [ACCOUNT]
    assert (await stage.store.cluster.agenda(other.node)).asked
    assert await stage.store.cluster.asked(cut.node) == []
    assert not (await stage.store.cluster.agenda(cut.node)).asked
    await stage.store.cluster.ping(cut, ACCOUNT, answered_at=stage.clock.at, asks=False)
    assert await stage.store.cluster.asked(other.node) == []
    assert not (await stage.store.cluster.agenda(other.node)).asked


async def test_the_others_answers_are_told(stage: Stage, cut: Lease, well: Lease) -> None:
    answered_at = stage.clock.at
    assert await stage.store.cluster.ping(cut, ACCOUNT, answered_at=None, asks=True) == [Ping(well.node, answered_at)]
    stage.clock.advance(seconds=1)
    await stage.store.cluster.ping(well, ACCOUNT, answered_at=None, asks=False)  # it was not answered this time
    assert await stage.store.cluster.ping(cut, ACCOUNT, answered_at=None, asks=True) == [Ping(well.node, answered_at)]


async def test_roles_that_are_handed_over_have_a_new_fence_and_one_holder(
    stage: Stage, cut: Lease, well: Lease
) -> None:
    before = await stage.store.cluster.take(cut, COURIER)
    assert await stage.store.cluster.hand_over(cut, ACCOUNT, [COURIER, POLLER], well.node)
    assert await stage.store.cluster.take(cut, COURIER) is None
    after = await stage.store.cluster.take(well, COURIER)
    assert before
    assert after
    assert after.fence > before.fence
    assert await stage.store.cluster.take(well, POLLER)
    assert await stage.store.cluster.asked(well.node) == []
    (told,) = await stage.store.cluster.ping(well, ACCOUNT, answered_at=None, asks=True)
    assert told.left_at == stage.clock.at


async def test_nothing_is_handed_to_a_node_that_is_gone(stage: Stage, cut: Lease, well: Lease) -> None:
    await stage.store.cluster.leave(well)
    assert not await stage.store.cluster.hand_over(cut, ACCOUNT, [COURIER], well.node)
    assert await stage.store.cluster.take(cut, COURIER)
    assert await stage.store.cluster.ping(cut, ACCOUNT, answered_at=None, asks=True) == []


async def test_nor_to_one_whose_lease_ended_just_now(stage: Stage, cut: Lease, well: Lease) -> None:
    stage.clock.advance(seconds=4)
    await stage.store.cluster.beat(cut, TTL)
    stage.clock.advance(seconds=2)
    assert not await stage.store.cluster.hand_over(cut, ACCOUNT, [COURIER], well.node)


async def test_a_node_that_was_declared_dead_hands_nothing_over(stage: Stage, cut: Lease, well: Lease) -> None:
    stage.clock.advance(seconds=4)
    await stage.store.cluster.beat(well, TTL)
    stage.clock.advance(seconds=2)
    assert await stage.store.cluster.reap() == 1
    assert await stage.store.cluster.take(well, COURIER)
    assert not await stage.store.cluster.hand_over(cut, ACCOUNT, [COURIER], NodeId("n3"))
    assert await stage.store.cluster.asked(well.node) == []
    assert await stage.store.cluster.take(well, COURIER)


async def test_a_role_that_another_has_meanwhile_stays_there(stage: Stage, cut: Lease, well: Lease) -> None:
    third = await node(stage, "n3")
    assert await stage.store.cluster.take(third, "courier:slack:T1")
    assert await stage.store.cluster.hand_over(cut, ACCOUNT, ["courier:slack:T1"], well.node)
    assert await stage.store.cluster.take(third, "courier:slack:T1")
