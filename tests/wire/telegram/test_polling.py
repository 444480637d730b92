"""Long polling: nothing is confirmed before it is taken in, and what is wrong is told and ends by itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import aiohttp
import pytest

from runtime.contract import Connection, Said, Signal, Verdict
from tests.contract.adapters.stage import until
from tests.fakes.telegram import TOKEN
from tests.fakes.telegram_driver import attached
from tests.wire.telegram.stage import GROUP, SUPERGROUP, Bench, a_while


async def confirmed(bench: Bench) -> int:
    return int((await bench.driver.screen())["confirmed"])


async def until_confirmed(bench: Bench, update: int) -> None:
    async def told() -> bool:
        return await confirmed(bench) > update

    await until(told, f"offset above {update}")


async def test_pending_updates_are_not_dropped_at_a_start(bench: Bench) -> None:
    for number in range(120):  # more than one poll brings
        await bench.driver.say(f"{number}", chat=1000 + number % 3, user=1000 + number % 3)
    async with bench.life():
        signals = await bench.hears(120)
    for chat in range(3):
        said = [s.body.text for s in signals if isinstance(s.body, Said) and s.address.room == str(1000 + chat)]
        assert said == [f"{number}" for number in range(120) if number % 3 == chat]


async def test_a_room_that_waits_for_the_store_keeps_its_order_and_is_not_confirmed(bench: Bench) -> None:
    async with bench.life():
        bench.sink.open.clear()
        first = await bench.driver.say("first")
        await bench.driver.say("second")
        await until(lambda: bool(bench.sink.calls), "signal")
        await a_while()
        assert await confirmed(bench) <= first["update_id"]
        bench.sink.open.set()
        await until(lambda: bench.sink.texts == ["first", "second"], "both")


async def test_one_room_that_cannot_be_taken_in_does_not_hold_up_another(bench: Bench) -> None:
    """What was taken in is not handed in again while its poll is repeated for the sake of another room."""
    async with bench.life():
        bench.sink.open.clear()  # so that both come in one poll
        await bench.driver.say("to begin", chat=GROUP)
        await until(lambda: bool(bench.sink.calls), "signal")
        bench.sink.away = 1
        bench.sink.open.set()
        await bench.driver.say("stuck", chat=SUPERGROUP)
        await bench.driver.say("free", chat=GROUP)
        await bench.stage.taken("to begin", "stuck", "free")
        bodies = [call.body for call in bench.sink.calls]
        assert bodies.count(Said("free")) == 1


async def test_a_second_poller_is_told_with_the_fix_and_ends_by_itself(bench: Bench) -> None:
    async with bench.life(waits={"poll": 30.0, "refused": 0.2}) as adapter, aiohttp.ClientSession() as http:
        await until(lambda: bench.fake.polls.is_asked, "long poll")
        other = f"{bench.rig.url}/bot{TOKEN}/getUpdates"
        async with http.post(other, json={"timeout": 0}) as response:
            assert response.status == 200
        await until(lambda: adapter.standing().connection is Connection.REFUSED, "refusal")
        reason = adapter.standing().reason
        assert 'account "tg"' in reason
        assert "another program polls with this token" in reason
        assert "use another bot here" in reason
        await bench.driver.say("meanwhile")
        await until(lambda: adapter.standing().connection is Connection.CONNECTED, "connection")
        await bench.stage.taken("meanwhile")


async def test_a_poll_of_another_process_of_ours_is_no_other_program(bench: Bench) -> None:
    """A node that was frozen goes on with its poll for a moment; its row among the nodes tells that it is ours."""

    async def ours(within: timedelta) -> bool:
        return True

    bench.stage.given = replace(bench.stage.given, siblings=ours)
    async with bench.life(waits={"poll": 30.0, "refused": 0.2}) as adapter, aiohttp.ClientSession() as http:
        await until(lambda: bench.fake.polls.is_asked, "long poll")
        async with http.post(f"{bench.rig.url}/bot{TOKEN}/getUpdates", json={"timeout": 0}) as response:
            assert response.status == 200
        await until(lambda: adapter.standing().connection is Connection.RECONNECTING, "another poll")
        assert "another process of this Signalbox" in adapter.standing().reason
        await until(lambda: adapter.standing().connection is Connection.CONNECTED, "connection")


async def test_a_webhook_in_the_way_is_told_with_the_fix_and_left_alone(bench: Bench) -> None:
    async with aiohttp.ClientSession() as http:
        hook = {"url": "https://elsewhere.example.org/hook"}
        await http.post(f"{bench.rig.url}/bot{TOKEN}/setWebhook", json=hook)
        async with bench.life(connected=False) as adapter:
            await until(lambda: adapter.standing().connection is Connection.REFUSED, "refusal")
            assert "has a webhook" in adapter.standing().reason
            assert "deleteWebhook" in adapter.standing().reason
            assert (await bench.driver.screen())["webhook"]["url"] == hook["url"]
            await http.post(f"{bench.rig.url}/bot{TOKEN}/deleteWebhook")
            await until(lambda: adapter.standing().connection is Connection.CONNECTED, "connection")
            await bench.signal_of("hello")


async def test_a_poll_that_never_comes_back_is_given_up(bench: Bench) -> None:
    async with bench.life() as adapter:
        await bench.driver.switch(deaf=True)
        told = set()

        def heard() -> bool:
            told.add(adapter.standing().connection)
            return "unheard" in bench.sink.texts

        await bench.driver.say("unheard")
        await until(heard, "what was said on a deaf connection")
        assert Connection.RECONNECTING in told


async def test_our_own_bug_does_not_keep_everybody_out(bench: Bench) -> None:
    class Broken:
        def __init__(self, bench: Bench) -> None:
            self.bench = bench
            self.tries = 0

        async def __call__(self, signal: Signal) -> Verdict:
            if signal.body == Said("poison"):
                self.tries += 1
                raise ZeroDivisionError
            return await self.bench.sink(signal)

    broken = Broken(bench)
    adapter: Any = bench.rig.adapter(bench.stage.given)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(adapter.listen(broken)), group.create_task(adapter.attend("poller", broken))]
        told = await bench.driver.say("poison")
        await bench.driver.say("and I?", chat=GROUP)
        await bench.stage.taken("and I?")
        await until_confirmed(bench, told["update_id"])
        for task in tasks:
            task.cancel()
    assert broken.tries == 3


async def test_the_commands_are_in_telegrams_menu(bench: Bench) -> None:
    async with bench.life():

        async def told() -> bool:
            return bool((await bench.driver.screen())["commands"])

        await until(told, "menu")
        menu = {c["command"]: c["description"] for c in (await bench.driver.screen())["commands"]}
        assert menu["stop"] == "Stop the work in this room"
        assert list(menu) == [
            "help",
            "new",
            "context",
            "compact",
            "stop",
            "status",
            "approvals",
            "agent",
            "agents",
            "model",
            "think",
            "usage",
            "schedules",
            "task",
            "tasks",
            "goal",
            "workflow",
            "workflows",
            "children",
            "memory",
            "forget",
            "docs",
            "skills",
            "skill",
            "timezone",
            "grants",
            "mode",
            "away",
            "back",
        ]


async def test_only_what_is_read_is_asked_for(bench: Bench) -> None:
    async with bench.life():
        await bench.signal_of("hello")
        assert bench.fake.polls.allowed == [
            "message",
            "edited_message",
            "callback_query",
            "message_reaction",
            "my_chat_member",
        ]


# ----------------------------------------------------------------------------------------------------------- albums


def picture(number: int) -> dict[str, Any]:
    return attached("", f"picture {number}".encode(), kind="photo")


async def album(bench: Bench, count: int, *, name: str = "a1", text: str = "what are these?") -> None:
    for number in range(count):
        await bench.driver.say(text if number == 0 else "", files=[picture(number)], album=name)


async def test_an_album_is_one_message(bench: Bench) -> None:
    async with bench.life():
        await album(bench, 3)
        signal = await bench.signal_of("and then?")
        assert bench.sink.taken[-1] is signal or len(await bench.hears(2)) == 2
        first, second = bench.sink.taken
        assert isinstance(first.body, Said)
        assert (first.body.text, [file.remote for file in first.body.files]) == (
            "what are these?",
            ["file-1", "file-2", "file-3"],
        )
        assert second.body == Said("and then?")


async def test_the_caption_may_stand_under_any_picture(bench: Bench) -> None:
    async with bench.life():
        for text in ("", "these two", ""):
            await bench.driver.say(text, files=[picture(1)], album="a1")
        [signal] = await bench.hears()
        assert isinstance(signal.body, Said)
        assert (signal.body.text, len(signal.body.files)) == ("these two", 3)


async def test_two_albums_and_words_between_stay_apart_and_in_order(bench: Bench) -> None:
    await album(bench, 2, name="a1", text="one")
    await bench.driver.say("between")
    await album(bench, 2, name="a2", text="two")
    async with bench.life():
        await bench.hears(3)
        assert bench.sink.texts == ["one", "between", "two"]


async def test_an_album_that_comes_in_two_polls_is_one_message(bench: Bench) -> None:
    async with bench.life(waits={"album": 1.0}):
        await album(bench, 1)
        await asyncio.sleep(0.15)
        await bench.driver.say("", files=[picture(2)], album="a1")
        [signal] = await bench.hears()
        assert isinstance(signal.body, Said)
        assert len(signal.body.files) == 2


async def test_an_album_does_not_hold_up_other_rooms(bench: Bench) -> None:
    async with bench.life(waits={"album": 1.0}):
        await album(bench, 2)
        await bench.driver.say("quick", chat=GROUP)
        await bench.stage.taken("quick")
        assert bench.sink.texts == ["quick"]
        await bench.hears(2)
        assert bench.sink.texts == ["quick", "what are these?"]


async def test_a_full_album_is_not_waited_for(bench: Bench) -> None:
    await album(bench, 10)
    async with bench.life(waits={"album": 600.0}):
        await bench.hears()


@pytest.mark.parametrize("wait", [600.0, 0.1], ids=["before it was handed on", "after that"])
async def test_a_kill_within_an_album_leaves_it_whole_and_once(bench: Bench, wait: float) -> None:
    """While it may still grow none of it is confirmed, so all of it comes again."""
    bench.sink.away = 0 if wait > 1 else 1_000  # the store is away: it is handed in and not taken
    async with bench.life(waits={"album": wait}):
        await album(bench, 3)
        await asyncio.sleep(0.4)
    assert bench.sink.taken == []
    bench.sink.away = 0
    async with bench.life():
        await bench.hears()
        await bench.signal_of("after it")
    first, _ = bench.sink.taken
    assert isinstance(first.body, Said)
    assert len(first.body.files) == 3
