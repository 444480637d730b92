"""The connection: resumed, begun anew, refused with a word, watched; and what is heard on it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from adapters.discord.incoming.gateway import Turn, grown
from runtime.contract import Connection, Said
from runtime.errors import ConfigError
from tests.contract.adapters.rigs.discord import SHORT
from tests.contract.adapters.stage import until
from tests.fakes.discord_world import BOT, GENERAL
from tests.wire.discord.stage import CALL, On

A_WHILE: Final = 0.2  # seconds


async def test_a_cut_connection_is_resumed_and_gets_what_it_missed(on: On) -> None:
    async with on.life():
        await on.driver.set(drop=True)
        await on.driver.say("meanwhile")
        await on.stage.taken("meanwhile")
        screen = (await on.driver.screen()).raw
        assert (screen["resumed"], len(screen["identified"])) == (1, 1)


async def test_a_connection_told_to_reconnect_is_resumed(on: On) -> None:
    async with on.life() as adapter:
        await on.driver.set(reconnect=True)
        await until(lambda: on.fake.gateway.resumed == 1, "resumption")
        await on.driver.say("after it")
        await on.stage.taken("after it")
        assert adapter.standing().trouble is None


async def test_where_nothing_happens_it_asks_for_a_sign_of_life_before_the_connection_counts_as_dead(on: On) -> None:
    """Discord's own heartbeat is further apart than that, and is told by the platform."""
    on.fake.gateway._heartbeat = 41.25
    async with on.life() as adapter:
        await asyncio.sleep(SHORT.quiet.total_seconds() + A_WHILE)
        assert adapter.standing().trouble is None
        assert (on.fake.gateway.resumed, len(on.fake.gateway.identified)) == (0, 1)
        await on.driver.set(deaf=True)
        await until(lambda: on.fake.gateway.resumed == 1, "another connection")


async def test_a_welcome_as_another_bot_is_the_accounts_fault(on: On) -> None:
    """Mentions of it would be taken for those of somebody else."""
    user = on.fake.world.users[BOT]
    on.fake.world.users[BOT] = {**user, "id": "999"}
    async with on.life(connected=False) as adapter:
        await until(lambda: adapter.standing().connection is Connection.REFUSED, "refusal")
        assert BOT in adapter.standing().reason
        assert "999" in adapter.standing().reason
        on.fake.world.users[BOT] = user
        await until(lambda: adapter.standing().trouble is None, "connection")


@pytest.mark.parametrize("how", ["drop", "away", "reconnect"])
async def test_after_a_new_session_the_history_is_read(on: On, how: str) -> None:
    """Of a session that Discord has forgotten nothing is replayed: only the history has what was said, in order."""
    async with on.life():
        await on.driver.say("before")
        await on.driver.say(f"{CALL}before there", channel=GENERAL)
        await on.stage.taken("before", "before there")
        await on.driver.set(forget=True)
        await on.driver.set(**{how: True})
        for number in range(3):
            await on.driver.say(f"missed {number}")
            await on.driver.say(f"{CALL}missed there {number}", channel=GENERAL)
        await on.driver.lift()
        await on.stage.taken(*(f"missed {n}" for n in range(3)), *(f"missed there {n}" for n in range(3)))
        await on.driver.say("after")
        await on.stage.taken("after")
        alone = [text for text in on.sink.texts if "there" not in text]
        assert alone == ["before", "missed 0", "missed 1", "missed 2", "after"]
        there = [text for text in on.sink.texts if "there" in text]
        assert there == ["before there", "missed there 0", "missed there 1", "missed there 2"]


async def test_what_is_heard_while_the_gap_is_closed_waits_for_it(on: On) -> None:
    async with on.life():
        await on.driver.say(f"{CALL}first", channel=GENERAL)
        await on.stage.taken("first")
    await on.driver.say(f"{CALL}second", channel=GENERAL)
    async with on.life(connected=False):
        await until(lambda: len(on.fake.gateway.identified) == 2, "second session")
        await on.driver.say(f"{CALL}third", channel=GENERAL)
        await on.stage.taken("second", "third")
    assert on.sink.texts == ["first", "second", "third"]


