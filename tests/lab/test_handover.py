"""A node whose way to one platform is lost gives the roles there to a node that the platform answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from adapters.discord import settings as discord
from adapters.slack import settings as slack
from adapters.telegram import settings as telegram
from tests.fakes.postgres import Postgres
from tests.faults.stage import PLATFORMS
from tests.lab.node import Node
from tests.lab.proxy import Proxy, Side
from tests.lab.stage import Lab, lab
from tests.lab.trials import PLATFORM_TOLD_WITHIN

pytestmark = pytest.mark.timeout(300)

THINKS: Final = 0.6  # seconds: in them the test comes to hold the answers of the platform
LOST: Final = 15.0  # seconds of silence after which a way is lost; source: runtime.failover
SOON: Final = 5.0  # seconds instead of that, where time is short
CUTS: Final = [
    pytest.param("telegram", SOON, id="telegram-soon"),
    *(pytest.param(name, LOST, id=name, marks=pytest.mark.soak) for name in PLATFORMS),
]


def test_a_way_that_went_silent_is_noticed_before_it_must_be_told() -> None:
    """With nothing said on it: Telegram's poll, Discord's gateway, Slack's socket, at which is looked four times in that time."""
    noticed = [telegram.Waits().poll + telegram.Waits().margin, discord.Waits().quiet, 1.25 * slack.Pace().silent]
    assert max(noticed).total_seconds() < PLATFORM_TOLD_WITHIN
    assert 2 * discord.Waits().urge < discord.Waits().quiet
    assert 2 * slack.Pace().ping < slack.Pace().silent


def stalled(way: Proxy) -> None:
    """Bytes are held, sockets stay open. The platform gives a socket up that answers no ping."""
    way.leave()
    way.stall()


def cut(way: Proxy) -> None:
    way.cut()


async def begun(on: Lab) -> Node:
    """All are well and were heard of in the rooms that are played in; the node with the roles."""
    for node in on.nodes:
        await node.until_ready()
    for room in (on.rig.rooms().direct, on.rig.rooms().apart):
        assert room
        await on.answered(room)
    return await on.owner(f"courier:{on.rig.channel}")


async def roles(on: Lab) -> Sequence[Any]:
    """Name, node and fence of each role of the account."""
    return sorted(await on.select(f"SELECT name, node, fence FROM roles WHERE name LIKE '%:{on.rig.channel}:%'"))


async def until_not_ready(node: Node) -> None:
    async with asyncio.timeout(4 * LOST):
        while (await node.health()).ready != 503:  # noqa: ASYNC110 - it rings no bell
            await asyncio.sleep(0.1)


@pytest.mark.parametrize(("platform", "lost"), CUTS)
async def test_a_node_cut_from_a_platform_hands_over_and_nothing_is_lost_or_repeated(
    postgres: Postgres, tmp_path: Path, platform: str, lost: float, tell: Callable[[str], None]
) -> None:
    """Scenario 68; what was in flight is found by the new owner."""
    async with lab(tmp_path, postgres, platform=platform, think=THINKS, lost=lost) as on:
        owner = await begun(on)
        [other] = [node for node in on.nodes if node is not owner]
        direct, apart = on.rig.rooms().direct, on.rig.rooms().apart
        assert apart
        in_flight = await on.say(direct)
        await on.until_at_work()
        owner.platform.stall(Side.ANSWERED)
        await on.until_shown(direct, in_flight)
        before = await roles(on)
        stalled(owner.platform)
        took = await on.answered(apart)
        after = await roles(on)
        assert {one[:2] for one in before}.isdisjoint(one[:2] for one in after)
        await until_not_ready(owner)
        assert (await other.health()).ready == 200
        owner.platform.lift()
        await owner.until_ready()
        await on.answered(direct)
        assert await roles(on) == after, "what was handed over is not taken back"
        await on.judged()
    tell(f"{platform}: answered {took:.1f} s after the cut")


@pytest.mark.soak
@pytest.mark.parametrize("platform", PLATFORMS)
async def test_the_roles_go_where_the_platform_answers_however_often_that_changes(
    postgres: Postgres, tmp_path: Path, platform: str, tell: Callable[[str], None]
) -> None:
    async with lab(tmp_path, postgres, platform=platform, lost=SOON) as on:
        await begun(on)
        room, took = on.rig.rooms().direct, []
        for how in (stalled, cut, stalled):
            owner = await on.owner(f"courier:{platform}")
            how(owner.platform)
            took.append(await on.answered(room))
            owner.platform.lift()
            await owner.until_ready()
            assert await on.owner(f"courier:{platform}") is not owner
        await on.judged()
    tell(f"{platform}: answered {', '.join(f'{seconds:.1f}' for seconds in took)} s after the cut")


@pytest.mark.soak
@pytest.mark.parametrize("platform", PLATFORMS)
async def test_a_platform_that_is_away_for_all_makes_nobody_flap(
    postgres: Postgres, tmp_path: Path, platform: str
) -> None:
    """Each goes on trying, and who had the roles has them still, also when all is well again."""
    async with lab(tmp_path, postgres, platform=platform, lost=SOON) as on:
        owner, before = await begun(on), await roles(on)
        for node in on.nodes:
            stalled(node.platform)
        token = await on.say(on.rig.rooms().direct)
        await until_not_ready(owner)
        await asyncio.sleep(2 * SOON)
        assert await roles(on) == before
        for node in on.nodes:
            node.platform.lift()
        await on.until_shown(on.rig.rooms().direct, token)
        for node in on.nodes:
            await node.until_ready()
        await asyncio.sleep(SOON)
        assert await roles(on) == before
        await on.judged()


@pytest.mark.soak
@pytest.mark.parametrize("platform", PLATFORMS)
async def test_alone_it_says_the_truth_and_goes_on_trying(tmp_path: Path, platform: str) -> None:
    async with lab(tmp_path, None, platform=platform) as on:
        for node in on.nodes:
            await node.until_ready()
        room = on.rig.rooms().direct
        await on.answered(room)
        stalled(on.nodes[0].platform)
        token = await on.say(room)
        await until_not_ready(on.nodes[0])
        on.nodes[0].platform.lift()
        await on.until_shown(room, token)
        await on.nodes[0].until_ready()
        await on.judged()
