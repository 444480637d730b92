"""In which order deliveries are sent, what they edit, and whose answer they are."""

from __future__ import annotations

from runtime.contract import Kind, Wire
from runtime.domain.runs import RunState
from runtime.store.protocol import OpenDelivery
from tests.contract.store.sending import SLIP, WIRES, Sending, unsettled
from tests.contract.store.stage import OTHER_ROOM, ROOM, Stage, address

# ---------------------------------------------------------------------------------------------------------------- order


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
    await stage.store.outbox.render(duty, report, WIRES, mark=True)
    await stage.store.outbox.checkpoint(duty, report, 1, SLIP)
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
    assert texts(await stage.store.outbox.open_deliveries(ROOM, limit=5)) == ["0", "1", "2", "3", "4"]


async def test_a_dead_delivery_does_not_stop_the_next_of_its_origin(stage: Stage) -> None:
    duty = await stage.duty()
    first = await stage.enqueue("first", origin="run:1", ordinal=0)
    await stage.enqueue("second", origin="run:1", ordinal=1)
    await stage.store.outbox.give_up(duty, first, None, "closed")
    assert texts(await stage.waiting()) == ["second"]


async def test_open_rooms_are_those_of_the_account_with_something_to_show(stage: Stage) -> None:
    shown = await stage.enqueue(at=address("settled"))
    await stage.show(shown, await stage.duty())
    await stage.enqueue(at=address("b"))
    await stage.enqueue(at=address("a"))
    await stage.enqueue(at=address("a"))
    assert await stage.store.outbox.open_rooms("web", "main") == [address("a"), address("b")]
    assert await stage.store.outbox.open_rooms("web", "other") == []


async def test_fifty_rooms_beside_ten_thousand_in_one_are_all_found(stage: Stage) -> None:
    for n in range(50):
        await stage.enqueue(at=address(f"r{n:02}"))
    await stage.store.outbox.enqueue(stage.new_delivery("seed", at=address("r25"), origin="o:seed"))
    columns = "channel, account, address, content, run_id, state, rank, not_before, reason, created_at, settled_at"
    await stage.write(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
        f"INSERT INTO deliveries (id, origin, ordinal, kind, {columns}) "
        f"SELECT 'x' || i, 'x' || i, 0, 'report', {columns} FROM n, deliveries WHERE origin = 'o:seed'",
    )
    assert await stage.store.outbox.open_rooms("web", "main") == [address(f"r{n:02}") for n in range(50)]


# ---------------------------------------------------------------------------------------------------------------- edits


async def test_an_edit_knows_the_receipt_of_what_it_replaces(stage: Stage) -> None:
    card = await stage.enqueue(origin="approval:1")
    await stage.store.outbox.render_shown(await stage.duty(), card, [Wire("card")], [SLIP])
    await stage.enqueue(origin="approval:1", ordinal=1, edits=card)
    assert [d.edit_of for d in await stage.waiting()] == [SLIP]


async def test_an_edit_of_what_never_appeared_has_nothing_to_replace(stage: Stage) -> None:
    card = await stage.enqueue(origin="approval:1")
    await stage.store.outbox.give_up(await stage.duty(), card, None, "closed")
    await stage.enqueue(origin="approval:1", ordinal=1, edits=card)
    assert [d.edit_of for d in await stage.waiting()] == [None]


# -------------------------------------------------------------------------------------------------------------- answers


async def test_a_shown_final_answers_its_signals_and_their_twins(stage: Stage) -> None:
    await stage.say("one")
    await stage.say("one")
    claim = await stage.claim()
    await stage.say("one")
    await stage.say("two")
    await stage.store.runs.steer(claim.lane, claim.run_id)
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
    await stage.store.outbox.render(sending.duty, sending.id, WIRES, mark=False)
    await sending.show(1)
    await sending.show(2)
    assert await stage.column("SELECT answered_at FROM signals") == [None]
    await sending.show(3)
    assert None not in await stage.column("SELECT answered_at FROM signals")


async def test_a_card_answers_nothing(stage: Stage) -> None:
    claim = await stage.begin()
    card = stage.new_delivery("card", kind=Kind.APPROVAL)
    await stage.store.runs.finish(claim.lane, claim.run_id, 1, None, RunState.FAILED, "x", [card])
    await stage.drain()
    assert await stage.column("SELECT answered_at FROM signals") == [None]


async def test_a_message_during_the_final_call_is_not_answered_by_it(stage: Stage) -> None:
    claim = await stage.begin("one")
    await stage.say("two")
    await stage.finish(claim)
    await stage.drain()
    assert [at is None for at in await stage.column("SELECT answered_at FROM signals ORDER BY seq")] == [False, True]
