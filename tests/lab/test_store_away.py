"""The way to PostgreSQL stalls, or its open connections go silent: it is told in time, and heals by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.fakes.postgres import Postgres
from tests.faults.program import until
from tests.lab.node import Node
from tests.lab.stage import Lab, lab

pytestmark = [pytest.mark.soak, pytest.mark.timeout(180)]

LEASE: Final = 3.0  # seconds
SETTINGS: Final[dict[str, Any]] = {"nodes.lease_seconds": LEASE}
RIGHT_WITHIN: Final = 3.0  # seconds until /readyz is right; source: lab.md
ANSWERS_WITHIN: Final = 1.0  # seconds for /readyz itself
HEALS_WITHIN: Final = 15.0  # seconds
BUSY: Final = 3
"""How many times as long all that may take on a busy machine."""


def way_of(node: Node) -> tuple[Node, Callable[[], None], Callable[[], None]]:
    assert node.store is not None
    return node, node.store.stall, node.store.lift


async def until_not_ready(node: Node) -> tuple[float, float]:
    """Seconds until it says so, and the longest that it took to say anything."""
    began, longest = time.monotonic(), 0.0

    async def look() -> bool | None:
        nonlocal longest
        health = await node.health()
        longest = max(longest, health.seconds)
        return health.ready == 503 or None

    await until(look, "a word about the store", BUSY * RIGHT_WITHIN)
    return time.monotonic() - began, longest


async def at_work(on: Lab) -> Node:
    await on.nodes[0].until_ready()
    await on.answered(on.rig.places(1)[0])
    return on.nodes[0]


async def test_a_store_that_stalls_is_told_in_time_and_does_not_keep_a_process_from_leaving(
    postgres: Postgres, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    async with lab(tmp_path, postgres, nodes=1, **SETTINGS) as on:
        node, stall, _ = way_of(await at_work(on))
        stall()
        told, longest = await until_not_ready(node)
        assert longest < BUSY * ANSWERS_WITHIN
        await asyncio.sleep(LEASE)
        assert "the store is in trouble" in node.log()
        end = await node.leave()
        assert end["code"] == 0
        tell(f"not ready after {told:.1f} s, said within {longest:.1f} s; left within {end['seconds']:.1f} s")


async def test_connections_that_went_silent_are_replaced(
    postgres: Postgres, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    async with lab(tmp_path, postgres, nodes=1, **SETTINGS) as on:
        node = await at_work(on)
        assert node.store
        node.store.lose()
        await asyncio.sleep(0.1)
        took = await on.answered(on.rig.places(1)[0], BUSY * HEALS_WITHIN)
        await on.until_serving(node)
        await on.judged()
    tell(f"answered {took:.1f} s after every open connection to the store went silent")
