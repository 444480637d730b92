"""A message whose answer was lost is found by its id, or known to be absent, or nobody can tell: as it is."""

from __future__ import annotations

import asyncio
from math import inf
from typing import Any

import pytest

from adapters.telegram.adapter import TelegramAdapter
from runtime.contract import Address, ApprovalId, Attempt, Button, Choice, Part, Settled, SettleResult, Shown
from runtime.errors import Retryable, Uncertain
from tests.fakes.telegram_driver import ADA
from tests.wire.telegram.stage import FORUM, GROUP, SUPERGROUP, Bench, address

PAIR = Button(ApprovalId("a"), Choice.APPROVE, "Approve"), Button(ApprovalId("a"), Choice.DENY, "Deny")
HOME = address(ADA)


async def met(bench: Bench, *chats: int) -> None:
    """The bot hears of these chats, as long ago as a minute."""
    for chat in chats:
        await bench.driver.inject(type="introduce", chat=chat, user=11, ago=60)


async def lost(bench: Bench, adapter: TelegramAdapter, fault: str = "cut after", at: Address = HOME, *buttons: Button, seconds: float = 0) -> tuple[Part, Attempt]:  # fmt: skip
    """A message whose answer does not come."""
    part = bench.part(adapter, "hello", *buttons, at=at)
    attempt = bench.stage.attempt(adapter, part)
    await bench.driver.fault(fault, chat=int(at.room), seconds=seconds)
    with pytest.raises(Uncertain):
        await adapter.show(part)
    return part, attempt


async def settled(bench: Bench, adapter: TelegramAdapter, found: tuple[Part, Attempt]) -> Settled:
    return await bench.stage.settle(adapter, *found)


def probes(bench: Bench) -> int:
    return bench.fake.calls.get("editMessageReplyMarkup", 0)


def number(found: Settled) -> int:
    assert isinstance(found, Shown), found
    return int(found.receipt.message_id.partition(":")[2])


# ------------------------------------------------------------------------------------------------------------ found


@pytest.mark.parametrize("at", [HOME, address(GROUP), address(SUPERGROUP), address(FORUM, 1007)], ids=str)
@pytest.mark.parametrize("buttons", [(), PAIR], ids=["words", "card"])
async def test_it_is_found_in_every_kind_of_chat(bench: Bench, at: Address, buttons: tuple[Button, ...]) -> None:
    await met(bench, int(at.room))
    async with bench.life() as adapter:
        found = await settled(bench, adapter, await lost(bench, adapter, "cut after", at, *buttons))
        shown = await bench.last(int(at.room))
        assert number(found) == shown["message_id"]
        assert shown["version"] == 0, "a look changes nothing"
        assert probes(bench) == 1


async def test_others_speak_in_between(bench: Bench) -> None:
    await met(bench, GROUP)
    async with bench.life() as adapter:
        attempt = await lost(bench, adapter)
        for chat in (GROUP, ADA):
            await bench.signal_of("meanwhile", chat=chat)
        await bench.show(adapter, "elsewhere", at=address(GROUP))
        assert isinstance(await settled(bench, adapter, attempt), Shown)
        assert probes(bench) == 1, "all other ids are known"


async def test_in_a_busy_group_it_is_found_among_what_the_bot_does_not_see(bench: Bench) -> None:
    await met(bench, SUPERGROUP)
    async with bench.life() as adapter:
        await bench.driver.switch(privacy=True)
        for _ in range(5):
            await bench.driver.say("not for you", chat=SUPERGROUP)
        attempt = await lost(bench, adapter, at=address(SUPERGROUP))
        for _ in range(20):
            await bench.driver.say("nor this", chat=SUPERGROUP)
        assert isinstance(await settled(bench, adapter, attempt), Shown)
        assert probes(bench) == 6


async def test_a_late_one_is_found_by_the_second_look(bench: Bench) -> None:
    async with bench.life() as adapter:
        attempt = await lost(bench, adapter, "cut late", seconds=inf)
        assert await settled(bench, adapter, attempt) is SettleResult.ABSENT
        [late] = bench.fake.under_way
        late()
        await bench.signal_of("meanwhile", chat=GROUP)
        assert isinstance(await settled(bench, adapter, attempt), Shown)


async def test_a_message_that_became_a_message_of_somebody_else_is_none(bench: Bench) -> None:
    """An id that one look found empty may be given to somebody before the next."""
    async with bench.life() as adapter:
        attempt = await lost(bench, adapter, "cut before")
        assert await settled(bench, adapter, attempt) is SettleResult.ABSENT
        await bench.signal_of("meanwhile")
        await bench.show(adapter, "elsewhere", at=address(1001))
        assert await settled(bench, adapter, attempt) is SettleResult.ABSENT
        assert await bench.driver.texts() == []


