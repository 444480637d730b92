"""Whether an uncertain message is on screen: looks into the history, and what is said where Slack lets nobody look."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest

from runtime.contract import Attempt, Part, SettleResult, Shown
from runtime.errors import Retryable, Uncertain
from tests.wire.slack.stage import DIRECT, THREAD, Workspace, attempt, part

Adapter = Any


async def cut(on: Workspace, adapter: Adapter, do: str = "cut_after", **more: Any) -> tuple[Part, Attempt]:
    """A message whose answer was lost."""
    one, tried = part(adapter, "hello", **more), attempt(on)
    await on.driver.fault(do)
    with pytest.raises(Uncertain):
        await adapter.show(one)
    return one, tried


@pytest.mark.parametrize("address", [DIRECT, THREAD], ids=["root", "thread"])
async def test_it_is_found_by_its_marker_where_it_was_sent(on: Workspace, address: Any) -> None:
    async with on.life() as adapter:
        one, tried = await cut(on, adapter, address=address)
        settled = await adapter.settle(one, tried)
        [message] = (await on.screen()).ours()
        assert isinstance(settled, Shown)
        assert settled.receipt.message_id == message["ts"]
        method = "conversations.replies" if address.thread else "conversations.history"
        [look] = (await on.screen()).calls("conversations.replies", "conversations.history")
        assert (await on.screen()).calls(method) == [look]
        assert 110 < float(message["ts"]) - float(look["oldest"]) < 130


async def test_it_is_found_behind_many_messages(on: Workspace) -> None:
    async with on.life() as adapter:
        one, tried = await cut(on, adapter)
        for number in range(450):
            on.slack.board.show("DU1", "U1", text=f"{number}")
        assert isinstance(await adapter.settle(one, tried), Shown)
        assert len((await on.screen()).calls("conversations.history")) == 3


async def test_one_look_settles_all_parts_of_a_conversation(on: Workspace) -> None:
    async with on.life() as adapter:
        cuts = [await cut(on, adapter) for _ in range(5)]
        settled = [await adapter.settle(one, tried) for one, tried in reversed(cuts)]
        assert len({shown.receipt for shown in settled if isinstance(shown, Shown)}) == 5
        assert len((await on.screen()).calls("conversations.history")) <= 5
        looks = len((await on.screen()).calls("conversations.history"))
        assert [await adapter.settle(one, tried) for one, tried in reversed(cuts)] == settled
        assert len((await on.screen()).calls("conversations.history")) == looks


async def test_a_history_that_lags_has_it_at_the_second_look(on: Workspace) -> None:
    async with on.life() as adapter:
        await on.driver.switch(lag=60)
        one, tried = await cut(on, adapter)
        assert await adapter.settle(one, tried) is SettleResult.ABSENT
        on.slack.board.clock = lambda: time.time() + 61

        async def there() -> bool:
            return isinstance(await adapter.settle(one, tried), Shown)

        from tests.contract.adapters.stage import until

        await until(there, "the message in the history")


async def test_words_of_people_and_other_parts_are_not_taken_for_it(on: Workspace) -> None:
    async with on.life() as adapter:
        await adapter.show(part(adapter, "hello"))
        one, tried = await cut(on, adapter, "cut_before")
        await on.driver.say("hello")
        assert await adapter.settle(one, tried) is SettleResult.ABSENT


@pytest.mark.parametrize(
    ("address", "scope"),
    [(DIRECT, "im:history"), (THREAD, "channels:history"), (DIRECT, "metadata.message:read")],
)
async def test_without_the_scope_nobody_can_tell(on: Workspace, address: Any, scope: str) -> None:
    async with on.life() as adapter:
        one, tried = await cut(on, adapter, address=address)
        await on.driver.switch(without=[scope])
        assert await adapter.settle(one, tried) is SettleResult.UNKNOWN


@pytest.mark.parametrize("error", ["not_in_channel", "channel_not_found", "thread_not_found"])
async def test_from_outside_of_the_room_nobody_can_tell(on: Workspace, error: str) -> None:
    async with on.life() as adapter:
        one, tried = await cut(on, adapter)
        await on.driver.fault("refuse", on="look", error=error)
        assert await adapter.settle(one, tried) is SettleResult.UNKNOWN


async def test_a_look_that_must_wait_is_made_later_and_at_last_given_up(on: Workspace) -> None:
    async with on.life() as adapter:
        one, tried = await cut(on, adapter)
        await on.driver.fault("busy", on="look", seconds=60, count=2)
        with pytest.raises(Retryable) as told:
            await adapter.settle(one, tried)
        assert told.value.retry_after == timedelta(seconds=60)
        on.clock.ahead += timedelta(minutes=4)
        assert await adapter.settle(one, tried) is SettleResult.UNKNOWN
        assert isinstance(await adapter.settle(one, tried), Shown)


@pytest.mark.parametrize("do", ["error", "cut_before", "cut_after"])
async def test_a_look_that_failed_is_made_again(on: Workspace, do: str) -> None:
    async with on.life() as adapter:
        one, tried = await cut(on, adapter)
        await on.driver.fault(do, on="look", count=3)
        with pytest.raises(Retryable):
            await adapter.settle(one, tried)
        await on.driver.lift()
        assert isinstance(await adapter.settle(one, tried), Shown)


@pytest.mark.parametrize("ahead", [timedelta(hours=3), timedelta(hours=-3)], ids=["ahead", "behind"])
async def test_a_clock_of_ours_that_is_wrong_finds_it_all_the_same(on: Workspace, ahead: timedelta) -> None:
    on.clock.ahead = ahead
    async with on.life() as adapter:
        one, tried = await cut(on, adapter)
        assert isinstance(await adapter.settle(one, tried), Shown)


@pytest.mark.parametrize("code", ["fatal_error", "internal_error"])
async def test_an_error_after_which_slack_may_have_done_it_is_looked_for(on: Workspace, code: str) -> None:
    async with on.life() as adapter:
        one, tried = part(adapter, "hello"), attempt(on)
        await on.driver.fault("refuse", error=code)
        with pytest.raises(Uncertain, match=code):
            await adapter.show(one)
        assert await adapter.settle(one, tried) is SettleResult.ABSENT


async def test_a_message_that_was_edited_since_is_found_by_nobody_else(on: Workspace) -> None:
    """Its marker names the part that it shows now."""
    async with on.life() as adapter:
        receipt = await adapter.show(part(adapter, "one"))
        one, tried = await cut(on, adapter, "cut_before")
        await adapter.edit(receipt, part(adapter, "two"))
        assert await adapter.settle(one, tried) is SettleResult.ABSENT
