"""Nodes and roles: a live node renews, a dead one is reaped once, and a role has one holder."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from runtime.contract import Busy, NodeId
from runtime.store.protocol import Lease
from tests.contract.store.stage import TTL, Stage, address


async def node(stage: Stage, name: str, *, alone: bool = False) -> Lease:
    return await stage.store.cluster.join(NodeId(name), name, TTL, alone=alone)


async def test_a_node_that_beats_lives(stage: Stage) -> None:
    lease = await node(stage, "n1")
    for _ in range(5):
        stage.clock.advance(seconds=4)
        assert await stage.store.cluster.beat(lease, TTL)
        assert await stage.store.cluster.reap() == 0


async def test_a_node_that_does_not_beat_is_reaped_once(stage: Stage) -> None:
    lease = await node(stage, "n1")
    stage.clock.advance(seconds=5)
    assert [await stage.store.cluster.reap(), await stage.store.cluster.reap()] == [1, 0]
    assert not await stage.store.cluster.beat(lease, TTL)


async def test_reaped_by_many_at_once_a_node_dies_once(stage: Stage) -> None:
    await node(stage, "n1")
    stage.clock.advance(seconds=6)
    assert sum(await asyncio.gather(*(stage.store.cluster.reap() for _ in range(5)))) == 1


async def test_a_late_beat_before_the_reaper_still_counts(stage: Stage) -> None:
    lease = await node(stage, "n1")
    stage.clock.advance(seconds=6)
    assert await stage.store.cluster.beat(lease, TTL)
    assert await stage.store.cluster.reap() == 0


async def test_a_beat_with_another_fence_is_refused(stage: Stage) -> None:
    lease = await node(stage, "n1")
    assert not await stage.store.cluster.beat(Lease(lease.node, lease.fence + 1), TTL)


async def test_a_dead_nodes_lanes_are_free_with_a_new_fence(stage: Stage) -> None:
    doomed = await node(stage, "n1")
    await stage.say("hello")
    claim = await stage.store.runs.claim(doomed, Busy.STEER)
    assert claim is not None
    stage.clock.advance(seconds=6)
    await stage.store.cluster.reap()
    heir = await stage.claim()
    assert heir.lane.fence > claim.lane.fence


async def test_the_lanes_of_the_living_are_left_alone(stage: Stage) -> None:
    await node(stage, "n1")
    claim = await stage.begin()
    stage.clock.advance(seconds=6)
    await stage.store.cluster.reap()
    assert await stage.store.runs.steer(claim.lane, claim.run_id) is not None


async def test_joining_alone_proves_all_others_dead(stage: Stage) -> None:
    claim = await stage.begin()
    duty = await stage.duty("sealer")
    heir = await node(stage, "n2", alone=True)
    assert not await stage.store.cluster.beat(stage.lease, TTL)
    taken = await stage.store.cluster.take(heir, "sealer")
    assert taken is not None
    assert taken.fence > duty.fence
    again = await stage.store.runs.claim(heir, Busy.STEER)
    assert again is not None
    assert again.run_id == claim.run_id


async def test_joining_beside_others_kills_nobody(stage: Stage) -> None:
    await node(stage, "n2")
    assert await stage.store.cluster.beat(stage.lease, TTL)


async def test_a_node_that_leaves_gives_everything_back_at_once(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.duty("sealer")
    await stage.store.cluster.leave(stage.lease)
    heir = await node(stage, "n2")
    assert await stage.store.cluster.take(heir, "sealer") is not None
    again = await stage.store.runs.claim(heir, Busy.STEER)
    assert again is not None
    assert again.run_id == claim.run_id


async def test_leaving_twice_frees_nothing_of_the_next(stage: Stage) -> None:
    await stage.store.cluster.leave(stage.lease)
    heir = await node(stage, "n2")
    duty = await stage.duty("sealer", heir)
    await stage.store.cluster.leave(stage.lease)
    assert await stage.store.cluster.take(heir, "sealer") == duty


async def test_a_node_that_left_is_dead(stage: Stage) -> None:
    await stage.store.cluster.leave(stage.lease)
    await stage.say("hello", at=address("x"))
    assert not await stage.store.cluster.beat(stage.lease, TTL)
    assert await stage.store.runs.claim(stage.lease, Busy.STEER) is None
    assert await stage.store.cluster.take(stage.lease, "sealer") is None


# ----------------------------------------------------------------------------------------------------------- roles


async def test_a_role_has_one_holder(stage: Stage) -> None:
    other = await node(stage, "n2")
    assert await stage.store.cluster.take(stage.lease, "sealer") is not None
    assert await stage.store.cluster.take(other, "sealer") is None


async def test_a_role_taken_again_by_its_holder_is_the_same_duty(stage: Stage) -> None:
    assert await stage.duty("sealer") == await stage.duty("sealer")


@pytest.mark.parametrize("round_", range(3))
async def test_of_nodes_racing_for_a_role_one_wins(stage: Stage, round_: int) -> None:
    leases = [await node(stage, f"n{n}") for n in range(2, 8)]
    duties = await asyncio.gather(*(stage.store.cluster.take(lease, f"role-{round_}") for lease in leases))
    assert len([duty for duty in duties if duty]) == 1


async def test_a_dead_nodes_role_is_free_with_a_new_fence(stage: Stage) -> None:
    doomed = await node(stage, "n1")
    before = await stage.duty("sealer", doomed)
    stage.clock.advance(seconds=6)
    await stage.store.cluster.reap()
    assert (await stage.duty("sealer")).fence > before.fence


async def test_roles_are_held_one_by_one(stage: Stage) -> None:
    other = await node(stage, "n2")
    await stage.duty("courier a")
    assert await stage.store.cluster.take(other, "courier b") is not None


# -------------------------------------------------------------------------------------------------------- accounts


async def test_the_identity_of_an_account_is_made_once(stage: Stage) -> None:
    assert await stage.store.cluster.account_identity("web", "main", "abc") == "abc"
    assert await stage.store.cluster.account_identity("web", "main", "xyz") == "abc"
    assert await stage.store.cluster.account_identity("web", "other", "xyz") == "xyz"


async def test_two_starts_at_once_agree_on_the_identity(stage: Stage) -> None:
    found = await asyncio.gather(*(stage.store.cluster.account_identity("web", "main", f"i{n}") for n in range(5)))
    assert len(set(found)) == 1


async def test_the_name_of_an_account_is_kept_with_the_identity_of_its_last_time(stage: Stage) -> None:
    for channel, name, identity in (("slack", "work", "T1"), ("discord", "guild", "7"), ("slack", "work", "T2")):
        await stage.store.cluster.note_account(channel, name, identity)
    assert sorted(await stage.store.cluster.named_accounts()) == [("discord", "7", "guild"), ("slack", "T2", "work")]


async def test_a_name_that_is_kept_already_is_not_written_again(stage: Stage) -> None:
    await stage.store.cluster.note_account("slack", "work", "T1")
    before = await stage.everything()
    await stage.store.cluster.note_account("slack", "work", "T1")
    assert await stage.everything() == before


async def test_a_sibling_is_known_by_its_row_for_a_while_after_its_end(stage: Stage) -> None:
    within = timedelta(minutes=1)
    assert not await stage.store.cluster.has_siblings(within)  # the stage itself is a node
    await stage.store.cluster.leave(await node(stage, "n1"))
    assert await stage.store.cluster.has_siblings(within)
    stage.clock.advance(seconds=70)
    assert not await stage.store.cluster.has_siblings(within)


async def test_a_node_keeps_the_digest_of_its_agents_until_it_is_dead(stage: Stage) -> None:
    store = stage.store.cluster
    lease = await store.join(NodeId("n1"), "a/1", TTL, alone=False, agents="first")
    await store.note_agents(lease, "second")
    assert await stage.rows("SELECT agents FROM nodes WHERE id = 'n1'") == [("second",)]
    stage.clock.advance(seconds=3600)
    await store.reap()
    await store.note_agents(lease, "third")
    assert await stage.rows("SELECT agents FROM nodes WHERE id = 'n1'") == [("second",)]
