"""What a person does with a delivery that is stuck."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from runtime.contract import DeliveryId, Wire
from runtime.domain.deliveries import DeliveryState, PartState
from tests.contract.store.sending import WIRES, Sending, marked, queued, rendered, unsettled
from tests.contract.store.stage import Stage


@pytest.mark.parametrize("end", ["dead", "held"])
async def test_a_dead_or_held_delivery_is_tried_again_on_request(stage: Stage, end: str) -> None:
    sending = await rendered(stage)
    await (sending.give_up() if end == "dead" else sending.hold())
    row = await stage.store.operations.requeue(sending.id, "Ada")
    assert row is not None
    assert (row.state, row.parts[0].state, row.settled_at) == (DeliveryState.OPEN, PartState.PENDING, None)
    for ordinal in (1, 2, 3):
        await sending.show(ordinal)
    assert (await sending.row()).state is DeliveryState.SHOWN


async def test_requeued_after_part_two_of_three_the_rest_is_shown(stage: Stage) -> None:
    sending = await rendered(stage)
    await sending.show(1)
    await stage.store.outbox.mark(sending.duty, sending.id, 2)
    await stage.store.outbox.give_up(sending.duty, sending.id, 2, "closed")
    await stage.store.operations.requeue(sending.id, "Ada")
    assert await sending.states() == [PartState.SHOWN, PartState.PENDING, PartState.PENDING]


async def test_a_delivery_dead_before_rendering_is_rendered_after_a_requeue(stage: Stage) -> None:
    sending = await queued(stage)
    await stage.store.outbox.give_up(sending.duty, sending.id, None, "away")
    await stage.store.operations.requeue(sending.id, "Ada")
    assert await stage.store.outbox.render(sending.duty, sending.id, WIRES, mark=True)


@pytest.mark.parametrize("state", [queued, rendered, marked])
async def test_only_what_is_held_or_dead_is_requeued(
    stage: Stage, state: Callable[[Stage], Awaitable[Sending]]
) -> None:
    sending = await state(stage)
    before = await stage.everything()
    assert await stage.store.operations.requeue(sending.id, "Ada") is None
    assert await stage.everything() == before


@pytest.mark.parametrize("state", [queued, rendered, unsettled])
async def test_what_is_not_settled_may_be_thrown_away(
    stage: Stage, state: Callable[[Stage], Awaitable[Sending]]
) -> None:
    sending = await state(stage)
    row = await stage.store.operations.discard(sending.id, "Ada")
    assert row is not None
    assert (row.state, row.settled_at) == (DeliveryState.DISCARDED, stage.clock())
    assert await stage.waiting() == []


async def test_what_is_being_sent_is_not_thrown_away(stage: Stage) -> None:
    sending = await marked(stage)
    assert await stage.store.operations.discard(sending.id, "Ada") is None
    assert (await sending.row()).state is DeliveryState.OPEN


async def test_what_was_shown_is_not_thrown_away(stage: Stage) -> None:
    sending = await rendered(stage, [Wire("one")])
    await sending.show()
    assert await stage.store.operations.discard(sending.id, "Ada") is None


async def test_a_marker_and_a_discard_at_once_end_in_one_way(stage: Stage) -> None:
    await stage.many()
    for _ in range(10):
        sending = await rendered(stage)
        going, gone = await asyncio.gather(
            stage.store.outbox.mark(sending.duty, sending.id, 1), stage.store.operations.discard(sending.id, "Ada")
        )
        assert going is (gone is None)


@pytest.mark.parametrize("what", ["requeue", "discard"])
async def test_an_unknown_delivery_is_none(stage: Stage, what: str) -> None:
    act = stage.store.operations.requeue if what == "requeue" else stage.store.operations.discard
    assert await act(DeliveryId("nothing"), "Ada") is None
    assert await stage.store.operations.delivery(DeliveryId("nothing")) is None


@pytest.mark.parametrize("what", ["requeued", "discarded"])
async def test_who_requeued_or_discarded_is_audited(stage: Stage, what: str) -> None:
    sending = await rendered(stage)
    await sending.give_up()
    await (stage.store.operations.requeue if what == "requeued" else stage.store.operations.discard)(sending.id, "Ada")
    assert [(actor, about) for actor, about, _ in await stage.audit(what)] == [("Ada", sending.id)]