async def test_of_many_lost_at_once_each_is_found_as_itself(bench: Bench) -> None:
    rooms = [address(1000 + n) for n in range(8)] + [address(-1000 - n) for n in range(6)]
    async with bench.life() as adapter:
        attempts = [await lost(bench, adapter, at=room) for room in rooms]
        found = await asyncio.gather(*(settled(bench, adapter, attempt) for attempt in attempts))
        shown = [(await bench.last(int(room.room)))["message_id"] for room in rooms]
        assert [number(one) for one in found] == shown


async def test_half_of_many_lost_at_once_were_never_applied(bench: Bench) -> None:
    rooms = [address(1000 + n) for n in range(6)] + [address(-1000 - n) for n in range(6)]
    faults = ["cut after", "cut before"] * 6
    async with bench.life() as adapter:
        attempts = [await lost(bench, adapter, fault, room) for fault, room in zip(faults, rooms, strict=True)]
        found = await asyncio.gather(*(settled(bench, adapter, attempt) for attempt in attempts))
        told = [isinstance(one, Shown) for one in found]
        assert told == [True, False] * 6
        assert [one for one in found if not isinstance(one, Shown)] == [SettleResult.ABSENT] * 6


# ------------------------------------------------------------------------------------------------------ former lives


async def test_after_a_kill_the_store_tells_what_is_ours(bench: Bench) -> None:
    """Receipts of other rooms are no candidates: they were shown by the life before."""
    async with bench.life() as adapter:
        await bench.signal_of("hi")
        for chat in (1001, 1002, 1003):
            await bench.signal_of("hi", chat=chat, user=chat)
        part = bench.part(adapter, "hello")
        attempt = bench.stage.attempt(adapter, part)
        for chat in (1001, 1002, 1003):
            await bench.show(adapter, "elsewhere", at=address(chat))
        await adapter.show(part)  # and no checkpoint
    async with bench.life() as adapter:
        assert isinstance(await settled(bench, adapter, (part, attempt)), Shown)
        assert probes(bench) == 1


async def test_after_a_kill_the_topics_of_a_forum_are_found_in_their_order(bench: Bench) -> None:
    """Three were marked; the first two were sent, and equal messages cannot be told apart by a probe."""
    await met(bench, FORUM)
    topics = [address(FORUM, 1001), address(FORUM, 1002), address(FORUM, 1003)]
    async with bench.life() as adapter:
        parts = [bench.part(adapter, "hello", at=topic) for topic in topics]
        attempts = [bench.stage.attempt(adapter, part) for part in parts]
        for part in parts[:2]:
            await adapter.show(part)
    async with bench.life() as adapter:
        backwards = [settled(bench, adapter, (part, attempt)) for part, attempt in zip(parts, attempts, strict=True)][
            ::-1
        ]
        third, second, first = await asyncio.gather(*backwards)
        shown = await bench.driver.shown(FORUM)
        assert [message["message_thread_id"] for message in shown] == [1001, 1002]
        assert [number(first), number(second)] == [message["message_id"] for message in shown]
        assert third is SettleResult.ABSENT
        await adapter.show(parts[2])
        assert len(await bench.driver.shown(FORUM)) == 3


async def test_while_one_topic_is_in_doubt_the_others_of_its_forum_wait(bench: Bench) -> None:
    await met(bench, FORUM)
    async with bench.life() as adapter:
        attempt = await lost(bench, adapter, at=address(FORUM, 1001))
        with pytest.raises(Retryable, match="this chat first"):
            await adapter.show(bench.part(adapter, "hello", at=address(FORUM, 1002)))
        assert isinstance(await settled(bench, adapter, attempt), Shown)
        await adapter.show(bench.part(adapter, "hello", at=address(FORUM, 1002)))


async def test_a_first_word_anywhere_has_no_floor_and_nobody_can_tell(bench: Bench) -> None:
    bench.fake.world.updates.clear()
    async with bench.life() as adapter:
        attempt = await lost(bench, adapter, at=address(-1_000_000_001_001))
        assert await settled(bench, adapter, attempt) is SettleResult.UNKNOWN
        assert probes(bench) == 0


@pytest.mark.parametrize("floor", ["", "nonsense", "1:2"])
async def test_a_marker_without_a_floor_of_ours_cannot_be_settled(bench: Bench, floor: str) -> None:
    async with bench.life() as adapter:
        part = bench.part(adapter, "hello")
        assert await adapter.settle(part, Attempt(1, bench.stage.clock(), floor)) is SettleResult.UNKNOWN


