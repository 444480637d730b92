"""What an adapter may ask about its account's rooms: where something was taken in, and what of ours is shown there."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from runtime.contract import Address, Amended, Commanded, Receipt, Said, Seen, Stopped, Wire
from runtime.store.protocol import Duty
from tests.contract.store.stage import START, STRANGER, Stage

CHANNEL = Address("slack", "T1", "C1")
THREAD = Address("slack", "T1", "C1", "17.5")
DIRECT = Address("slack", "T1", "D1")
ELSEWHERE = (
    Address("slack", "T10", "C1"),
    Address("slack", "T", "C1"),
    Address("telegram", "T1", "C1"),
)
LONG_AGO = START - timedelta(days=1)


async def say(stage: Stage, at: Address, message_id: str, text: str = "hello") -> None:
    await stage.take_in(replace(stage.signal(Said(text), at=at), message_id=message_id))


async def show(stage: Stage, duty: Duty, at: Address, *receipts: str) -> None:
    delivery = await stage.enqueue(at=at)
    wires = [Wire(f"part {receipt}") for receipt in receipts]
    assert await stage.store.outbox.render_shown(duty, delivery, wires, [Receipt(receipt) for receipt in receipts])


# ----------------------------------------------------------------------------------------------------------- rooms


async def test_each_room_and_thread_is_told_with_its_newest_message(stage: Stage) -> None:
    for at, message_id in ((CHANNEL, "1"), (THREAD, "2"), (DIRECT, "3"), (CHANNEL, "4"), (DIRECT, "5")):
        stage.clock.advance(seconds=1)
        await say(stage, at, message_id, f"text {message_id}")
    told = await stage.store.places.seen("slack", "T1", LONG_AGO)
    assert sorted(told, key=lambda seen: seen.message_id) == [
        Seen(THREAD, "2", START + timedelta(seconds=2)),
        Seen(CHANNEL, "4", START + timedelta(seconds=4)),
        Seen(DIRECT, "5", START + timedelta(seconds=5)),
    ]


async def test_of_two_messages_of_one_moment_one_is_told(stage: Stage) -> None:
    await say(stage, CHANNEL, "1", "one")
    await say(stage, CHANNEL, "2", "two")
    [seen] = await stage.store.places.seen("slack", "T1", LONG_AGO)
    assert seen.message_id in ("1", "2")


async def test_a_room_in_which_nothing_was_said_lately_is_left_out(stage: Stage) -> None:
    await say(stage, CHANNEL, "1")
    stage.clock.advance(seconds=10)
    await say(stage, DIRECT, "2")
    told = await stage.store.places.seen("slack", "T1", START + timedelta(seconds=10))
    assert [seen.address for seen in told] == [DIRECT]


async def test_accounts_with_like_names_are_kept_apart(stage: Stage) -> None:
    await say(stage, CHANNEL, "1")
    for at in ELSEWHERE:
        await say(stage, at, "9", f"in {at}")
    assert [seen.address for seen in await stage.store.places.seen("slack", "T1", LONG_AGO)] == [CHANNEL]
    assert [seen.address for seen in await stage.store.places.seen("slack", "T", LONG_AGO)] == [ELSEWHERE[1]]


async def test_what_was_refused_or_is_no_message_is_no_sign_of_a_room(stage: Stage) -> None:
    await stage.take_in(replace(stage.signal(Said("let me in"), actor=STRANGER, at=CHANNEL), message_id="1"))
    await stage.take_in(replace(stage.signal(Stopped(), at=DIRECT), message_id="2"))
    await stage.take_in(replace(stage.signal(Commanded("status"), at=DIRECT), message_id="3"))
    await stage.take_in(replace(stage.signal(Amended("never said"), at=DIRECT), message_id="4"))
    assert await stage.store.places.seen("slack", "T1", LONG_AGO) == []
    assert await stage.store.places.last_heard("slack", "T1") is None


async def test_when_an_account_was_last_heard_is_the_newest_of_all_its_rooms(stage: Stage) -> None:
    assert await stage.store.places.last_heard("slack", "T1") is None
    for at in (CHANNEL, DIRECT, THREAD):
        stage.clock.advance(seconds=1)
        await say(stage, at, "1", f"in {at}")
    stage.clock.advance(seconds=60)
    await say(stage, ELSEWHERE[0], "1")
    assert await stage.store.places.last_heard("slack", "T1") == START + timedelta(seconds=3)


async def test_a_hundred_rooms_are_all_told(stage: Stage) -> None:
    rooms = {Address("slack", "T1", f"C{number}") for number in range(100)}
    for room in rooms:
        await say(stage, room, "1", f"in {room}")
    assert {seen.address for seen in await stage.store.places.seen("slack", "T1", LONG_AGO)} == rooms


async def test_an_account_without_rooms_has_none(stage: Stage) -> None:
    assert await stage.store.places.seen("discord", "7", LONG_AGO) == []
    assert await stage.store.places.moved("discord", "7") == {}
    assert await stage.store.places.receipts(Address("discord", "7", "1"), LONG_AGO) == []


# -------------------------------------------------------------------------------------------------------- what is shown


async def test_all_that_is_shown_in_a_room_is_told_in_any_thread_of_it(stage: Stage) -> None:
    duty = await stage.duty("courier:slack:T1")
    await show(stage, duty, CHANNEL, "1", "2")
    await show(stage, duty, THREAD, "3")
    await show(stage, duty, replace(CHANNEL, thread="9"), "4")
    for at in (DIRECT, Address("slack", "T1", "C10"), Address("slack", "T1", "C"), *ELSEWHERE):
        await show(stage, duty, at, "other")
    for at in (CHANNEL, THREAD):
        assert sorted(await stage.store.places.receipts(at, LONG_AGO)) == ["1", "2", "3", "4"]


async def test_what_is_not_shown_yet_has_no_receipt(stage: Stage) -> None:
    await stage.duty("courier:slack:T1")
    await stage.enqueue(at=CHANNEL)
    assert await stage.store.places.receipts(CHANNEL, LONG_AGO) == []


async def test_what_is_older_is_left_out(stage: Stage) -> None:
    duty = await stage.duty("courier:slack:T1")
    await show(stage, duty, CHANNEL, "old")
    stage.clock.advance(seconds=10)
    await show(stage, duty, CHANNEL, "new")
    assert await stage.store.places.receipts(CHANNEL, START + timedelta(seconds=5)) == ["new"]


# ------------------------------------------------------------------------------------------------------- rooms that moved


async def test_a_room_that_moved_is_told_by_its_newest_id(stage: Stage) -> None:
    sql = "INSERT INTO aliases (channel, account, room, moved_to, at) VALUES (:c, :a, :r, :m, 0)"
    for account, room, moved_to in (("4711", "-5", "-1005"), ("4711", "-6", "-1006"), ("4712", "-7", "-1007")):
        await stage.write(sql, c="telegram", a=account, r=room, m=moved_to)
    assert await stage.store.places.moved("telegram", "4711") == {"-5": "-1005", "-6": "-1006"}
    assert await stage.store.places.moved("slack", "4711") == {}


async def test_asking_changes_nothing(stage: Stage) -> None:
    await say(stage, CHANNEL, "1")
    before = await stage.everything()
    await stage.store.places.seen("slack", "T1", LONG_AGO)
    await stage.store.places.last_heard("slack", "T1")
    await stage.store.places.receipts(CHANNEL, LONG_AGO)
    assert await stage.everything() == before
