"""Nodes for operators: each as it is, asked to leave by anybody who has the database, and given up only once it is late."""

from __future__ import annotations

from datetime import timedelta

from runtime.contract import Busy, NodeId
from runtime.store.cluster.roster import Drain, NodeState, Removal
from runtime.store.protocol import Lease
from runtime.store.protocol.leases import AboutNode, Beat
from runtime.store.schema import REVISION
from tests.contract.store.stage import TTL, Stage

ABOUT = AboutNode("1.2", '{"language":"abc"}')
MINUTE = timedelta(minutes=1)


async def joined(stage: Stage, name: str, about: AboutNode = ABOUT) -> Lease:
    return await stage.store.cluster.join(NodeId(name), f"{name}/1", TTL, alone=False, about=about)


async def states(stage: Stage) -> dict[str, NodeState]:
    return {one.id: one.state for one in await stage.store.roster.members() if one.id in ("n1", "n2")}


async def test_a_node_tells_its_program_its_settings_and_its_clock(stage: Stage) -> None:
    lease = await joined(stage, "n1")
    stage.clock.advance(seconds=2)
    await stage.store.cluster.beat(lease, TTL, offset=timedelta(hours=1))
    [one] = [one for one in await stage.store.roster.members() if one.id == "n1"]
    assert (one.label, one.state, one.version, one.knows) == ("n1/1", NodeState.LIVE, "1.2", REVISION)
    assert (one.settings, one.clock_offset) == (ABOUT.settings, timedelta(hours=1))
    assert one.beat_at == stage.clock()


async def test_what_a_node_holds_and_has_at_work_is_told(stage: Stage) -> None:
    lease = await joined(stage, "n1")
    await stage.store.cluster.take(lease, "courier:telegram:77")
    await stage.say("hello")
    assert await stage.store.runs.claim(lease, Busy.STEER)
    [one] = [one for one in await stage.store.roster.members() if one.id == "n1"]
    assert (one.accounts, one.works_on) == ([("telegram", "77")], 1)


async def test_a_node_learns_with_its_beat_that_it_is_to_leave_and_how_long_it_may_take(stage: Stage) -> None:
    lease = await joined(stage, "n1")
    assert await stage.store.cluster.beat(lease, TTL) == Beat()
    assert await stage.store.roster.ask_to_drain(lease.node, MINUTE, "ada") is Drain.ASKED
    assert (await states(stage))["n1"] is NodeState.DRAINING
    stage.clock.advance(seconds=2)
    assert await stage.store.cluster.beat(lease, TTL) == Beat(timedelta(seconds=58))
    assert [(fact[0], fact[1]) for fact in await stage.audit("node asked to drain")] == [("ada", "n1")]


async def test_a_draining_node_gives_its_roles_up_and_keeps_its_work(stage: Stage) -> None:
    leaves, heir = await joined(stage, "n1"), await joined(stage, "n2")
    await stage.say("hello")
    claim = await stage.store.runs.claim(leaves, Busy.STEER)
    assert claim
    before = await stage.store.cluster.take(leaves, "courier:x:1")
    assert await stage.store.cluster.give_up_roles(leaves)
    after = await stage.store.cluster.take(heir, "courier:x:1")
    assert before
    assert after
    assert (after.node, after.fence > before.fence) == ("n2", True)
    assert [one.works_on for one in await stage.store.roster.members() if one.id == "n1"] == [1]
    assert not await stage.store.cluster.give_up_roles(Lease(leaves.node, leaves.fence + 1))


async def test_a_node_that_is_gone_or_of_an_older_program_is_not_asked(stage: Stage) -> None:
    lease = await joined(stage, "n1")
    await stage.store.cluster.leave(lease)
    assert await stage.store.roster.ask_to_drain(lease.node, MINUTE, "ada") is Drain.GONE
    old = await joined(stage, "n2")
    await stage.write("UPDATE nodes SET knows = '', version = '' WHERE id = 'n2'")
    assert await stage.store.roster.ask_to_drain(old.node, MINUTE, "ada") is Drain.TOO_OLD
    assert await stage.store.roster.ask_to_drain(NodeId("nobody"), MINUTE, "ada") is Drain.GONE


async def test_a_live_node_is_not_removed_and_a_late_ones_work_is_free_at_once(stage: Stage) -> None:
    lease = await joined(stage, "n1")
    await stage.say("hello")
    claim = await stage.store.runs.claim(lease, Busy.STEER)
    assert claim
    assert await stage.store.roster.remove(lease.node, "ada") is Removal.LIVES
    stage.clock.advance(seconds=TTL.total_seconds())
    assert (await states(stage))["n1"] is NodeState.LATE
    assert await stage.store.roster.remove(lease.node, "ada") is Removal.REMOVED
    heir = await stage.claim()
    assert heir.lane.fence > claim.lane.fence
    assert (await states(stage))["n1"] is NodeState.LOST
    assert await stage.store.roster.remove(lease.node, "ada") is Removal.GONE


async def test_who_left_is_told_from_who_was_lost_and_for_a_day(stage: Stage) -> None:
    left, lost = await joined(stage, "n1"), await joined(stage, "n2")
    await stage.store.cluster.leave(left)
    stage.clock.advance(seconds=TTL.total_seconds())
    await stage.store.cluster.reap()
    assert await states(stage) == {"n1": NodeState.LEFT, lost.node: NodeState.LOST}
    stage.clock.advance(hours=25)
    assert await states(stage) == {}
