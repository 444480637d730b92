"""The outbox: each move of a delivery and its parts, in order, and nothing by a courier that lost its duty."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from runtime.contract import DeliveryId, Kind, NodeId, Receipt, Wire
from runtime.deliveries import DeliveryState, PartState
from runtime.errors import IllegalMove
from runtime.runs import RunState
from runtime.store.protocol import DeliveryRow, Duty, OpenDelivery, OpenPart
from tests.contract.store.stage import OTHER_ROOM, ROOM, TTL, Stage, address

WIRES = [Wire("one", "plain one"), Wire("two", "plain two"), Wire("three")]
SLIP = Receipt("m1")
SOON = timedelta(seconds=10)


class Sending:
    """One delivery on its way, and the duty under which it goes."""

    def __init__(self, stage: Stage, duty: Duty, delivery: DeliveryId) -> None:
        self.stage = stage
        self.store = stage.store
        self.duty = duty
        self.id = delivery

    @property
    def later(self) -> datetime:
        return self.stage.clock() + SOON

    async def row(self) -> DeliveryRow:
        row = await self.store.delivery(self.id)
        assert row is not None
        return row

    async def part(self, ordinal: int = 1) -> OpenPart:
        return (await self.row()).parts[ordinal - 1]

    async def states(self) -> list[PartState]:
        return [part.state for part in (await self.row()).parts]

    async def show(self, ordinal: int = 1) -> None:
        await self.store.mark(self.duty, self.id, ordinal)
        await self.store.checkpoint(self.duty, self.id, ordinal, Receipt(f"m{ordinal}"))

    async def give_up(self) -> None:
        await self.store.mark(self.duty, self.id, 1)
        await self.store.give_up(self.duty, self.id, 1, "channel closed")

    async def hold(self) -> None:
        await self.store.mark(self.duty, self.id, 1)
        await self.store.doubt(self.duty, self.id, 1, self.later, "cut")
        await self.store.hold(self.duty, self.id, 1, "nobody can tell")


async def queued(stage: Stage) -> Sending:
    return Sending(stage, await stage.duty(), await stage.enqueue())


async def rendered(stage: Stage, wires: Sequence[Wire] = WIRES) -> Sending:
    sending = await queued(stage)
    assert await stage.store.render(sending.duty, sending.id, wires, mark=False)
    return sending


async def marked(stage: Stage) -> Sending:
    sending = await rendered(stage)
    assert await stage.store.mark(sending.duty, sending.id, 1)
    return sending


async def unsettled(stage: Stage) -> Sending:
    sending = await marked(stage)
    assert await stage.store.doubt(sending.duty, sending.id, 1, sending.later, "cut")
    return sending


# ----------------------------------------------------------------------------------------------------- putting in


async def test_a_fresh_delivery_waits_with_no_attempts(stage: Stage) -> None:
    row = await (await queued(stage)).row()
    assert (row.state, row.attempts, row.parts, row.settled_at) == (DeliveryState.QUEUED, 0, (), None)


async def test_the_same_ordinal_of_an_origin_is_one_delivery(stage: Stage) -> None:
    assert await stage.store.enqueue(stage.new_delivery("one", origin="run:1"))
    assert not await stage.store.enqueue(stage.new_delivery("other", origin="run:1"))
    assert [d.delivery.content.text for d in await stage.waiting()] == ["one"]


async def test_twenty_at_once_of_one_origin_are_one_delivery(stage: Stage) -> None:
    added = await asyncio.gather(*(stage.store.enqueue(stage.new_delivery(origin="run:1")) for _ in range(20)))
    assert added.count(True) == 1


# ---------------------------------------------------------------------------------------------------- single moves


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
    await stage.store.render(sending.duty, sending.id, WIRES, mark=True)
    assert await sending.states() == [PartState.MARKED, PartState.PENDING, PartState.PENDING]


async def test_a_marker_counts_the_attempt_and_its_time(stage: Stage) -> None:
    sending = await marked(stage)
    part = await sending.part()
    assert (part.state, part.attempts, part.marked_at) == (PartState.MARKED, 1, stage.clock())


async def test_a_checkpoint_keeps_the_receipt(stage: Stage) -> None:
    sending = await marked(stage)
    await stage.store.checkpoint(sending.duty, sending.id, 1, SLIP)
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
    await stage.store.retry(sending.duty, sending.id, 1, sending.later, "429")
    row = await sending.row()
    assert (row.parts[0].state, row.not_before, row.reason) == (PartState.PENDING, sending.later, "429")


async def test_attempts_are_counted_over_retries(stage: Stage) -> None:
    sending = await rendered(stage, [Wire("one")])
    for _ in range(2):
        await stage.store.mark(sending.duty, sending.id, 1)
        await stage.store.retry(sending.duty, sending.id, 1, sending.later, "500")
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
    await stage.store.look_again(sending.duty, sending.id, 1, later, counted=counted)
    row = await sending.row()
    assert (row.parts[0].state, row.parts[0].looks, row.not_before) == (PartState.UNSETTLED, looks, later)


async def test_an_absent_part_is_sent_again(stage: Stage) -> None:
    sending = await unsettled(stage)
    await stage.store.absent(sending.duty, sending.id, 1)
    assert (await sending.part()).state is PartState.PENDING
    await stage.store.mark(sending.duty, sending.id, 1)
    part = await sending.part()
    assert (part.attempts, part.looks, part.repeat_mark) == (2, 0, False)


async def test_a_part_found_on_screen_is_shown(stage: Stage) -> None:
    sending = await unsettled(stage)
    await stage.store.checkpoint(sending.duty, sending.id, 1, SLIP)
    part = await sending.part()
    assert (part.state, part.receipt, part.attempts) == (PartState.SHOWN, SLIP, 1)


async def test_a_repeat_carries_a_mark(stage: Stage) -> None:
    sending = await unsettled(stage)
    await stage.store.repeat(sending.duty, sending.id, 1)
    part = await sending.part()
    assert (part.state, part.repeat_mark) == (PartState.PENDING, True)


async def test_a_held_part_holds_its_delivery(stage: Stage) -> None:
    sending = await unsettled(stage)
    await stage.store.hold(sending.duty, sending.id, 1, "nobody can tell")
    row = await sending.row()
    assert (row.state, row.parts[0].state, row.reason) == (DeliveryState.HELD, PartState.HELD, "nobody can tell")
    assert await stage.waiting() == []


async def test_a_refused_form_goes_as_its_plain_twin(stage: Stage) -> None:
    sending = await marked(stage)
    await stage.store.plain(sending.duty, sending.id, 1)
    part = await sending.part()
    assert (part.state, part.body, part.fallback) == (PartState.PENDING, "plain one", None)


async def test_a_refused_form_that_held_more_than_one_message_is_followed_by_the_others(stage: Stage) -> None:
    sending = await rendered(stage, [Wire("one"), Wire("file", "text 1", ("text 2", "text 3"))])
    await sending.show(1)
    await stage.store.mark(sending.duty, sending.id, 2)
    assert await stage.store.plain(sending.duty, sending.id, 2, "413 too large")
    parts = (await sending.row()).parts
    assert [(part.ordinal, part.body, part.fallback) for part in parts[1:]] == [
        (2, "text 1", None),
        (3, "text 2", None),
        (4, "text 3", None),
    ]
    assert [part.state for part in parts] == [PartState.SHOWN, *[PartState.PENDING] * 3]
    told = "part 2: 413 too large; 2 more go behind it"
    assert [detail for _, _, detail in await stage.audit("delivery split")] == [told]
    assert (await stage.rows("SELECT detail FROM moves WHERE what = 'plain'")) == [(told,)]
    for ordinal in (2, 3, 4):
        assert (await sending.row()).state is DeliveryState.OPEN
        await sending.show(ordinal)
    assert (await sending.row()).state is DeliveryState.SHOWN


# -------------------------------------------------------------------------------------------- what an attempt leaves


async def attempt(sending: Sending, floor: str = "") -> tuple[datetime, datetime | None, str]:
    """Mark the first part: when, since when it may be on screen, and above what."""
    await sending.store.mark(sending.duty, sending.id, 1, floor=floor)
    part = await sending.part()
    assert part.marked_at is not None
    sending.stage.clock.advance(seconds=1)
    return part.marked_at, part.first_at, part.floor


async def cut(sending: Sending) -> None:
    await sending.store.doubt(sending.duty, sending.id, 1, sending.later, "cut")


async def test_the_floor_is_stored_with_each_marker(stage: Stage) -> None:
    sending = await queued(stage)
    await stage.store.render(sending.duty, sending.id, WIRES, mark=True, floor="41")
    assert (await sending.part()).floor == "41"
    assert (await sending.part(2)).floor == ""
    await stage.store.retry(sending.duty, sending.id, 1, sending.later, "busy")
    assert (await attempt(sending, "57"))[2] == "57"


async def test_an_attempt_after_one_that_certainly_failed_is_the_first_again(stage: Stage) -> None:
    sending = await rendered(stage)
    marked_at, first_at, _ = await attempt(sending)
    assert first_at == marked_at
    await stage.store.retry(sending.duty, sending.id, 1, sending.later, "busy")
    marked_at, first_at, _ = await attempt(sending)
    assert first_at == marked_at


async def test_an_attempt_after_two_empty_looks_is_the_first_again(stage: Stage) -> None:
    sending = await rendered(stage)
    await attempt(sending)
    await cut(sending)
    await stage.store.absent(sending.duty, sending.id, 1)
    marked_at, first_at, _ = await attempt(sending)
    assert first_at == marked_at


async def test_a_repeat_counts_from_the_attempt_that_nobody_could_tell_about(stage: Stage) -> None:
    """Also where the repeat itself certainly failed: that says nothing of the one before."""
    sending = await rendered(stage)
    begun, _, _ = await attempt(sending)
    await cut(sending)
    await stage.store.repeat(sending.duty, sending.id, 1)
    assert (await attempt(sending))[1] == begun
    await stage.store.retry(sending.duty, sending.id, 1, sending.later, "busy")
    assert (await attempt(sending))[1] == begun
    assert (await stage.waiting())[0].parts[0].first_at == begun


async def test_what_was_put_on_hold_and_requeued_counts_from_its_first_attempt(stage: Stage) -> None:
    sending = await rendered(stage)
    begun, _, _ = await attempt(sending)
    await cut(sending)
    await stage.store.hold(sending.duty, sending.id, 1, "nobody can tell")
    await stage.store.requeue(sending.id, "Ada")
    assert (await attempt(sending))[1] == begun


# ------------------------------------------------------------------------------------------------------------ pauses


async def test_a_wait_that_a_platform_named_is_kept_until_it_is_over(stage: Stage) -> None:
    duty, until = await stage.duty(), stage.clock() + SOON
    assert await stage.store.pause(duty, "web", "main", "r1", until)
    assert await stage.store.pause(duty, "web", "main", "", until + SOON)
    assert await stage.store.paused("web", "main") == {"r1": until, "": until + SOON}
    assert await stage.store.paused("web", "other") == {}
    stage.clock.advance(seconds=10)
    assert await stage.store.paused("web", "main") == {"": until + SOON}


async def test_of_two_waits_the_longer_is_kept_and_what_is_over_is_thrown_out(stage: Stage) -> None:
    duty, until = await stage.duty(), stage.clock() + SOON
    for one in (until, until - SOON / 2):
        await stage.store.pause(duty, "web", "main", "r1", one)
    assert await stage.store.paused("web", "main") == {"r1": until}
    stage.clock.advance(seconds=11)
    await stage.store.pause(duty, "web", "main", "r2", stage.clock() + SOON)
    assert await stage.column("SELECT room FROM pauses") == ["r2"]


async def test_a_part_given_up_ends_its_delivery_and_keeps_the_payload(stage: Stage) -> None:
    sending = await marked(stage)
    await stage.store.give_up(sending.duty, sending.id, 1, "channel closed")
    row = await sending.row()
    assert (row.state, row.parts[0].state, row.reason) == (DeliveryState.DEAD, PartState.DEAD, "channel closed")
    assert row.content.text == "hello"
    assert await stage.waiting() == []


async def test_a_delivery_may_be_given_up_before_it_is_rendered(stage: Stage) -> None:
    sending = await queued(stage)
    await stage.store.give_up(sending.duty, sending.id, None, "no such account")
    row = await sending.row()
    assert (row.state, row.parts, row.reason) == (DeliveryState.DEAD, (), "no such account")


async def test_what_was_given_up_is_audited(stage: Stage) -> None:
    sending = await marked(stage)
    await stage.store.give_up(sending.duty, sending.id, 1, "closed")
    assert [about for _, about, _ in await stage.audit("delivery give-up")] == [sending.id]


async def test_all_parts_may_be_shown_in_one_commit(stage: Stage) -> None:
    sending = await queued(stage)
    receipts = [Receipt(f"r{n}") for n in range(3)]
    assert await stage.store.render_shown(sending.duty, sending.id, WIRES, receipts)
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


# ----------------------------------------------------------------------------------------------------- lost duties

Act = Callable[[Sending, Duty], Awaitable[bool]]
ACTS: dict[str, Act] = {
    "adopt": lambda s, d: s.store.adopt(d, "web", "main", SOON),
    "render": lambda s, d: s.store.render(d, s.id, WIRES, mark=True),
    "render_shown": lambda s, d: s.store.render_shown(d, s.id, WIRES, [SLIP] * 3),
    "mark": lambda s, d: s.store.mark(d, s.id, 1),
    "checkpoint": lambda s, d: s.store.checkpoint(d, s.id, 1, SLIP),
    "retry": lambda s, d: s.store.retry(d, s.id, 1, s.later, "x"),
    "doubt": lambda s, d: s.store.doubt(d, s.id, 1, s.later, "x"),
    "look_again": lambda s, d: s.store.look_again(d, s.id, 1, s.later, counted=True),
    "absent": lambda s, d: s.store.absent(d, s.id, 1),
    "repeat": lambda s, d: s.store.repeat(d, s.id, 1),
    "hold": lambda s, d: s.store.hold(d, s.id, 1, "x"),
    "plain": lambda s, d: s.store.plain(d, s.id, 1),
    "give_up": lambda s, d: s.store.give_up(d, s.id, 1, "x"),
    "pause": lambda s, d: s.store.pause(d, "web", "main", "r1", s.later),
}
BEFORE = {
    "render": queued,
    "render_shown": queued,
    "mark": rendered,
    "look_again": unsettled,
    "absent": unsettled,
    "repeat": unsettled,
    "hold": unsettled,
}


@pytest.mark.parametrize("act", ACTS)
async def test_a_lost_duty_changes_nothing(stage: Stage, act: str) -> None:
    sending = await BEFORE.get(act, marked)(stage)
    await stage.store.leave(stage.lease)
    heir = await stage.store.join(NodeId("heir"), "", TTL, alone=False)
    await stage.duty(lease=heir)
    before = await stage.everything()
    assert not await ACTS[act](sending, sending.duty)
    assert await stage.everything() == before


@pytest.mark.parametrize("act", ACTS)
async def test_an_older_fence_of_a_duty_changes_nothing(stage: Stage, act: str) -> None:
    sending = await BEFORE.get(act, marked)(stage)
    before = await stage.everything()
    assert not await ACTS[act](sending, replace(sending.duty, fence=sending.duty.fence - 1))
    assert await stage.everything() == before


@pytest.mark.parametrize("act", [act for act in ACTS if act not in ("adopt", "pause")])
async def test_a_discarded_delivery_is_not_moved_any_more(stage: Stage, act: str) -> None:
    sending = await BEFORE.get(act, rendered)(stage)
    assert await stage.store.discard(sending.id, "Ada")
    before = await stage.everything()
    assert not await ACTS[act](sending, sending.duty)
    assert await stage.everything() == before


async def test_a_new_courier_looks_for_what_the_old_one_was_sending(stage: Stage) -> None:
    sending = await marked(stage)
    sent_at = stage.clock()
    other = await stage.enqueue(at=address("elsewhere"))
    await stage.store.render(sending.duty, other, WIRES, mark=False)
    stage.clock.advance(seconds=3)
    assert await stage.store.adopt(sending.duty, "web", "main", SOON)
    row = await sending.row()
    assert (row.parts[0].state, row.not_before) == (PartState.UNSETTLED, sent_at + SOON)
    assert await stage.column("SELECT state FROM parts WHERE delivery_id = :d", d=other) == ["pending"] * 3


async def test_a_courier_leaves_the_parts_of_other_accounts_alone(stage: Stage) -> None:
    sending = await marked(stage)
    assert await stage.store.adopt(sending.duty, "web", "another", SOON)
    assert (await sending.part()).state is PartState.MARKED


# ----------------------------------------------------------------------------------------------------------- order


def texts(waiting: list[OpenDelivery]) -> list[str]:
    return [d.delivery.content.text for d in waiting]


async def test_a_room_is_served_by_rank_then_age(stage: Stage) -> None:
    for kind in (Kind.PROGRESS, Kind.REPORT, Kind.FINAL, Kind.APPROVAL, Kind.FINAL):
        await stage.enqueue(kind.value, kind=kind)
    assert texts(await stage.waiting()) == ["approval", "final", "final", "report", "progress"]


async def test_one_origin_stays_in_order_whatever_its_ranks(stage: Stage) -> None:
    await stage.enqueue("thinking", kind=Kind.PROGRESS, origin="run:1", ordinal=0)
    await stage.enqueue("answer", kind=Kind.FINAL, origin="run:1", ordinal=1)
    await stage.enqueue("report", kind=Kind.REPORT)
    assert texts(await stage.waiting()) == ["report", "thinking"]


async def test_what_is_partly_shown_goes_first(stage: Stage) -> None:
    duty = await stage.duty()
    report = await stage.enqueue("report", kind=Kind.REPORT)
    await stage.store.render(duty, report, WIRES, mark=True)
    await stage.store.checkpoint(duty, report, 1, SLIP)
    await stage.enqueue("card", kind=Kind.APPROVAL)
    waiting = await stage.waiting()
    assert (texts(waiting), waiting[0].rank) == (["report", "card"], 0)


async def test_what_is_being_looked_for_goes_first(stage: Stage) -> None:
    sending = await unsettled(stage)
    await stage.enqueue("card", kind=Kind.APPROVAL)
    assert (await stage.waiting())[0].delivery.id == sending.id


async def test_a_room_sees_its_own_deliveries_only(stage: Stage) -> None:
    await stage.enqueue("here")
    await stage.enqueue("there", at=OTHER_ROOM)
    assert texts(await stage.waiting()) == ["here"]


async def test_a_room_is_read_in_bounded_pieces(stage: Stage) -> None:
    for n in range(30):
        await stage.enqueue(f"{n}")
    assert texts(await stage.store.open_deliveries(ROOM, limit=5)) == ["0", "1", "2", "3", "4"]


async def test_a_dead_delivery_does_not_stop_the_next_of_its_origin(stage: Stage) -> None:
    duty = await stage.duty()
    first = await stage.enqueue("first", origin="run:1", ordinal=0)
    await stage.enqueue("second", origin="run:1", ordinal=1)
    await stage.store.give_up(duty, first, None, "closed")
    assert texts(await stage.waiting()) == ["second"]


async def test_open_rooms_are_those_of_the_account_with_something_to_show(stage: Stage) -> None:
    shown = await stage.enqueue(at=address("settled"))
    await stage.show(shown, await stage.duty())
    await stage.enqueue(at=address("b"))
    await stage.enqueue(at=address("a"))
    await stage.enqueue(at=address("a"))
    assert await stage.store.open_rooms("web", "main") == [address("a"), address("b")]
    assert await stage.store.open_rooms("web", "other") == []


async def test_fifty_rooms_beside_ten_thousand_in_one_are_all_found(stage: Stage) -> None:
    for n in range(50):
        await stage.enqueue(at=address(f"r{n:02}"))
    await stage.store.enqueue(stage.new_delivery("seed", at=address("r25"), origin="o:seed"))
    columns = "channel, account, address, content, run_id, state, rank, not_before, reason, created_at, settled_at"
    await stage.write(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
        f"INSERT INTO deliveries (id, origin, ordinal, kind, {columns}) "
        f"SELECT 'x' || i, 'x' || i, 0, 'report', {columns} FROM n, deliveries WHERE origin = 'o:seed'",
    )
    assert await stage.store.open_rooms("web", "main") == [address(f"r{n:02}") for n in range(50)]


# ------------------------------------------------------------------------------------------------------------ edits


async def test_an_edit_knows_the_receipt_of_what_it_replaces(stage: Stage) -> None:
    card = await stage.enqueue(origin="approval:1")
    await stage.store.render_shown(await stage.duty(), card, [Wire("card")], [SLIP])
    await stage.enqueue(origin="approval:1", ordinal=1, edits=card)
    assert [d.edit_of for d in await stage.waiting()] == [SLIP]


async def test_an_edit_of_what_never_appeared_has_nothing_to_replace(stage: Stage) -> None:
    card = await stage.enqueue(origin="approval:1")
    await stage.store.give_up(await stage.duty(), card, None, "closed")
    await stage.enqueue(origin="approval:1", ordinal=1, edits=card)
    assert [d.edit_of for d in await stage.waiting()] == [None]


# ---------------------------------------------------------------------------------------------------------- answers


async def test_a_shown_final_answers_its_signals_and_their_twins(stage: Stage) -> None:
    await stage.say("one")
    await stage.say("one")
    claim = await stage.claim()
    await stage.say("one")
    await stage.say("two")
    await stage.store.steer(claim.lane, claim.run_id)
    await stage.say("two")
    await stage.finish(claim)
    assert set(await stage.column("SELECT answered_at FROM signals")) == {None}
    await stage.drain()
    answered = await stage.column("SELECT answered_at FROM signals")
    assert (len(answered), None in answered) == (5, False)


async def test_a_final_answers_only_when_all_of_it_is_shown(stage: Stage) -> None:
    claim = await stage.begin()
    await stage.finish(claim)
    (final,) = await stage.waiting()
    sending = Sending(stage, await stage.duty(), final.delivery.id)
    await stage.store.render(sending.duty, sending.id, WIRES, mark=False)
    await sending.show(1)
    await sending.show(2)
    assert await stage.column("SELECT answered_at FROM signals") == [None]
    await sending.show(3)
    assert None not in await stage.column("SELECT answered_at FROM signals")


async def test_a_card_answers_nothing(stage: Stage) -> None:
    claim = await stage.begin()
    card = stage.new_delivery("card", kind=Kind.APPROVAL)
    await stage.store.finish(claim.lane, claim.run_id, 1, None, RunState.FAILED, "x", [card])
    await stage.drain()
    assert await stage.column("SELECT answered_at FROM signals") == [None]


async def test_a_message_during_the_final_call_is_not_answered_by_it(stage: Stage) -> None:
    claim = await stage.begin("one")
    await stage.say("two")
    await stage.finish(claim)
    await stage.drain()
    assert [at is None for at in await stage.column("SELECT answered_at FROM signals ORDER BY seq")] == [False, True]


# ---------------------------------------------------------------------------------------------------- by a person


@pytest.mark.parametrize("end", ["dead", "held"])
async def test_a_dead_or_held_delivery_is_tried_again_on_request(stage: Stage, end: str) -> None:
    sending = await rendered(stage)
    await (sending.give_up() if end == "dead" else sending.hold())
    row = await stage.store.requeue(sending.id, "Ada")
    assert row is not None
    assert (row.state, row.parts[0].state, row.settled_at) == (DeliveryState.OPEN, PartState.PENDING, None)
    for ordinal in (1, 2, 3):
        await sending.show(ordinal)
    assert (await sending.row()).state is DeliveryState.SHOWN


async def test_requeued_after_part_two_of_three_the_rest_is_shown(stage: Stage) -> None:
    sending = await rendered(stage)
    await sending.show(1)
    await stage.store.mark(sending.duty, sending.id, 2)
    await stage.store.give_up(sending.duty, sending.id, 2, "closed")
    await stage.store.requeue(sending.id, "Ada")
    assert await sending.states() == [PartState.SHOWN, PartState.PENDING, PartState.PENDING]


async def test_a_delivery_dead_before_rendering_is_rendered_after_a_requeue(stage: Stage) -> None:
    sending = await queued(stage)
    await stage.store.give_up(sending.duty, sending.id, None, "away")
    await stage.store.requeue(sending.id, "Ada")
    assert await stage.store.render(sending.duty, sending.id, WIRES, mark=True)


@pytest.mark.parametrize("state", [queued, rendered, marked])
async def test_only_what_is_held_or_dead_is_requeued(
    stage: Stage, state: Callable[[Stage], Awaitable[Sending]]
) -> None:
    sending = await state(stage)
    before = await stage.everything()
    assert await stage.store.requeue(sending.id, "Ada") is None
    assert await stage.everything() == before


@pytest.mark.parametrize("state", [queued, rendered, unsettled])
async def test_what_is_not_settled_may_be_thrown_away(
    stage: Stage, state: Callable[[Stage], Awaitable[Sending]]
) -> None:
    sending = await state(stage)
    row = await stage.store.discard(sending.id, "Ada")
    assert row is not None
    assert (row.state, row.settled_at) == (DeliveryState.DISCARDED, stage.clock())
    assert await stage.waiting() == []


async def test_what_is_being_sent_is_not_thrown_away(stage: Stage) -> None:
    sending = await marked(stage)
    assert await stage.store.discard(sending.id, "Ada") is None
    assert (await sending.row()).state is DeliveryState.OPEN


async def test_what_was_shown_is_not_thrown_away(stage: Stage) -> None:
    sending = await rendered(stage, [Wire("one")])
    await sending.show()
    assert await stage.store.discard(sending.id, "Ada") is None


async def test_a_marker_and_a_discard_at_once_end_in_one_way(stage: Stage) -> None:
    await stage.many()
    for _ in range(10):
        sending = await rendered(stage)
        going, gone = await asyncio.gather(
            stage.store.mark(sending.duty, sending.id, 1), stage.store.discard(sending.id, "Ada")
        )
        assert going is (gone is None)


@pytest.mark.parametrize("what", ["requeue", "discard"])
async def test_an_unknown_delivery_is_none(stage: Stage, what: str) -> None:
    act = stage.store.requeue if what == "requeue" else stage.store.discard
    assert await act(DeliveryId("nothing"), "Ada") is None
    assert await stage.store.delivery(DeliveryId("nothing")) is None


@pytest.mark.parametrize("what", ["requeued", "discarded"])
async def test_who_requeued_or_discarded_is_audited(stage: Stage, what: str) -> None:
    sending = await rendered(stage)
    await sending.give_up()
    await (stage.store.requeue if what == "requeued" else stage.store.discard)(sending.id, "Ada")
    assert [(actor, about) for actor, about, _ in await stage.audit(what)] == [("Ada", sending.id)]
