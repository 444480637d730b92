"""What went another way than straight on leaves a row, with its node and its reason."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from runtime.contract import (
    Busy,
    NodeId,
    Receipt,
    Wire,
)
from runtime.store.intake.strangers import STRANGER as STRANGER_TOLD
from tests.contract.store.stage import (
    LIST,
    SHELL,
    STRANGER,
    TTL,
    VERA,
    Stage,
    step,
)
from tests.contract.store.tracing import CUT, REASON, Row, doubted, given_up, moves, not_rendered, sent


async def _retry(stage: Stage) -> Row:
    duty, delivery = await sent(stage, ordinal=2, parts=2)
    assert await stage.store.outbox.retry(duty, delivery, 2, stage.clock(), REASON)
    return delivery, "node-1", "retry", f"part 2: {REASON}"


async def _doubt(stage: Stage) -> Row:
    duty, delivery = await sent(stage)
    assert await stage.store.outbox.doubt(duty, delivery, 1, stage.clock(), REASON)
    return delivery, "node-1", "doubt", f"part 1: {REASON}"


async def _adopt(stage: Stage) -> Row:
    _, delivery = await sent(stage)
    duty = await stage.duty("another role")
    assert await stage.store.outbox.adopt(duty, "web", "main", timedelta(seconds=10))
    return delivery, "node-1", "doubt", CUT


async def _looked(stage: Stage) -> Row:
    duty, delivery = await doubted(stage)
    assert await stage.store.outbox.look_again(duty, delivery, 1, stage.clock(), counted=True)
    return delivery, "node-1", "look", "part 1: being checked: not there yet"


async def _could_not_look(stage: Stage) -> Row:
    duty, delivery = await doubted(stage)
    assert await stage.store.outbox.look_again(duty, delivery, 1, stage.clock(), counted=False)
    return delivery, "node-1", "look", "part 1: being checked: the platform couldn't be asked"


async def _absent(stage: Stage) -> Row:
    duty, delivery = await doubted(stage)
    assert await stage.store.outbox.absent(duty, delivery, 1)
    return delivery, "node-1", "absent", "part 1"


async def _repeat(stage: Stage) -> Row:
    duty, delivery = await doubted(stage)
    assert await stage.store.outbox.repeat(duty, delivery, 1)
    return delivery, "node-1", "repeat", "part 1"


async def _plain(stage: Stage) -> Row:
    duty, delivery = await sent(stage)
    assert await stage.store.outbox.plain(duty, delivery, 1)
    return delivery, "node-1", "plain", "part 1"


async def _hold(stage: Stage) -> Row:
    duty, delivery = await doubted(stage)
    assert await stage.store.outbox.hold(duty, delivery, 1, REASON)
    return delivery, "node-1", "hold", f"part 1: {REASON}"


async def _give_up(stage: Stage) -> Row:
    duty, delivery = await sent(stage)
    assert await stage.store.outbox.give_up(duty, delivery, 1, REASON)
    return delivery, "node-1", "give-up", f"part 1: {REASON}"


async def _requeue(stage: Stage) -> Row:
    delivery = await given_up(stage)
    assert await stage.store.operations.requeue(delivery, "Otto")
    return delivery, None, "requeue", "Otto"


async def _discard(stage: Stage) -> Row:
    delivery = await given_up(stage)
    assert await stage.store.operations.discard(delivery, "Otto")
    return delivery, None, "discard", "Otto"


async def _taken_over(stage: Stage) -> Row:
    first = await stage.store.cluster.join(NodeId("node-0"), "zero", TTL, alone=False)
    await stage.say("hello")
    assert await stage.store.runs.claim(first, Busy.STEER)
    await stage.store.cluster.leave(first)
    return (await stage.claim()).run_id, "node-1", "resume", "node-0"


async def _given_back(stage: Stage) -> Row:
    claim = await stage.begin()
    await stage.store.runs.release(claim.lane)
    return (await stage.claim()).run_id, "node-1", "resume", "node-1"


async def _stopped(stage: Stage) -> Row:
    claim = await stage.begin()
    await stage.stop()
    return claim.run_id, None, "stop", "Ada"


async def _stopped_while_parked(stage: Stage) -> Row:
    parked = await stage.park(SHELL)
    await stage.stop()
    return parked.run, None, "stop", "Ada"


async def _refused(stage: Stage) -> Row:
    taken = await stage.say("let me in", actor=STRANGER)
    return taken.verdict.signal_id, None, "refused", STRANGER_TOLD


async def _click_refused(stage: Stage) -> Row:
    parked = await stage.park(SHELL)
    taken = await stage.click(parked.approvals[0], actor=VERA)
    return parked.run, None, "click refused", f"Vera: {taken.verdict.notice}"


STRAY: dict[str, Callable[[Stage], Awaitable[Row]]] = {
    "a part that was not shown": _retry,
    "a part that was perhaps shown": _doubt,
    "a part whose courier died": _adopt,
    "a look that found nothing": _looked,
    "a look that could not be made": _could_not_look,
    "a part that is absent": _absent,
    "a part sent again with a mark": _repeat,
    "a part refused for its form": _plain,
    "a part on hold": _hold,
    "a part given up": _give_up,
    "a delivery that cannot be rendered": not_rendered,
    "a delivery requeued": _requeue,
    "a delivery discarded": _discard,
    "a run whose node is gone": _taken_over,
    "a run given back": _given_back,
    "a stop while it works": _stopped,
    "a stop while it is parked": _stopped_while_parked,
    "a message the gate refused": _refused,
    "a click that does not count": _click_refused,
}


@pytest.mark.parametrize("what", STRAY)
async def test_what_goes_another_way_leaves_exactly_one_row(stage: Stage, what: str) -> None:
    expected = await STRAY[what](stage)
    assert await moves(stage) == [expected]


async def test_the_straight_way_leaves_none(stage: Stage) -> None:
    claim = await stage.begin("list the files")
    await stage.record(claim, step(LIST))
    assert await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    assert await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, "a.txt")
    assert await stage.finish(replace(claim, next_step=3))
    duty, delivery = await stage.duty(), (await stage.waiting())[0].delivery.id
    assert await stage.store.outbox.render(duty, delivery, [Wire("1"), Wire("2")], mark=True)
    assert await stage.store.outbox.checkpoint(duty, delivery, 1, Receipt("m1"))
    assert await stage.store.outbox.mark(duty, delivery, 2)
    assert await stage.store.outbox.checkpoint(duty, delivery, 2, Receipt("m2"))
    assert await moves(stage) == []


async def test_neither_does_a_question_and_its_answer(stage: Stage) -> None:
    parked = await stage.park(SHELL)
    await stage.click(parked.approvals[0])
    claim = await stage.claim()
    assert await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    assert await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, "Linux")
    assert await stage.finish(claim)
    await stage.drain()
    assert await moves(stage) == []


async def test_a_courier_that_lost_its_duty_leaves_none(stage: Stage) -> None:
    duty, delivery = await sent(stage)
    stale = replace(duty, fence=duty.fence - 1)
    assert not await stage.store.outbox.retry(stale, delivery, 1, stage.clock(), REASON)
    assert not await stage.store.outbox.give_up(stale, delivery, 1, REASON)
    assert not await stage.store.outbox.adopt(stale, "web", "main", timedelta(seconds=10))
    assert await moves(stage) == []


async def test_what_cannot_be_requeued_or_discarded_leaves_none(stage: Stage) -> None:
    _, delivery = await sent(stage)
    assert await stage.store.operations.requeue(delivery, "Otto") is None
    assert await stage.store.operations.discard(delivery, "Otto") is None
    assert await moves(stage) == []
