"""What people say while we are away comes in later: once, in order, from the rooms we know."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from adapters.slack.incoming.backfill import looks
from runtime.contract import Address, Addressing, Said, Seen
from tests.contract.adapters.stage import until
from tests.wire.slack.stage import DIRECT, TEAM, THREAD, Workspace, part

AT: Final = datetime(2026, 11, 22, tzinfo=UTC)
ROOM: Final = Address("slack", TEAM, "C1")


async def missed(on: Workspace, text: str, **more: Any) -> None:
    """Said while nobody listens, and Slack has given up telling us."""
    await on.driver.sockets(retries=[])
    await on.driver.say(text, **more)
    await asyncio.sleep(0.02)


async def test_direct_messages_of_the_meantime_are_answered_in_order(on: Workspace) -> None:
    async with on.life():
        await on.driver.say("before")
        await on.taken()
    for number in range(20):
        await missed(on, f"{number}")
    async with on.life():
        await on.taken(21)
        assert on.sink.texts == ["before", *map(str, range(20))]
        assert on.sink.taken[-1].address == DIRECT
        assert abs((on.clock() - on.sink.taken[-1].received_at).total_seconds()) < 60


async def test_a_thread_and_its_channel_are_both_read(on: Workspace) -> None:
    async with on.life():
        await on.driver.mention("before", thread_ts=THREAD.thread)
        await on.taken()
    await missed(on, "in the thread", channel="C1", thread_ts=THREAD.thread, user="U2")
    await missed(on, "<@U0BOT> in the channel", channel="C1")
    async with on.life():
        await on.taken(3)
        told = {signal.body.text: signal for signal in on.sink.taken if isinstance(signal.body, Said)}
        assert told["in the thread"].address == THREAD
        assert told["in the thread"].reach is Addressing.OVERHEARD
        assert told["in the channel"].reach is Addressing.MENTION
        assert told["in the channel"].actor_name == "Ada"


async def test_what_was_heard_is_heard_once(on: Workspace) -> None:
    async with on.life() as adapter:
        for number in range(3):
            await on.driver.say(f"{number}")
        await on.taken(3)
        await adapter.show(part(adapter, "an answer of ours"))
    async with on.life():
        await on.driver.say("after")
        await on.taken(4)
    assert on.sink.texts == ["0", "1", "2", "after"]


async def test_after_a_drop_the_gap_is_read_too(on: Workspace) -> None:
    async with on.life():
        await on.driver.say("before")
        await on.taken()
        await on.driver.fault("refuse", count=3, on="apps.connections.open", error="ratelimited")
        await on.driver.sockets("drop")
        await missed(on, "meanwhile")
        await on.taken(2)
        assert on.sink.texts == ["before", "meanwhile"]


async def test_a_refresh_is_no_gap(on: Workspace) -> None:
    async with on.life():
        await on.driver.say("before")
        await on.taken()
        await on.driver.sockets("refresh", close=False)
        await until(lambda: on.slack.delivery.opened == 2 and len(on.slack.delivery.links) == 1, "the next socket")
        await asyncio.sleep(0.1)
        assert (await on.screen()).calls("conversations.history") == []


async def test_reading_waits_when_slack_says_so(on: Workspace) -> None:
    async with on.life():
        await on.driver.say("before")
        await on.taken()
    await missed(on, "meanwhile")
    await on.driver.fault("busy", on="look", seconds=0.05, count=2)
    async with on.life():
        await on.taken(2)


async def test_a_room_that_cannot_be_read_keeps_nobody_from_the_others(on: Workspace) -> None:
    async with on.life():
        await on.driver.say("before", channel="G1")
        await on.driver.say("before too")
        await on.taken(2)
    await missed(on, "unreadable", channel="G1")
    await missed(on, "readable")
    await on.driver.switch(without=["groups:history"])
    async with on.life():
        await on.taken(3)
        assert on.sink.texts == ["before", "before too", "readable"]


async def test_what_the_store_does_not_take_is_read_again(on: Workspace, monkeypatch: Any) -> None:
    monkeypatch.setattr("adapters.slack.incoming.backfill.PAUSE", timedelta(seconds=0.05))
    async with on.life():
        await on.driver.say("before")
        await on.taken()
    await missed(on, "one")
    await missed(on, "two")
    on.sink.away = 2
    async with on.life():
        await on.taken(3)
        assert on.sink.texts == ["before", "one", "two"]


# ------------------------------------------------------------------------------------------------- where to look


def seen(ts: str, thread: str = "", room: str = "C1") -> Seen:
    return Seen(Address("slack", TEAM, room, thread), ts, AT)


def test_a_room_is_read_from_its_newest_root_and_each_thread_from_its_newest_reply() -> None:
    told = [seen("20.0", "20.0"), seen("31.0", "10.0")]
    assert looks(told, "05.0") == [
        (ROOM, "20.0"),
        (Address("slack", TEAM, "C1", "10.0"), "31.0"),
        (Address("slack", TEAM, "C1", "20.0"), "20.0"),
    ]


def test_nothing_is_read_from_before_the_freshness_rule() -> None:
    assert looks([seen("10.0", room="D1")], "15.0") == [(Address("slack", TEAM, "D1"), "15.0")]


def test_of_very_many_threads_the_newest_are_read() -> None:
    told = [seen(f"{n:05}.0", f"{n:05}.0") for n in range(1, 1001)]
    found = looks(told, "00000.0")
    assert len(found) == 201
    assert found[1][1] == "01000.0"