@pytest.mark.parametrize("missing", [(), (3, 4, 11), (1, 7, 13, 19)], ids=["all shown", "three not", "four not"])
async def test_after_a_kill_more_groups_than_one_may_probe_ids_find_their_own(
    bench: Bench, missing: tuple[int, ...]
) -> None:
    """Twenty were marked together and most were sent: a group may try twelve ids, and begins with the likeliest."""
    groups = [address(-2000 - n) for n in range(20)]
    await met(bench, *(int(group.room) for group in groups))
    async with bench.life() as adapter:
        parts = [bench.part(adapter, "hello", at=group) for group in groups]
        attempts = [bench.stage.attempt(adapter, part) for part in parts]
        for part in (part for number, part in enumerate(parts) if number not in missing):
            await adapter.show(part)
    async with bench.life() as adapter:
        found = await asyncio.gather(*(settled(bench, adapter, one) for one in zip(parts, attempts, strict=True)))
        told = [
            one is SettleResult.ABSENT if number in missing else isinstance(one, Shown)
            for number, one in enumerate(found)
        ]
        assert all(told), found
        shown = [number(one) for one in found if isinstance(one, Shown)]
        assert len(set(shown)) == len(groups) - len(missing)


# ------------------------------------------------------------------------------------------------------------ limits


async def test_in_a_group_twelve_are_tried_and_then_nobody_can_tell(bench: Bench) -> None:
    await met(bench, SUPERGROUP)
    async with bench.life() as adapter:
        await bench.driver.switch(privacy=True)
        for _ in range(30):
            await bench.driver.say("not for you", chat=SUPERGROUP)
        attempt = await lost(bench, adapter, at=address(SUPERGROUP))
        assert await settled(bench, adapter, attempt) is SettleResult.UNKNOWN
        assert probes(bench) == 12


async def test_in_a_private_chat_sixty_are_tried_and_then_nobody_can_tell(bench: Bench) -> None:
    async with bench.life() as adapter:
        part = bench.part(adapter, "hello")
        attempt = bench.stage.attempt(adapter, part)
        await bench.driver.inject(type="hidden", chat=ADA, count=80)  # not as observed: ids that nobody tells us of
        await adapter.show(part)
        await bench.signal_of("much later", chat=GROUP)
    async with bench.life() as adapter:
        assert await settled(bench, adapter, (part, attempt)) is SettleResult.UNKNOWN
        assert probes(bench) == 60


async def test_a_rate_limit_pauses_the_look_and_it_goes_on_where_it_was(bench: Bench) -> None:
    async with bench.life() as adapter:
        await bench.driver.inject(type="hidden", chat=ADA, count=3)
        attempt = await lost(bench, adapter)
        await bench.driver.fault("rate", on="probe", seconds=7)
        with pytest.raises(Retryable) as told:
            await adapter.settle(*attempt)
        assert told.value.retry_after is not None
        assert told.value.retry_after.total_seconds() == 7
        await bench.driver.fault("cut after", on="probe")
        with pytest.raises(Retryable, match="interrupted while checking"):
            await adapter.settle(*attempt)
        assert isinstance(await settled(bench, adapter, attempt), Shown)
        assert probes(bench) == 6, "what was not answered is asked again"


async def test_a_long_look_is_made_in_several_calls(bench: Bench) -> None:
    async with bench.life(waits={"look": 0.05, "probe_all": 0.03}) as adapter:
        await bench.driver.inject(type="hidden", chat=ADA, count=6)
        attempt = await lost(bench, adapter)
        with pytest.raises(Retryable, match="ids tried"):
            await adapter.settle(*attempt)
        found: Any = None
        for _ in range(20):
            try:
                found = await adapter.settle(*attempt)
                break
            except Retryable:
                continue
        assert isinstance(found, Shown)
        assert probes(bench) == 7, "each id once"


async def test_a_chat_that_closed_meanwhile_cannot_be_looked_into(bench: Bench) -> None:
    async with bench.life() as adapter:
        attempt = await lost(bench, adapter)
        await bench.driver.inject(type="member", chat=ADA, status="kicked")
        assert await settled(bench, adapter, attempt) is SettleResult.UNKNOWN


async def test_probes_keep_within_what_telegram_takes(bench: Bench) -> None:
    """With the waits of production, and its limits on."""
    await bench.driver.switch(limits=True)
    async with bench.life(waits={"probe_chat": 1.0, "probe_all": 0.05}) as adapter:
        attempt = await lost(bench, adapter)
        assert isinstance(await settled(bench, adapter, attempt), Shown)


async def test_a_message_whose_buttons_were_changed_unknown_to_us_is_still_found_by_its_words(bench: Bench) -> None:
    async with bench.life() as adapter:
        attempt = await lost(bench, adapter, "cut after", HOME, *PAIR)
        shown = await bench.last()
        bench.fake.world.change(ADA, shown["message_id"], reply_markup=None)
        assert number(await settled(bench, adapter, attempt)) == shown["message_id"]
        assert "reply_markup" in await bench.last()
