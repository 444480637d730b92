"""A clock that was set: what waits for its time waits as long as was meant."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runtime.contract import NodeId, Wire
from runtime.domain.approvals import ApprovalState
from runtime.store.sql.driver import moment
from tests.contract.store.stage import LIFE, SHELL, Stage

HOUR = timedelta(hours=1)
JUMPS = [13 * HOUR, -13 * HOUR]


async def sets(stage: Stage, jump: timedelta) -> None:
    stage.clock.at += jump
    await stage.store.cluster.shift(jump)


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_question_waits_as_long_as_was_meant(stage: Stage, jump: timedelta) -> None:
    await stage.park(SHELL)
    await sets(stage, jump)
    assert await stage.store.approvals.expire() == []
    stage.clock.at += LIFE - timedelta(seconds=1)
    assert await stage.store.approvals.expire() == []
    stage.clock.advance(seconds=1)
    assert len(await stage.store.approvals.expire()) == 1


@pytest.mark.parametrize("jump", JUMPS)
async def test_several_nodes_that_notice_one_jump_move_what_waits_once(stage: Stage, jump: timedelta) -> None:
    delivery, duty, wait = await stage.enqueue(), await stage.duty(), timedelta(seconds=30)
    await stage.store.outbox.render(duty, delivery, [Wire("hello")], mark=True)
    await stage.store.outbox.retry(duty, delivery, 1, stage.clock() + wait, "away")
    await sets(stage, jump)
    stage.clock.advance(seconds=2)
    await stage.store.cluster.shift(jump + timedelta(seconds=0.1))
    [open_] = await stage.waiting()
    assert open_.not_before == stage.clock() + wait - timedelta(seconds=2)
    await sets(stage, -jump)
    [open_] = await stage.waiting()
    assert open_.not_before == stage.clock() + wait - timedelta(seconds=2), "back again is another jump"


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_node_that_was_frozen_over_a_jump_moves_nothing_that_others_moved(
    stage: Stage, jump: timedelta
) -> None:
    """Longer than its lease, and than nodes take to notice: it saw the clock before the jump, and sees it now."""
    await stage.park(SHELL)
    await sets(stage, jump)
    stage.clock.advance(seconds=600)
    await stage.store.cluster.shift(jump + timedelta(seconds=0.1), timedelta(seconds=602))
    stage.clock.at += LIFE - timedelta(seconds=601)
    assert await stage.store.approvals.expire() == []
    stage.clock.advance(seconds=1)
    assert len(await stage.store.approvals.expire()) == 1
    [(_, told, _)] = await stage.audit("clock set")
    await stage.store.cluster.shift(jump, timedelta(seconds=1))
    assert len(await stage.audit("clock set")) == 2, f"what is set now is another jump than that of {told}"


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_lease_ends_neither_with_the_jump_nor_hours_later(stage: Stage, jump: timedelta) -> None:
    length = timedelta(seconds=5)
    await stage.store.cluster.join(NodeId("another"), "another/1", length, alone=False)
    await sets(stage, jump)
    assert await stage.store.cluster.reap() == 0
    stage.clock.at += length + timedelta(seconds=1)
    assert await stage.store.cluster.reap() >= 1


async def test_a_question_that_was_decided_stays_as_it_was(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    before = await stage.store.approvals.approval(parked.approvals[0])
    await sets(stage, HOUR)
    after = await stage.store.approvals.approval(parked.approvals[0])
    assert before == after
    assert after is not None
    assert after.state is ApprovalState.APPROVED


@pytest.mark.parametrize("jump", JUMPS)
async def test_what_waits_to_be_shown_again_waits_as_long_as_was_meant(stage: Stage, jump: timedelta) -> None:
    delivery, duty, wait = await stage.enqueue(), await stage.duty(), timedelta(seconds=30)
    await stage.store.outbox.render(duty, delivery, [Wire("hello")], mark=True)
    await stage.store.outbox.retry(duty, delivery, 1, stage.clock() + wait, "away")
    await sets(stage, jump)
    [open_] = await stage.waiting()
    assert open_.not_before == stage.clock() + wait


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_wait_that_a_platform_named_lasts_as_long_as_it_said(stage: Stage, jump: timedelta) -> None:
    duty, wait = await stage.duty(), timedelta(seconds=30)
    await stage.store.outbox.pause(duty, "web", "main", "r1", stage.clock() + wait)
    await sets(stage, jump)
    assert await stage.store.outbox.paused("web", "main") == {"r1": stage.clock() + wait}


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_part_that_is_looked_for_counts_from_its_marker(stage: Stage, jump: timedelta) -> None:
    delivery, duty = await stage.enqueue(), await stage.duty()
    await stage.store.outbox.render(duty, delivery, [Wire("hello")], mark=True)
    stage.clock.advance(seconds=3)
    await sets(stage, jump)
    [open_] = await stage.waiting()
    assert open_.parts[0].marked_at == stage.clock() - timedelta(seconds=3)


async def test_what_was_shown_stays_where_it_was_in_time(stage: Stage) -> None:
    delivery, duty = await stage.enqueue(), await stage.duty()
    await stage.store.outbox.render(duty, delivery, [Wire("hello")], mark=True)
    at = stage.clock()
    await sets(stage, HOUR)
    await stage.write("UPDATE parts SET state = 'shown'")
    await sets(stage, HOUR)
    assert [moment(marked) for marked in await stage.column("SELECT marked_at FROM parts")] == [at + HOUR]


async def test_a_lane_that_is_ready_is_claimed_by_a_clock_set_back(stage: Stage) -> None:
    await stage.say("hello")
    stage.clock.at -= HOUR
    assert (await stage.claim()).requester is not None


async def test_the_newest_fact_tells_when_it_was_written(stage: Stage) -> None:
    stage.clock.advance(seconds=7)
    await stage.say("hello")
    assert await stage.store.cluster.last_written() == stage.clock()
