"""What the gauges read is what waits, on every store."""

from __future__ import annotations

from datetime import timedelta

from runtime.contract import ApprovalKind, NodeId, Wire
from runtime.domain.deliveries import DeliveryState
from runtime.domain.runs import RunState
from runtime.store.operations.queue_depths import Depths
from tests.contract.store.stage import OTHER_ROOM, ROOM, SHELL, Stage, address

WEB = ("web", "main")


async def test_where_nothing_waits_all_is_zero(stage: Stage) -> None:
    assert await stage.store.queues.depths() == Depths(lanes={"ready": 0, "running": 0, "suspect": 0}, nodes=1)


async def test_waiting_messages_are_counted_with_the_age_of_the_oldest(stage: Stage) -> None:
    await stage.say("one")
    stage.clock.advance(seconds=30)
    await stage.say("two")
    await stage.say("three", at=OTHER_ROOM)
    stage.clock.advance(seconds=12)
    found = await stage.store.queues.depths()
    assert (found.signals, found.signals_age) == (3, timedelta(seconds=42))
    assert found.lanes == {"ready": 2, "running": 0, "suspect": 0}


async def test_what_is_taken_up_waits_no_more(stage: Stage) -> None:
    await stage.begin("one")
    found = await stage.store.queues.depths()
    assert (found.signals, found.signals_age) == (0, None)
    assert found.lanes["running"] == 1
    assert found.runs == {RunState.RUNNING: 1}


async def test_questions_are_counted_with_the_age_of_the_oldest(stage: Stage) -> None:
    await stage.park(SHELL)
    stage.clock.advance(hours=2)
    await stage.park(SHELL, at=OTHER_ROOM)
    found = await stage.store.queues.depths()
    assert found.approvals == {ApprovalKind.CALL: 2}
    assert found.approvals_age == timedelta(hours=2)
    assert found.runs == {RunState.PARKED: 2}


async def test_deliveries_are_counted_by_account_and_state(stage: Stage) -> None:
    first = await stage.enqueue("first")
    stage.clock.advance(seconds=7)
    second = await stage.enqueue("second", at=address("r2"))
    await stage.enqueue("third", at=address("r3"))
    duty = await stage.duty()
    await stage.store.outbox.render(duty, first, [Wire("first")], mark=True)
    await stage.store.outbox.give_up(duty, second, None, "refused")
    found = await stage.store.queues.depths()
    assert found.deliveries == {
        (WEB, DeliveryState.OPEN): 1,
        (WEB, DeliveryState.QUEUED): 1,
        (WEB, DeliveryState.DEAD): 1,
    }
    assert found.deliveries_age == {WEB: timedelta(seconds=7)}
    assert found.unsettled == {}


async def test_what_is_looked_for_is_counted_until_it_is_found_or_held(stage: Stage) -> None:
    delivery, duty = await stage.enqueue("hello"), await stage.duty()
    await stage.store.outbox.render(duty, delivery, [Wire("hello")], mark=True)
    await stage.store.outbox.doubt(duty, delivery, 1, stage.clock(), "cut")
    assert (await stage.store.queues.depths()).unsettled == {WEB: 1}
    await stage.store.outbox.hold(duty, delivery, 1, "nobody can tell")
    found = await stage.store.queues.depths()
    assert found.unsettled == {}
    assert found.deliveries == {(WEB, DeliveryState.HELD): 1}


async def test_only_live_nodes_are_counted(stage: Stage) -> None:
    await stage.store.cluster.join(NodeId("node-2"), "two", timedelta(seconds=5), alone=False)
    assert (await stage.store.queues.depths()).nodes == 2
    stage.clock.advance(seconds=6)
    await stage.store.cluster.reap()
    assert (await stage.store.queues.depths()).nodes == 1


async def test_what_is_answered_leaves_nothing_behind(stage: Stage) -> None:
    claim = await stage.begin("hello")
    await stage.finish(claim)
    await stage.drain(ROOM)
    found = await stage.store.queues.depths()
    assert (found.signals, found.runs, found.deliveries, found.deliveries_age) == (0, {}, {}, {})
