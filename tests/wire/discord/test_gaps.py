"""What was missed goes before what is heard now, and behind what was heard before."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from tests.contract.adapters.rigs.discord import SHORT
from tests.contract.adapters.stage import until
from tests.fakes.discord_world import GENERAL
from tests.wire.discord.stage import CALL, On

A_WHILE: Final = 0.2  # seconds


def new_server(on: On, number: str) -> None:
    """One that the account is told of later, and in which something was said before that."""
    tell, on.fake.world.emit = on.fake.world.emit, lambda event, data, guild: None
    on.fake.world.add_guild(number, f"Server {number}", f"{number}2")
    on.fake.world.add_channel(f"7{number}", guild=number)
    on.fake.world.post(f"7{number}", "42", {"content": f"{CALL}missed in {number}"})
    on.fake.world.emit = tell


def tell_of(on: On, number: str) -> None:
    on.fake.world.emit("GUILD_CREATE", on.fake.world.guild(number), number)


async def test_what_was_heard_before_the_gap_is_not_overtaken_by_what_is_read_of_it(on: On) -> None:
    """The store was away for a while, and then the connection too."""
    async with on.life():
        await on.driver.say("before")
        await on.stage.taken("before")
        on.sink.open.clear()
        await on.driver.say("heard")
        await until(lambda: len(on.sink.calls) == 2, "first to wait")
        await on.driver.say("heard too")
        await on.driver.say("the last heard")
        await asyncio.sleep(A_WHILE)
        await on.driver.set(forget=True)
        await on.driver.set(drop=True)
        await on.driver.say("missed")
        await until(lambda: len(on.fake.gateway.identified) == 2, "second session")
        await on.driver.say("after")
        await asyncio.sleep(A_WHILE)
        on.sink.open.set()
        await on.stage.taken("missed", "after", "heard too")
        assert on.sink.texts == ["before", "heard", "heard too", "the last heard", "missed", "after"]


async def test_a_server_that_is_told_while_places_are_looked_up_is_read_too(
    on: On, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, asked, answered = on.places.seen, asyncio.Event(), asyncio.Event()

    async def slow(*given: Any) -> Any:
        asked.set()
        await answered.wait()
        return await seen(*given)

    async with on.life():
        await on.driver.say("before")
        await on.stage.taken("before")
        monkeypatch.setattr(on.places, "seen", slow)
        new_server(on, "600")
        new_server(on, "700")
        tell_of(on, "600")
        await asked.wait()
        tell_of(on, "700")
        await asyncio.sleep(A_WHILE)
        answered.set()
        await on.driver.say(f"{CALL}after", channel="7700")
        await on.stage.taken("missed in 600", "missed in 700", "after")
        assert on.sink.texts.index("missed in 700") < on.sink.texts.index("after")


async def test_who_speaks_in_a_thread_that_was_archived_waits_for_what_was_missed_in_it(on: On) -> None:
    """Nobody tells of such a thread; whoever hears its room looks for it."""
    second = str(1 << 22)  # of the second shard
    on.fake.world.add_guild(second, "Second", "502")
    on.fake.world.add_channel("750", guild=second)
    on.fake.world.open_thread("750", "751", "ours", owner="42")
    async with on.life(shards=2):
        await on.driver.say(f"{CALL}before", channel="751")
        await on.stage.taken("before")
    await on.driver.say(f"{CALL}missed", channel="751")
    await on.driver.do("set", channel="751", changes={"archived": True})
    adapter = on.adapter(shards=2)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(adapter.attend("shard-1-of-2", on.sink))
        await until(lambda: adapter.standing().trouble is None, "connection")
        await on.driver.say(f"{CALL}after", channel="751")
        await on.stage.taken("missed", "after")
        assert on.sink.texts == ["before", "missed", "after"]
        task.cancel()
    await adapter._http.close()


async def test_a_question_put_as_a_command_does_not_hide_what_was_missed_before_it(on: On) -> None:
    """It comes at once, while it is not known yet where to read, since a server is down."""
    async with on.life():
        await on.driver.say(f"{CALL}before", channel=GENERAL)
        await on.stage.taken("before")
    await on.driver.say(f"{CALL}missed", channel=GENERAL)
    on.fake.gateway.down.append("999")
    async with on.life(connected=False):
        await until(lambda: len(on.fake.gateway.identified) == 2, "second session")
        await on.driver.command("ask", channel=GENERAL, text="after")
        await on.stage.taken("missed", "after")
        assert on.sink.texts == ["before", "missed", "after"]


async def test_such_a_question_waits_for_what_was_missed_no_longer_than_discord_does(on: On) -> None:
    async with on.life():
        await on.driver.say(f"{CALL}before", channel=GENERAL)
        await on.stage.taken("before")
    await on.driver.say(f"{CALL}missed", channel=GENERAL)
    on.fake.gateway.down.append("999")
    async with on.life(connected=False, waits=replace(SHORT, turn=timedelta(seconds=0.05))):
        await until(lambda: len(on.fake.gateway.identified) == 2, "second session")
        await on.driver.command("ask", channel=GENERAL, text="after")
        await on.stage.taken("missed", "after")
        assert on.sink.texts == ["before", "after", "missed"]


@pytest.mark.parametrize("told", ["true", "null", "stale", "dangling"])
async def test_what_was_missed_is_read_whatever_is_told_of_the_newest_message(on: On, told: str) -> None:
    """Discord may tell none, an old one, or one that nobody can find."""
    async with on.life():
        await on.driver.say(f"{CALL}long ago", channel=GENERAL)
        await on.driver.say(f"{CALL}before", channel=GENERAL)
        await on.stage.taken("long ago", "before")
    await on.driver.say(f"{CALL}missed", channel=GENERAL)
    await on.driver.set(last_ids=told)
    async with on.life():
        await on.stage.taken("missed")
        assert on.sink.texts == ["long ago", "before", "missed"]
