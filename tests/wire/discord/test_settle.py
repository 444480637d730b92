"""Whether an uncertain message is on screen: by its nonce for two minutes, then by the history, else nobody can tell."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import pytest

from runtime.contract import Address, Attempt, DeliveryId, FileRef, Part, Receipt, SettleResult, Shown
from runtime.errors import Rejected, Retryable, Uncertain
from tests.fakes.discord_faults import Do
from tests.fakes.discord_world import BOT, GENERAL
from tests.wire.discord.stage import ADA, BUTTONS, CALL, CHANNEL, On, delivery

LATER: Final = timedelta(minutes=10)


async def cut(on: On, part: Part, do: Do) -> Attempt:
    """An attempt at `part` that ends without an answer; the fake forgets its nonces, as Discord does in time."""
    adapter = on.adapter()
    attempt = on.stage.attempt(adapter, part)
    await on.driver.fault(do)
    with pytest.raises(Uncertain):
        await adapter.show(part)
    await adapter._http.close()
    await on.driver.set(nonce=0)
    on.stage.clock.ahead += LATER
    return attempt


async def test_within_two_minutes_the_nonce_tells(on: On) -> None:
    async with on.life() as adapter:
        part = on.part()
        attempt = on.stage.attempt(adapter, part)
        await on.driver.fault(Do.CUT_AFTER)
        with pytest.raises(Uncertain):
            await adapter.show(part)
        await on.driver.set(denied=["READ_MESSAGE_HISTORY"])
        settled = await adapter.settle(part, attempt)
        assert isinstance(settled, Shown)
        assert await on.texts() == ["hello"]


@pytest.mark.parametrize(
    "address", [CHANNEL, ADA, Address("discord", BOT, GENERAL, "7200001")], ids=["channel", "alone", "thread"]
)
async def test_later_it_is_found_in_the_history(on: On, address: Address) -> None:
    async with on.life() as adapter:
        part = on.part("**hello** 漢字", *BUTTONS, address=address)
        attempt = await cut(on, part, Do.CUT_AFTER)
        settled = await adapter.settle(part, attempt)
        [message] = (await on.driver.screen()).posts()
        assert settled == Shown(Receipt(message["id"]))


@pytest.mark.parametrize("hours", [1, -1])
async def test_later_it_is_found_by_a_clock_that_is_wrong(on: On, hours: int) -> None:
    on.stage.clock.ahead = timedelta(hours=hours)
    async with on.life() as adapter:
        part = on.part("hello")
        attempt = await cut(on, part, Do.CUT_AFTER)
        settled = await adapter.settle(part, attempt)
        [message] = (await on.driver.screen()).posts()
        assert settled == Shown(Receipt(message["id"]))


async def test_later_what_was_never_applied_is_absent(on: On) -> None:
    async with on.life() as adapter:
        await on.driver.say("hello", channel=GENERAL)
        part = on.part()
        attempt = await cut(on, part, Do.CUT_BEFORE)
        await on.driver.say("hello", channel=GENERAL)
        assert await adapter.settle(part, attempt) is SettleResult.ABSENT
        assert await on.texts() == []


async def test_a_room_in_which_nothing_was_said_since_is_absent_even_without_a_history(on: On) -> None:
    async with on.life() as adapter:
        part = on.part()
        attempt = await cut(on, part, Do.CUT_BEFORE)
        await on.driver.set(denied=["READ_MESSAGE_HISTORY"])
        assert await adapter.settle(part, attempt) is SettleResult.ABSENT


async def test_a_room_without_a_newest_message_is_not_empty_if_somebody_was_heard_there(on: On) -> None:
    """Without the right to read it, that Discord names none is no proof."""
    async with on.life() as adapter:
        await on.driver.say(f"{CALL}hello", channel=GENERAL)
        await on.stage.taken("hello")
        part = on.part()
        attempt = await cut(on, part, Do.CUT_AFTER)
        await on.driver.set(denied=["READ_MESSAGE_HISTORY"])
        on.fake.world.channels[GENERAL]["last_message_id"] = None
        assert await adapter.settle(part, attempt) is SettleResult.UNKNOWN


async def test_without_the_right_to_read_the_history_nobody_can_tell(on: On) -> None:
    """Discord then shows an empty one."""
    async with on.life() as adapter:
        part = on.part()
        attempt = await cut(on, part, Do.CUT_AFTER)
        await on.driver.set(denied=["READ_MESSAGE_HISTORY"])
        assert await adapter.settle(part, attempt) is SettleResult.UNKNOWN
        await on.driver.set(denied=["VIEW_CHANNEL"])
        assert await adapter.settle(part, attempt) is SettleResult.UNKNOWN


async def test_an_equal_message_of_another_part_is_not_taken_for_it(on: On) -> None:
    async with on.life() as adapter:
        before = await on.stage.show(adapter, on.part(number="b" * 22))
        part = on.part()
        attempt = await cut(on, part, Do.CUT_AFTER)
        settled = await adapter.settle(part, attempt)
        assert isinstance(settled, Shown)
        assert settled.receipt != before
        await on.stage.checkpoint(adapter, settled.receipt, part)
        assert await adapter.settle(part, attempt) is SettleResult.ABSENT, "both are somebody's now"


@pytest.mark.parametrize("differs", ["text", "buttons", "file", "author"])
async def test_a_message_that_differs_is_another_one(on: On, differs: str) -> None:
    async with on.life() as adapter:
        folder = on.stage.given.workspaces.folder(CHANNEL)
        (folder / "a.txt").write_text("a")
        (folder / "b.txt").write_text("b")
        files = (FileRef("a.txt", "a.txt", 1),)
        [wire] = adapter.render(delivery("hello", *BUTTONS, files=files))
        part = Part(DeliveryId("p"), 1, CHANNEL, wire.body)
        attempt = await cut(on, part, Do.CUT_BEFORE)
        match differs:
            case "text":
                [other] = adapter.render(delivery("hallo", *BUTTONS, files=files))
            case "buttons":
                [other] = adapter.render(delivery("hello", files=files))
            case "file":
                [other] = adapter.render(delivery("hello", *BUTTONS, files=(FileRef("b.txt", "b.txt", 1),)))
            case _:
                other = wire
        if differs == "author":
            on.fake.world.post(GENERAL, "43", {"content": "hello", "components": [], "attachments": []})
        else:
            await adapter.show(Part(DeliveryId("o"), 1, CHANNEL, other.body))
        assert await adapter.settle(part, attempt) is SettleResult.ABSENT


async def test_a_message_with_a_file_is_found_by_its_name(on: On) -> None:
    async with on.life() as adapter:
        (on.stage.given.workspaces.folder(CHANNEL) / "a.txt").write_text("a")
        [wire] = adapter.render(delivery("", files=(FileRef("a chart.txt", "a.txt", 1),)))
        part = Part(DeliveryId("p"), 1, CHANNEL, wire.body)
        attempt = await cut(on, part, Do.CUT_AFTER)
        assert isinstance(await adapter.settle(part, attempt), Shown)


async def test_a_repeat_is_told_from_the_first_by_its_mark(on: On) -> None:
    async with on.life() as adapter:
        part = on.part()
        attempt = await cut(on, part, Do.CUT_AFTER)
        marked = Part(part.delivery_id, 1, CHANNEL, part.body, marked_as_repeat=True)
        assert await adapter.settle(marked, attempt) is SettleResult.ABSENT
        assert isinstance(await adapter.settle(part, attempt), Shown)


async def test_it_is_found_behind_much_that_was_said_since(on: On) -> None:
    async with on.life() as adapter:
        for number in range(150):
            on.fake.world.post(GENERAL, "42", {"content": f"line {number}"})
        part = on.part()
        attempt = await cut(on, part, Do.CUT_AFTER)
        for number in range(150):
            on.fake.world.post(GENERAL, "42", {"content": f"more {number}"})
        assert isinstance(await adapter.settle(part, attempt), Shown)


async def test_in_a_room_that_never_rests_nobody_can_tell(on: On) -> None:
    async with on.life() as adapter:
        part = on.part()
        attempt = await cut(on, part, Do.CUT_BEFORE)
        for number in range(600):
            on.fake.world.post(GENERAL, "42", {"content": f"line {number}"})
        assert await adapter.settle(part, attempt) is SettleResult.UNKNOWN


async def test_a_message_that_somebody_deleted_was_shown(on: On) -> None:
    async with on.life() as adapter:
        part = on.part()
        attempt = on.stage.attempt(adapter, part)
        await on.driver.fault(Do.CUT_AFTER)
        with pytest.raises(Uncertain):
            await adapter.show(part)
        [message] = (await on.driver.screen()).posts()
        await on.driver.do("delete", message=message["id"])
        settled = await adapter.settle(part, attempt)
        assert isinstance(settled, Shown)
        assert await on.texts() == []
        with pytest.raises(Rejected, match="deleted"):
            await adapter.edit(settled.receipt, on.part("later"))


@pytest.mark.parametrize("ahead", [timedelta(), LATER], ids=["by nonce", "by history"])
async def test_while_discord_is_away_it_is_looked_for_later(on: On, ahead: timedelta) -> None:
    async with on.life() as adapter:
        part = on.part()
        attempt = on.stage.attempt(adapter, part)
        on.stage.clock.ahead += ahead
        await on.driver.set(away=True)
        with pytest.raises(Retryable):
            await adapter.settle(part, attempt)


async def test_a_look_that_is_cut_is_made_again(on: On) -> None:
    async with on.life() as adapter:
        part = on.part()
        attempt = on.stage.attempt(adapter, part)
        await on.driver.fault(Do.CUT_BEFORE)
        with pytest.raises(Retryable, match="while checking"):
            await adapter.settle(part, attempt)
        assert isinstance(await adapter.settle(part, attempt), Shown)


async def test_a_lagging_history_is_not_empty_for_good(on: On) -> None:
    """Two empty looks are needed for absent: the courier makes the second one later."""
    async with on.life() as adapter:
        await on.driver.say("something else", channel=GENERAL)
        part = on.part()
        attempt = await cut(on, part, Do.CUT_AFTER)
        await on.driver.set(lag=60)
        assert await adapter.settle(part, attempt) is SettleResult.UNKNOWN, "something newer is there, and is not shown"
        await on.driver.set(lag=0)
        assert isinstance(await adapter.settle(part, attempt), Shown)