async def test_what_was_overheard_before_a_thread_was_joined_is_not_handed_in_twice(on: On) -> None:
    """It is not stored, and the mention behind it would make it one of ours the second time."""
    async with on.life(connected=False):
        await until(lambda: len(on.fake.gateway.identified) == 1, "session")
        await on.driver.say("for others", channel="7200001")
        await on.driver.say(f"{CALL}join us", channel="7200001")
        await on.stage.taken("join us")
        await on.driver.say("last", channel="7200001")
        await on.stage.taken("last")
        assert [signal.body for signal in on.sink.calls].count(Said("for others")) <= 1


async def test_a_conversation_that_began_while_nobody_listened_is_found_with_its_next_message(on: On) -> None:
    await on.driver.say("anybody there?", user="1001")
    async with on.life():
        await on.driver.say("hello?", user="1001")
        await on.stage.taken("hello?")
        assert on.sink.texts == ["anybody there?", "hello?"]


async def test_a_history_that_cannot_be_read_now_is_read_later(on: On) -> None:
    async with on.life():
        await on.driver.say("before")
        await on.stage.taken("before")
    await on.driver.say("missed")
    async with on.life(connected=False):
        await until(lambda: len(on.fake.gateway.identified) == 2, "second session")
        on.fake.faults.away = True
        await on.driver.say("after")
        await asyncio.sleep(A_WHILE)
        on.fake.faults.away = False
        await on.stage.taken("missed", "after")
    assert on.sink.texts == ["before", "missed", "after"]


async def test_a_history_that_may_not_be_read_holds_nobody_up(on: On) -> None:
    async with on.life():
        await on.driver.say(f"{CALL}before", channel=GENERAL)
        await on.stage.taken("before")
    await on.driver.say(f"{CALL}missed", channel=GENERAL)
    await on.driver.set(denied=["VIEW_CHANNEL"])
    async with on.life():
        await on.driver.say(f"{CALL}after", channel=GENERAL)
        await on.stage.taken("after")
    assert on.sink.texts == ["before", "after"]


async def test_more_than_a_page_is_read_whole_and_in_order(on: On) -> None:
    async with on.life():
        await on.driver.say("before")
        await on.stage.taken("before")
    said = [f"line {number}" for number in range(230)]
    for text in said:
        on.fake.world.post("942", "42", {"content": text})
    async with on.life():
        await on.stage.taken(said[-1])
    assert on.sink.texts == ["before", *said]


async def test_more_events_than_are_kept_are_read_from_the_history(on: On, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "adapters.discord.incoming.intake.EventQueues.is_full", property(lambda lanes: lanes._count >= 3)
    )
    async with on.life():
        on.sink.open.clear()
        said = [f"line {number}" for number in range(20)]
        for text in said:
            await on.driver.say(text)
        on.sink.open.set()
        await on.stage.taken(*said)
        assert on.sink.texts == said


async def test_a_server_that_was_down_has_a_gap_of_its_own(on: On) -> None:
    """Discord tells it when it is back: with the newest message of each channel."""
    async with on.life():
        await on.driver.say("before")
        await on.stage.taken("before")
        tell, on.fake.world.emit = on.fake.world.emit, lambda event, data, guild: None
        on.fake.world.add_guild("600", "Second", "602")
        on.fake.world.add_channel("760", guild="600")
        on.fake.world.post("760", "42", {"content": f"{CALL}missed"})
        on.fake.world.emit = tell
        tell("GUILD_CREATE", on.fake.world.guild("600"), "600")
        await on.driver.say(f"{CALL}after", channel="760")
        await on.stage.taken("missed", "after")
        assert on.sink.texts == ["before", "missed", "after"]


