"""The outbox: what is put in, and each move of a delivery and its parts."""

from __future__ import annotations

import asyncio

import pytest

from runtime.contract import Wire
from runtime.domain.deliveries import DeliveryState, PartState
from tests.contract.store.sending import SLIP, SOON, WIRES, marked, queued, rendered, unsettled
from tests.contract.store.stage import ROOM, Stage

# ----------------------------------------------------------------------------------------------------------- putting in


async def test_a_fresh_delivery_waits_with_no_attempts(stage: Stage) -> None:
    row = await (await queued(stage)).row()
    assert (row.state, row.attempts, row.parts, row.settled_at) == (DeliveryState.QUEUED, 0, (), None)


async def test_the_same_ordinal_of_an_origin_is_one_delivery(stage: Stage) -> None:
    assert await stage.store.outbox.enqueue(stage.new_delivery("one", origin="run:1"))
    assert not await stage.store.outbox.enqueue(stage.new_delivery("other", origin="run:1"))
    assert [d.delivery.content.text for d in await stage.waiting()] == ["one"]


async def test_twenty_at_once_of_one_origin_are_one_delivery(stage: Stage) -> None:
    added = await asyncio.gather(*(stage.store.outbox.enqueue(stage.new_delivery(origin="run:1")) for _ in range(20)))
    assert added.count(True) == 1


# --------------------------------------------------------------------------------------------------------- single moves


async def test_rendering_stores_the_parts_once_and_for_all(stage: Stage) -> None:
    sending = await rendered(stage)
    row = await sending.row()
    assert row.state is DeliveryState.OPEN
    assert [(p.ordinal, p.state, p.body, p.fallback) for p in row.parts] == [
        (1, PartState.PENDING, "one", "plain one"),
        (2, PartState.PENDING, "two", "plain two"),
        (3, PartState.PENDING, "three", None),
    ]


async def test_rendering_may_mark_the_first_part_in_the_same_commit(stage: Stage) -> None:
    sending = await queued(stage)
    await stage.store.outbox.render(sending.duty, sending.id, WIRES, mark=True)
    assert await sending.states() == [PartState.MARKED, PartState.PENDING, PartState.PENDING]


async def test_a_marker_counts_the_attempt_and_its_time(stage: Stage) -> None:
    sending = await marked(stage)
    part = await sending.part()
    assert (part.state, part.attempts, part.marked_at) == (PartState.MARKED, 1, stage.clock())


async def test_a_checkpoint_keeps_the_receipt(stage: Stage) -> None:
    sending = await marked(stage)
    await stage.store.outbox.checkpoint(sending.duty, sending.id, 1, SLIP)
    part = await sending.part()
    assert (part.state, part.receipt) == (PartState.SHOWN, SLIP)


async def test_the_last_part_settles_the_delivery(stage: Stage) -> None:
    sending = await rendered(stage)
    for ordinal in (1, 2):
        await sending.show(ordinal)
        assert (await sending.row()).state is DeliveryState.OPEN
    await sending.show(3)
    row = await sending.row()
    assert (row.state, row.settled_at) == (DeliveryState.SHOWN, stage.clock())
    assert await stage.waiting() == []


async def test_what_was_shown_is_audited_once(stage: Stage) -> None:
    sending = await rendered(stage, [Wire("one")])
    await sending.show()
    assert await stage.audit("shown") == [("", sending.id, str(ROOM))]


async def test_a_retry_waits_until_its_time(stage: Stage) -> None:
    sending = await marked(stage)
    await stage.store.outbox.retry(sending.duty, sending.id, 1, sending.later, "429")
    row = await sending.row()
    assert (row.parts[0].state, row.not_before, row.reason) == (PartState.PENDING, sending.later, "429")


async def test_attempts_are_counted_over_retries(stage: Stage) -> None:
    sending = await rendered(stage, [Wire("one")])
    for _ in range(2):
        await stage.store.outbox.mark(sending.duty, sending.id, 1)
        await stage.store.outbox.retry(sending.duty, sending.id, 1, sending.later, "500")
    await sending.show()
    assert ((await sending.row()).attempts, (await sending.part()).attempts) == (3, 3)


