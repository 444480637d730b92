"""The connection comes back by itself, tells how it stands, and leaves nothing behind."""

from __future__ import annotations

import asyncio
from typing import Final

import pytest

from runtime.contract import ChannelAdapter, Connection
from runtime.errors import ChannelError, Retryable
from tests.contract.adapters.conftest import Opened
from tests.contract.adapters.rig import Skill, Trouble
from tests.contract.adapters.stage import PATIENCE, until

A_WHILE: Final = 0.2  # seconds
MOMENT: Final = 0.0005  # seconds; on loopback a new connection stands after a few of them


def stands(adapter: ChannelAdapter, *wanted: Connection) -> bool:
    return adapter.standing().connection in wanted


async def connected(adapter: ChannelAdapter) -> None:
    await until(lambda: stands(adapter, Connection.CONNECTED), f"connection: {adapter.standing()}")


def our_tasks() -> set[asyncio.Task[object]]:
    """All but those of the fake's server, which live as long as a connection."""
    return {task for task in asyncio.all_tasks() if "RequestHandler." not in repr(task.get_coro())}


async def all_over(before: set[asyncio.Task[object]]) -> None:
    await until(lambda: our_tasks() <= before, f"end of {our_tasks() - before}")


async def test_before_it_listens_it_is_connecting_and_then_connected(opened: Opened) -> None:
    async with opened() as stage:
        adapter = stage.rig.adapter(stage.given)
        assert not stands(adapter, Connection.CONNECTED)
        assert adapter.standing().trouble
        async with stage.life() as adapter:
            assert adapter.standing().trouble is None


async def test_cancelling_leaves_no_task(opened: Opened) -> None:
    async with opened() as stage:
        before = our_tasks()
        async with stage.life() as adapter:
            await stage.say(adapter, "hello")
            await stage.rig.say(stage.place, "hello")
            await stage.taken("hello")
        await all_over(before)
        assert our_tasks() <= before


async def test_cancelling_before_it_is_connected_leaves_no_task(opened: Opened) -> None:
    async with opened() as stage:
        before = our_tasks()
        async with stage.life(connected=False):
            await asyncio.sleep(0)
        await all_over(before)
        assert our_tasks() <= before


async def test_lives_follow_each_other(opened: Opened) -> None:
    async with opened() as stage:
        for number in range(3):
            async with stage.life() as adapter:
                await stage.rig.say(stage.place, f"{number}")
                await stage.taken(f"{number}")
                await stage.say(adapter, f"life {number}")
        assert stage.sink.texts == ["0", "1", "2"]


async def test_a_dropped_connection_comes_back_and_nothing_is_missed(opened: Opened) -> None:
    async with opened(Skill.SOCKET) as stage, stage.life() as adapter:
        said = []
        for number in range(3):
            for when in ("before", "just after"):
                said.append(f"{when} drop {number}")
                await stage.rig.say(stage.place, said[-1])
                if when == "before":
                    await stage.taken(said[-1])
                    await stage.rig.fault(Trouble.DROPPED)
            await stage.taken(*said)
        assert stage.sink.texts == said
        await connected(adapter)


async def test_a_deaf_connection_is_noticed_and_replaced(opened: Opened) -> None:
    async with opened(Skill.DEAF) as stage, stage.life() as adapter:
        await stage.rig.say(stage.place, "heard")
        await stage.taken("heard")
        told: set[Connection] = set()
        await stage.rig.fault(Trouble.DEAF)
        await stage.rig.say(stage.place, "unheard")

        async with asyncio.timeout(PATIENCE):
            while "unheard" not in stage.sink.texts:
                told.add(adapter.standing().connection)
                await asyncio.sleep(MOMENT)
        assert told - {Connection.CONNECTED}, "it never told that something was wrong"
        await connected(adapter)


async def test_a_platform_that_is_away_is_told_and_comes_back(opened: Opened) -> None:
    async with opened(Skill.AWAY) as stage, stage.life() as adapter:
        await stage.rig.fault(Trouble.AWAY)
        if Skill.SOCKET not in stage.rig.lacks:
            await stage.rig.fault(Trouble.DROPPED)
        await until(lambda: not stands(adapter, Connection.CONNECTED), "word of it")
        assert len(adapter.standing().reason) > 10, "a person reads this"
        with pytest.raises(Retryable):
            await adapter.show(stage.part(adapter))
        await stage.rig.say(stage.place, "meanwhile")
        await stage.rig.lift()
        await connected(adapter)
        await stage.taken("meanwhile")
        await stage.say(adapter, "back")
        assert [message.text.strip() for message in await stage.visible()] == ["back"]


async def test_a_start_while_the_platform_is_away_waits_for_it(opened: Opened) -> None:
    async with opened(Skill.AWAY) as stage:
        await stage.rig.fault(Trouble.AWAY)
        async with stage.life(connected=False) as adapter:
            await asyncio.sleep(A_WHILE)
            assert stands(adapter, Connection.CONNECTING, Connection.RECONNECTING)
            await stage.rig.lift()
            await connected(adapter)
            await stage.rig.say(stage.place, "hello")
            await stage.taken("hello")


async def test_a_refused_token_is_told_with_the_account_and_it_goes_on_by_itself(opened: Opened) -> None:
    async with opened(Skill.TOKEN) as stage:
        await stage.rig.fault(Trouble.TOKEN)
        async with stage.life(connected=False) as adapter:
            await until(lambda: stands(adapter, Connection.REFUSED), f"refusal: {adapter.standing()}")
            reason = adapter.standing().reason
            assert adapter.account in reason
            assert "token" in reason.lower()
            await stage.rig.lift()
            await connected(adapter)
            await stage.rig.say(stage.place, "hello")
            await stage.taken("hello")


async def test_a_token_that_is_revoked_later_is_told_too(opened: Opened) -> None:
    async with opened(Skill.TOKEN) as stage, stage.life() as adapter:
        await stage.rig.fault(Trouble.TOKEN)
        if Skill.SOCKET not in stage.rig.lacks:
            await stage.rig.fault(Trouble.DROPPED)
        await until(lambda: stands(adapter, Connection.REFUSED), f"refusal: {adapter.standing()}")
        assert adapter.account in adapter.standing().reason
        await stage.rig.lift()
        await connected(adapter)


async def test_a_ping_is_answered_while_the_platform_is_there_and_takes_nothing_from_who_listens(
    opened: Opened,
) -> None:
    """Also where the token is refused: that is an answer."""
    async with opened(Skill.AWAY) as stage, stage.life() as adapter:
        ping = adapter.features().ping
        assert ping
        await ping()
        await stage.rig.say(stage.place, "hello")
        await stage.taken("hello")
        await stage.rig.fault(Trouble.AWAY)
        with pytest.raises(ChannelError):
            await ping()
        await stage.rig.lift()
        await ping()
        await stage.rig.fault(Trouble.TOKEN)
        await ping()