# ------------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (4004, "token"),
        (4010, "shards"),
        (4011, "shards to 0"),
        (4012, "release"),
        (4013, "release"),
        (4014, "Message Content"),
    ],
)
async def test_a_fatal_close_is_told_with_its_fix_and_tried_again(on: On, code: int, words: str) -> None:
    await on.driver.set(refuse=code)
    async with on.life(connected=False) as adapter:
        await until(lambda: adapter.standing().connection is Connection.REFUSED, f"refusal: {adapter.standing()}")
        reason = adapter.standing().reason
        assert 'account "guild"' in reason
        assert words in reason
        await until(lambda: len(on.fake.gateway.identified) >= 2, "second try")
        await on.driver.lift()
        await until(lambda: adapter.standing().connection is Connection.CONNECTED, f"connection: {adapter.standing()}")


async def test_an_intent_that_is_not_allowed_is_told_with_the_page_that_has_the_switch(on: On) -> None:
    await on.driver.set(intents=0)
    async with on.life(connected=False) as adapter:
        await until(lambda: adapter.standing().connection is Connection.REFUSED, f"refusal: {adapter.standing()}")
        assert f"https://discord.com/developers/applications/{BOT}/bot" in adapter.standing().reason


async def test_the_words_of_a_refusal_are_logged_once(on: On, caplog: pytest.LogCaptureFixture) -> None:
    await on.driver.set(refuse=4014)
    with caplog.at_level(logging.ERROR, "adapters.discord"):
        async with on.life(connected=False):
            await until(lambda: len(on.fake.gateway.identified) >= 3, "third try")
    assert len([record for record in caplog.records if "Message Content" in record.getMessage()]) == 1


@pytest.mark.parametrize("token", ["", "xoxb-1-2", "123:abc", "bm90IGRpZ2l0cw.a.b", "MTAw"])
def test_what_is_no_token_of_discord_is_a_fault_of_the_settings(on: On, token: str) -> None:
    with pytest.raises(ConfigError, match=r'account "guild".*developers/applications') as told:
        on.adapter(token=token)
    assert not token or token not in str(told.value)


# --------------------------------------------------------------------------------------------------- what is heard


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("MESSAGE_CREATE", {}),
        ("MESSAGE_CREATE", {"id": "x", "channel_id": "700", "author": None}),
        ("MESSAGE_CREATE", {"id": "9", "channel_id": "942", "author": {"id": "42"}, "type": "0", "content": 5}),
        ("MESSAGE_UPDATE", {"id": "9", "channel_id": "942", "edited_timestamp": "never", "content": "x", "type": 0}),
        ("INTERACTION_CREATE", {"id": "1"}),
        ("INTERACTION_CREATE", {"id": "1", "token": "t", "type": 3, "data": None, "channel": {}}),
        ("GUILD_CREATE", {"id": "500", "channels": [{"id": "1"}]}),
        ("THREAD_CREATE", {}),
        ("SOMETHING_NEW", {"a": 1}),
        ("RATE_LIMITED", None),
    ],
)
async def test_a_malformed_event_breaks_nothing(on: On, event: str, data: Any) -> None:
    async with on.life() as adapter:
        on.fake.gateway.send_all({"op": 0, "t": event, "s": 99, "d": data})
        await on.driver.say("still there?")
        await on.stage.taken("still there?")
        assert adapter.standing().trouble is None
        assert len(on.fake.gateway.identified) == 1


async def test_without_its_words_a_message_is_nothing(on: On) -> None:
    """As Discord sends it to a bot without the intent: then only mentions have words."""
    async with on.life():
        channel = on.fake.world.channel(GENERAL)
        post = on.fake.world.post(channel["id"], "42", {"content": "secret"})
        on.fake.gateway.send_all(
            {"op": 0, "t": "MESSAGE_CREATE", "s": 99, "d": {**post.data, "id": "5", "content": ""}}
        )
        await on.driver.say("after it")
        await on.stage.taken("after it")
        assert "secret" in on.sink.texts