async def test_doubt_is_looked_for_at_its_time(stage: Stage) -> None:
    sending = await unsettled(stage)
    row = await sending.row()
    assert (row.parts[0].state, row.parts[0].looks, row.not_before) == (PartState.UNSETTLED, 0, sending.later)


@pytest.mark.parametrize(("counted", "looks"), [(True, 1), (False, 0)])
async def test_only_a_look_that_was_made_is_counted(stage: Stage, counted: bool, looks: int) -> None:
    sending = await unsettled(stage)
    later = sending.later + SOON
    await stage.store.outbox.look_again(sending.duty, sending.id, 1, later, counted=counted)
    row = await sending.row()
    assert (row.parts[0].state, row.parts[0].looks, row.not_before) == (PartState.UNSETTLED, looks, later)


async def test_an_absent_part_is_sent_again(stage: Stage) -> None:
    sending = await unsettled(stage)
    await stage.store.outbox.absent(sending.duty, sending.id, 1)
    assert (await sending.part()).state is PartState.PENDING
    await stage.store.outbox.mark(sending.duty, sending.id, 1)
    part = await sending.part()
    assert (part.attempts, part.looks, part.repeat_mark) == (2, 0, False)


async def test_a_part_found_on_screen_is_shown(stage: Stage) -> None:
    sending = await unsettled(stage)
    await stage.store.outbox.checkpoint(sending.duty, sending.id, 1, SLIP)
    part = await sending.part()
    assert (part.state, part.receipt, part.attempts) == (PartState.SHOWN, SLIP, 1)


async def test_a_repeat_carries_a_mark(stage: Stage) -> None:
    sending = await unsettled(stage)
    await stage.store.outbox.repeat(sending.duty, sending.id, 1)
    part = await sending.part()
    assert (part.state, part.repeat_mark) == (PartState.PENDING, True)


async def test_a_held_part_holds_its_delivery(stage: Stage) -> None:
    sending = await unsettled(stage)
    await stage.store.outbox.hold(sending.duty, sending.id, 1, "nobody can tell")
    row = await sending.row()
    assert (row.state, row.parts[0].state, row.reason) == (DeliveryState.HELD, PartState.HELD, "nobody can tell")
    assert await stage.waiting() == []


async def test_a_refused_form_goes_as_its_plain_twin(stage: Stage) -> None:
    sending = await marked(stage)
    await stage.store.outbox.plain(sending.duty, sending.id, 1)
    part = await sending.part()
    assert (part.state, part.body, part.fallback) == (PartState.PENDING, "plain one", None)


async def test_a_refused_form_that_held_more_than_one_message_is_followed_by_the_others(stage: Stage) -> None:
    sending = await rendered(stage, [Wire("one"), Wire("file", "text 1", ("text 2", "text 3"))])
    await sending.show(1)
    await stage.store.outbox.mark(sending.duty, sending.id, 2)
    assert await stage.store.outbox.plain(sending.duty, sending.id, 2, "413 too large")
    parts = (await sending.row()).parts
    assert [(part.ordinal, part.body, part.fallback) for part in parts[1:]] == [
        (2, "text 1", None),
        (3, "text 2", None),
        (4, "text 3", None),
    ]
    assert [part.state for part in parts] == [PartState.SHOWN, *[PartState.PENDING] * 3]
    told = "part 2: 413 too large; 2 more follow"
    assert [detail for _, _, detail in await stage.audit("delivery split")] == [told]
    assert (await stage.rows("SELECT detail FROM moves WHERE what = 'plain'")) == [(told,)]
    for ordinal in (2, 3, 4):
        assert (await sending.row()).state is DeliveryState.OPEN
        await sending.show(ordinal)
    assert (await sending.row()).state is DeliveryState.SHOWN
