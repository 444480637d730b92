"""Who speaks while what was said before is still to be read in the history: each is heard once, and in order."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from adapters.slack.incoming.backfill import RESENT, ROOMS_AT_ONCE
from adapters.slack.interactions import BUTTON
from runtime.contract import Commanded
from tests.contract.adapters.stage import until
from tests.wire.slack.stage import THREAD, Workspace, part
from tests.wire.slack.test_events import APPROVAL, CARD
from tests.wire.slack.test_gaps import missed
from tests.wire.slack.test_http import EVENT, post, served, signed

FOR_LONG: Final = 60  # seconds
AGAIN: Final = [0.05] * 100
"""Seconds between the tries of an event that is not acknowledged."""


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events wait a moment of 0.2 s: a busy machine is a second late, and Slack's 2 s are long."""
    monkeypatch.setattr("adapters.slack.incoming.backfill.HOLD", timedelta(seconds=0.2))


async def known(on: Workspace, *rooms: str) -> None:
    """Somebody spoke in these rooms, one after the other, while we heard it."""
    async with on.life():
        for number, room in enumerate(rooms, 1):
            await on.driver.say(f"before in {room}", channel=room)
            await on.taken(number)


async def test_an_event_waits_for_what_was_said_before_it_and_is_still_to_be_read(on: Workspace) -> None:
    """Slack sends events again in any order, and the history is read meanwhile."""
    await known(on, "DU1")
    await missed(on, "first")
    await on.driver.sockets(retries=AGAIN)
    await on.driver.fault("busy", on="conversations.history", seconds=1)
    await on.driver.say("second")
    async with on.life():
        await on.driver.say("third")
        await on.taken(4)
        assert on.sink.texts == ["before in DU1", "first", "second", "third"]


async def test_a_room_somebody_speaks_in_is_read_next(on: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.slack.incoming.backfill.SPREAD", timedelta(seconds=FOR_LONG))
    rooms = [f"D{number:03}" for number in range(25)]
    await known(on, *rooms)
    await missed(on, "first", channel=rooms[0])  # which is the last to be read: the newest come first
    async with on.life():
        await on.seen(lambda screen: len(screen.calls("conversations.history")) == ROOMS_AT_ONCE, "first looks")
        await on.driver.say("second", channel=rooms[0])
        await on.taken(len(rooms) + 2)
        assert on.sink.texts[len(rooms) :] == ["first", "second"]


@pytest.mark.usefixtures("hold")
async def test_a_message_does_not_overtake_a_history_that_takes_long(on: Workspace) -> None:
    await known(on, "DU1")
    await missed(on, "first")
    await on.driver.sockets(retries=AGAIN)
    await on.driver.fault("busy", on="conversations.history", seconds=1)
    async with on.life():
        second = await on.driver.say("second")
        await on.taken(3)
        assert on.sink.texts == ["before in DU1", "first", "second"]
        await until(lambda: on.acked(second), "acknowledgement of what was told again")
        assert on.sink.texts == ["before in DU1", "first", "second"]


@pytest.mark.usefixtures("hold")
async def test_a_place_that_is_not_behind_waits_for_nobody(on: Workspace) -> None:
    await known(on, "DU1")
    await on.driver.fault("busy", on="conversations.history", seconds=FOR_LONG)
    async with on.life():
        await on.driver.say("elsewhere", channel="C2")
        await on.taken(2)


async def test_first_words_in_a_room_wait_for_those_that_nobody_heard(on: Workspace) -> None:
    """Nothing tells of a room in which nobody was heard; but whoever speaks there may have spoken before."""
    await known(on, "DU1")
    await missed(on, "first", channel="DU7", user="U7")
    await missed(on, "<@U0BOT> in the thread", channel="C1", thread_ts=THREAD.thread)
    async with on.life():
        await on.driver.say("second", channel="DU7", user="U7")
        await on.driver.mention("too", channel="C1", thread_ts=THREAD.thread)
        await on.taken(5)
        assert [text for text in on.sink.texts if text in ("first", "second")] == ["first", "second"]
        assert [text for text in on.sink.texts if text in ("in the thread", "too")] == ["in the thread", "too"]


@pytest.mark.usefixtures("hold")
async def test_over_http_it_is_503_until_the_room_was_read(on: Workspace) -> None:
    async with served(on) as (_, url):
        assert (await post(url, body := json.dumps(EVENT), signed(body)))[0] == 200
    ts = f"{float(EVENT['event']['ts']) + 1:.6f}"
    later = json.dumps({**EVENT, "event_id": "Ev2", "event": {**EVENT["event"], "ts": ts, "text": "later"}})
    await on.driver.fault("busy", on="conversations.history", seconds=1)
    async with served(on) as (_, url):
        assert (await post(url, later, signed(later)))[0] == 503

        async def taken_in() -> bool:
            return (await post(url, later, signed(later)))[0] == 200

        await until(taken_in, "end of the gap")
        assert on.sink.texts == ["hi", "later"]


@pytest.mark.usefixtures("hold")
async def test_what_slack_does_not_send_again_waits_a_moment_only(on: Workspace) -> None:
    await known(on, "DU1")
    await on.driver.fault("busy", on="conversations.history", seconds=FOR_LONG)
    async with on.life() as adapter:
        receipt = await adapter.show(part(adapter, "**May I?**", *CARD))
        press = {"ts": receipt.message_id, "value": f"{APPROVAL}:approve", "action_id": f"{BUTTON}x"}
        await on.driver.do("click", channel="DU1", **press)
        await on.driver.do("command", channel="DU1", user="U1", text="status")
        await on.taken(3)
        assert Commanded("status") in [signal.body for signal in on.sink.taken]
        assert len(on.sink.clicks) == 1


@pytest.mark.usefixtures("hold")
async def test_after_a_minute_a_message_waits_a_moment_only(on: Workspace) -> None:
    """Slack will not send it again for ever."""
    await known(on, "DU1")
    await on.driver.sockets(retries=AGAIN)
    await on.driver.fault("busy", on="conversations.history", seconds=FOR_LONG)
    async with on.life():
        late = await on.driver.say("late")
        await asyncio.sleep(1)
        assert on.sink.texts == ["before in DU1"]
        on.clock.ahead += RESENT
        await on.taken(2)
        await until(lambda: on.acked(late), "acknowledgement")


@pytest.mark.usefixtures("hold")
async def test_nothing_is_kept_out_while_no_connection_can_be_made(on: Workspace) -> None:
    """A socket that seems to be deaf is replaced, and hears until it is."""
    async with on.life(pace=replace(on.settings().pace, quiet=timedelta(seconds=0.3))):
        await on.driver.fault("refuse", count=1000, on="apps.connections.open", error="internal_error")
        on.clock.ahead += timedelta(minutes=15)
        await asyncio.sleep(0.5)
        await on.driver.say("heard")
        await on.taken()
