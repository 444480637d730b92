"""A node frozen past its lease with a send in flight goes on: it serves again, and nothing appears twice (scenario 67)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

import pytest

from bot.node.watchdog import last_end
from tests.fakes.postgres import Postgres
from tests.faults.program import until
from tests.lab.proxy import Side
from tests.lab.stage import SEED, Lab, lab

pytestmark = pytest.mark.timeout(300)

LEASE: Final = 1.0  # seconds; source: tests.faults.app
LEASES: Final = (2.0, 3.0)  # how long it is frozen
ROOMS: Final = 4
THINKS: Final = 0.6  # seconds: in them the test comes to hold the answers of the platform
SERVES_WITHIN: Final = 5 * (LEASE + 3.0)
"""Seconds from the thaw until the node serves again: five times the promise, since the machine may be busy."""


async def freeze_with_sends_in_flight(on: Lab, chance: Random, leases: float) -> float:
    """Freeze the courier's owner when its sends are on screen, before it hears of it; seconds until it serves again.

    The others have its work by then: however busy the machine is, that is waited for.
    """
    rooms = on.rig.places(ROOMS)
    frozen = await on.owner("courier:telegram")
    said = {room: await on.say(room) for room in rooms}
    await on.until_at_work(ROOMS)
    frozen.platform.stall(Side.ANSWERED)
    for room, token in said.items():
        await on.until_shown(room, token)
    await asyncio.sleep(chance.uniform(0, 0.1))
    frozen.freeze()
    frozen.platform.lift()
    await asyncio.sleep(leases * LEASE)
    await on.until_missed(frozen)
    frozen.thaw()
    took = await on.until_serving(frozen, SERVES_WITHIN)
    await on.answered(rooms[0])
    return took


async def test_a_node_frozen_with_sends_in_flight_serves_again(
    postgres: Postgres, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    chance = Random(SEED)
    async with lab(tmp_path, postgres, think=THINKS) as on:
        for node in on.nodes:
            await node.until_ready()
        await asyncio.gather(*map(on.answered, on.rig.places(ROOMS)))
        took = await freeze_with_sends_in_flight(on, chance, chance.choice(LEASES))
        await on.judged()
        assert any("joining again" in node.log() for node in on.nodes)
    tell(f"seed {SEED}: served again {took:.1f} s after the thaw")


@pytest.mark.soak  # twenty seconds; what the watchdog decides `tests/unit/bot/node/test_watchdog.py` has in each run
async def test_a_node_that_cannot_join_again_says_so_and_ends_to_be_started_anew(
    postgres: Postgres, tmp_path: Path
) -> None:
    """A bug is put in that keeps its courier from ending; the watchdog waits two seconds instead of fifteen."""
    async with lab(tmp_path, postgres, nodes=1, plant="stuck") as on:
        (node,) = on.nodes
        await node.until_ready()
        await on.select("UPDATE nodes SET state = 'dead', fence = fence + 1 RETURNING id")

        async def look() -> bool | None:
            return (await node.health()).healthy == 503 or None

        await until(look, "a process that says that it is stuck")
        assert (await node.health()).ready == 503
        assert await node.ended() == 1
        ended = last_end(node.data)
        assert ended
        assert "is stuck and ends" in node.log()
