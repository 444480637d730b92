"""What an attempt leaves behind, and how long a room or an account rests after one."""

from __future__ import annotations

from datetime import datetime

import pytest

from runtime.contract import Receipt
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.errors import IllegalMove
from tests.contract.store.sending import ACTS, SOON, WIRES, Sending, marked, queued, rendered
from tests.contract.store.stage import Stage

# ----------------------------------------------------------------------------------------------- what an attempt leaves


async def attempt(sending: Sending, floor: str = "") -> tuple[datetime, datetime | None, str]:
    """Mark the first part: when, since when it may be on screen, and above what."""
    await sending.store.outbox.mark(sending.duty, sending.id, 1, floor=floor)
    part = await sending.part()
    assert part.marked_at is not None
    sending.stage.clock.advance(seconds=1)
    return part.marked_at, part.first_at, part.floor


async def cut(sending: Sending) -> None:
    await sending.store.outbox.doubt(sending.duty, sending.id, 1, sending.later, "cut")


async def test_the_floor_is_stored_with_each_marker(stage: Stage) -> None:
    sending = await queued(stage)
    await stage.store.outbox.render(sending.duty, sending.id, WIRES, mark=True, floor="41")
    assert (await sending.part()).floor == "41"
    assert (await sending.part(2)).floor == ""
    await stage.store.outbox.retry(sending.duty, sending.id, 1, sending.later, "busy")
    assert (await attempt(sending, "57"))[2] == "57"


async def test_an_attempt_after_one_that_certainly_failed_is_the_first_again(stage: Stage) -> None:
    sending = await rendered(stage)
    marked_at, first_at, _ = await attempt(sending)
    assert first_at == marked_at
    await stage.store.outbox.retry(sending.duty, sending.id, 1, sending.later, "busy")
    marked_at, first_at, _ = await attempt(sending)
    assert first_at == marked_at


async def test_an_attempt_after_two_empty_looks_is_the_first_again(stage: Stage) -> None:
    sending = await rendered(stage)
    await attempt(sending)
    await cut(sending)
    await stage.store.outbox.absent(sending.duty, sending.id, 1)
    marked_at, first_at, _ = await attempt(sending)
    assert first_at == marked_at


async def test_a_repeat_counts_from_the_attempt_that_nobody_could_tell_about(stage: Stage) -> None:
    """Also where the repeat itself certainly failed: that says nothing of the one before."""
    sending = await rendered(stage)
    begun, _, _ = await attempt(sending)
    await cut(sending)
    await stage.store.outbox.repeat(sending.duty, sending.id, 1)
    assert (await attempt(sending))[1] == begun
    await stage.store.outbox.retry(sending.duty, sending.id, 1, sending.later, "busy")
    assert (await attempt(sending))[1] == begun
    assert (await stage.waiting())[0].parts[0].first_at == begun


async def test_what_was_put_on_hold_and_requeued_counts_from_its_first_attempt(stage: Stage) -> None:
    sending = await rendered(stage)
    begun, _, _ = await attempt(sending)
    await cut(sending)
    await stage.store.outbox.hold(sending.duty, sending.id, 1, "nobody can tell")
    await stage.store.operations.requeue(sending.id, "Ada")
    assert (await attempt(sending))[1] == begun


# --------------------------------------------------------------------------------------------------------------- pauses


async def test_a_wait_that_a_platform_named_is_kept_until_it_is_over(stage: Stage) -> None:
    duty, until = await stage.duty(), stage.clock() + SOON
    assert await stage.store.outbox.pause(duty, "web", "main", "r1", until)
    assert await stage.store.outbox.pause(duty, "web", "main", "", until + SOON)
    assert await stage.store.outbox.paused("web", "main") == {"r1": until, "": until + SOON}
    assert await stage.store.outbox.paused("web", "other") == {}
    stage.clock.advance(seconds=10)
    assert await stage.store.outbox.paused("web", "main") == {"": until + SOON}


async def test_of_two_waits_the_longer_is_kept_and_what_is_over_is_thrown_out(stage: Stage) -> None:
    duty, until = await stage.duty(), stage.clock() + SOON
    for one in (until, until - SOON / 2):
        await stage.store.outbox.pause(duty, "web", "main", "r1", one)
    assert await stage.store.outbox.paused("web", "main") == {"r1": until}
    stage.clock.advance(seconds=11)
    await stage.store.outbox.pause(duty, "web", "main", "r2", stage.clock() + SOON)
    assert await stage.column("SELECT room FROM pauses") == ["r2"]


async def test_a_part_given_up_ends_its_delivery_and_keeps_the_payload(stage: Stage) -> None:
    sending = await marked(stage)
    await stage.store.outbox.give_up(sending.duty, sending.id, 1, "channel closed")
    row = await sending.row()
    assert (row.state, row.parts[0].state, row.reason) == (DeliveryState.DEAD, PartState.DEAD, "channel closed")
    assert row.content.text == "hello"
    assert await stage.waiting() == []


async def test_a_delivery_may_be_given_up_before_it_is_rendered(stage: Stage) -> None:
    sending = await queued(stage)
    await stage.store.outbox.give_up(sending.duty, sending.id, None, "no such account")
    row = await sending.row()
    assert (row.state, row.parts, row.reason) == (DeliveryState.DEAD, (), "no such account")


async def test_what_was_given_up_is_audited(stage: Stage) -> None:
    sending = await marked(stage)
    await stage.store.outbox.give_up(sending.duty, sending.id, 1, "closed")
    assert [about for _, about, _ in await stage.audit("delivery give-up")] == [sending.id]


async def test_all_parts_may_be_shown_in_one_commit(stage: Stage) -> None:
    sending = await queued(stage)
    receipts = [Receipt(f"r{n}") for n in range(3)]
    assert await stage.store.outbox.render_shown(sending.duty, sending.id, WIRES, receipts)
    row = await sending.row()
    assert row.state is DeliveryState.SHOWN
    assert [(p.state, p.receipt) for p in row.parts] == [(PartState.SHOWN, r) for r in receipts]


@pytest.mark.parametrize("act", ["checkpoint", "retry", "plain", "doubt", "absent", "repeat", "hold"])
async def test_a_move_that_the_table_lacks_changes_nothing(stage: Stage, act: str) -> None:
    sending = await rendered(stage)
    if act == "checkpoint":
        await sending.show()
    before = await stage.everything()
    with pytest.raises(IllegalMove):
        await ACTS[act](sending, sending.duty)
    assert await stage.everything() == before