async def test_a_press_that_cannot_be_stored_is_given_up_at_last(on: On, caplog: pytest.LogCaptureFixture) -> None:
    async with on.life(waits=replace(on.settings.waits, press=timedelta(seconds=0.1))):
        on.sink.away = 10_000
        await on.driver.command("status")
        await until(lambda: "given up" in caplog.text, "word of it")
        on.sink.away = 0
        await on.driver.say("after it")
        await on.stage.taken("after it")
        assert len(on.sink.taken) == 1


# -------------------------------------------------------------------------------------------------------- shards


async def test_each_shard_hears_its_servers_and_the_first_hears_people_alone(on: On) -> None:
    one, two = str(500), str(1 << 22)
    on.fake.world.add_guild(two, "Second", "502")
    on.fake.world.add_channel("750", guild=two)
    adapter = on.adapter(shards=2)
    assert adapter.listeners() == ["shard-0-of-2", "shard-1-of-2"]
    async with on.life(shards=2):
        assert [given["shard"] for given in on.fake.gateway.identified] in ([[0, 2], [1, 2]], [[1, 2], [0, 2]])
        told = {session.shard: session.hears("MESSAGE_CREATE", one) for session in on.fake.gateway.sessions.values()}
        assert told == {0: True, 1: False}
        await on.driver.say(f"{CALL}in the first", channel=GENERAL)
        await on.driver.say(f"{CALL}in the second", channel="750")
        await on.driver.say("alone")
        await on.stage.taken("in the first", "in the second", "alone")


async def test_one_shard_of_two_is_listened_to_alone(on: On) -> None:
    """The other is another process's."""
    adapter = on.adapter(shards=2)
    on.fake.world.add_guild(str(1 << 22), "Second", "502")
    on.fake.world.add_channel("750", guild=str(1 << 22))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(adapter.attend("shard-1-of-2", on.sink))
        await until(lambda: adapter.standing().trouble is None, "connection")
        await on.driver.say("alone")
        await on.driver.say(f"{CALL}in the second", channel="750")
        await on.stage.taken("in the second")
        assert on.sink.texts == ["in the second"]
        task.cancel()
    await adapter._http.close()


async def test_the_gap_of_one_shard_is_not_read_by_another(on: On) -> None:
    async with on.life():
        await on.driver.say("before")
        await on.stage.taken("before")
    await on.driver.say("missed")
    adapter = on.adapter(shards=2)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(adapter.attend("shard-1-of-2", on.sink))
        await until(lambda: adapter.standing().trouble is None, "connection")
        await asyncio.sleep(A_WHILE)
        assert on.sink.texts == ["before"]
        task.cancel()
    await adapter._http.close()


async def test_as_many_shards_as_discord_recommends(on: On) -> None:
    await on.driver.set(shards=3)
    assert on.adapter().listeners() == ["gateway"]
    async with on.life():
        assert sorted(given["shard"] for given in on.fake.gateway.identified) == [[0, 3], [1, 3], [2, 3]]


async def test_one_bad_shard_is_how_the_account_stands(on: On) -> None:
    async with on.life(shards=2) as adapter:
        second = next(s for s in on.fake.gateway.sessions.values() if s.shard == 1)
        assert second.socket
        on.fake.gateway.closed = True
        second.socket.cut()
        await until(lambda: adapter.standing().connection is Connection.RECONNECTING, "word of it")
        on.fake.gateway.closed = False
        await until(lambda: adapter.standing().trouble is None, "connection")


async def test_sessions_of_an_account_begin_apart() -> None:
    turn, loop = Turn(timedelta(seconds=0.05)), asyncio.get_running_loop()
    begun = loop.time()
    await asyncio.gather(*(turn.come() for _ in range(4)))
    assert loop.time() - begun >= 0.15


def test_waits_double_up_to_a_bound() -> None:
    second, most = timedelta(seconds=1), timedelta(seconds=30)
    assert [grown(second, times, most).total_seconds() for times in (1, 2, 3, 6, 7, 1000)] == [1, 2, 4, 30, 30, 30]
