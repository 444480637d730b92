"""Load: thousands of messages at once, a backlog at the start, and figures of the process that stay flat.

`LAB_SHARE=0.1` has a tenth of each.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.contract.adapters.rig import Place
from tests.fakes.postgres import Postgres
from tests.faults.program import until
from tests.lab.node import Node
from tests.lab.stage import Lab, lab

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

SHARE: Final = float(os.environ.get("LAB_SHARE") or 1)
AT_ONCE: Final = int(2_000 * SHARE)
BACKLOG: Final = int(10_000 * SHARE)
LONG: Final = int(20_000 * SHARE)
ROOMS: Final = 100
LEFT: Final = (
    "SELECT (SELECT count(*) FROM signals WHERE kind = 'said'), (SELECT count(*) FROM signals WHERE state = 'waiting'), "
    "(SELECT count(*) FROM runs WHERE state IN ('ready', 'running')), "
    "(SELECT count(*) FROM deliveries WHERE state IN ('queued', 'open'))"
)
"""Messages that were taken in, and what is left to do."""
PEOPLE: Final = 50
"""So many write at a time."""
SLOWEST: Final = 5.0  # messages a second, on a machine that does much else
WARM: Final = 0.3
"""The share of a long play after which memory is compared: caches are full by then."""
SLOPE_MOST: Final = 1.0  # MiB for 10,000 messages
NOISE: Final = 2.0  # MiB that the allocator gives back and takes again


@dataclass(frozen=True, slots=True)
class Figures:
    """Of a process: MiB of memory that is its own, open descriptors, threads."""

    mib: float
    descriptors: int
    threads: int

    def __str__(self) -> str:
        return f"{self.mib:.1f} MiB, {self.descriptors} descriptors, {self.threads} threads"


def figures(node: Node) -> Figures:
    process = Path(f"/proc/{node.process.pid}")
    lines = dict(line.split(":", 1) for line in (process / "smaps_rollup").read_text().splitlines()[1:])
    own = sum(int(lines[name].split()[0]) for name in ("Private_Dirty", "Private_Clean"))
    return Figures(own / 1024, len(list((process / "fd").iterdir())), len(list((process / "task").iterdir())))


async def said(on: Lab, places: Sequence[Place], count: int) -> None:
    """So many messages, by several people at a time, in turn over the rooms."""
    turns = iter(range(count))

    async def speak() -> None:
        for number in turns:
            await on.say(places[number % len(places)])

    async with asyncio.TaskGroup() as group:
        for _ in range(PEOPLE):
            group.create_task(speak())


async def anew(on: Lab, places: Sequence[Place]) -> None:
    """Each room begins a conversation. An answer takes memory by the length of its own, up to the model's window, which is no
    matter of how many answers there were."""
    for place in places:
        await on.rig_of(place).say(place, "/new")


async def all_done(on: Lab, seconds: float) -> None:
    """Until all that was said is taken in and answered, by the store; whoever looks at the screen at the end tells if that is true."""

    async def look() -> bool | None:
        (counts,) = await on.select(LEFT)
        if counts[0] >= len(on._said) and not any(counts[1:]):
            return True
        await asyncio.sleep(0.5)
        return None

    await until(look, "the last answer", seconds)


def patience(count: int) -> float:
    return 60 + count / SLOWEST


@pytest.mark.parametrize("nodes", [0, 2], ids=["sqlite", "two-nodes"])
async def test_two_thousand_messages_at_once_are_each_answered_once_and_in_order(
    postgres: Postgres, tmp_path: Path, nodes: int, tell: Callable[[str], None]
) -> None:
    async with lab(tmp_path, postgres if nodes else None, nodes=nodes) as on:
        for node in on.nodes:
            await node.until_ready()
        places = on.rig.places(ROOMS)
        began = time.monotonic()
        async with asyncio.TaskGroup() as group:
            group.create_task(said(on, places, AT_ONCE))
            watch = group.create_task(always_ready(on))
            await all_said(on, AT_ONCE)
            await all_done(on, patience(AT_ONCE))
            watch.cancel()
        took = time.monotonic() - began
        await on.judged()
    tell(f"{AT_ONCE} messages in {took:.0f} s, {AT_ONCE / took:.0f} a second")


async def all_said(on: Lab, count: int) -> None:
    async def look() -> bool | None:
        return len(on._said) >= count or None

    await until(look, "people who are done", patience(count))


async def always_ready(on: Lab) -> None:
    """`/readyz` is answered all the time. Errors: AssertionError."""
    while True:
        for node in on.nodes:
            health = await node.health()
            assert health.ready == 200, health
        await asyncio.sleep(1)


async def test_a_backlog_of_ten_thousand_at_the_start_is_answered_once_and_in_order(
    tmp_path: Path, tell: Callable[[str], None]
) -> None:
    async with lab(tmp_path, None) as on:
        (node,) = on.nodes
        await node.until_ready()
        await node.leave()
        places = on.rig.places(ROOMS)
        await said(on, places, BACKLOG)
        began = time.monotonic()
        await node.start()
        ready = await node.until_ready()
        await all_done(on, patience(BACKLOG))
        took, after = time.monotonic() - began, figures(node)
        await on.judged()
    tell(f"{BACKLOG} that waited: ready after {ready:.1f} s, answered in {took:.0f} s; then {after}")


async def test_memory_descriptors_and_threads_stay_flat_over_twenty_thousand_messages(
    tmp_path: Path, tell: Callable[[str], None]
) -> None:
    async with lab(tmp_path, None) as on:
        (node,) = on.nodes
        await node.until_ready()
        places, step = on.rig.places(ROOMS), max(LONG // 20, ROOMS)
        seen: list[tuple[int, Figures]] = []
        while len(on._said) < LONG:
            await anew(on, places)
            await said(on, places, step)
            await all_done(on, patience(step))
            seen.append((len(on._said), figures(node)))
        await on.judged()
    warm = [(count, one) for count, one in seen if count >= WARM * LONG]
    slope = slope_of([(count / 10_000, one.mib) for count, one in warm])
    tell(f"{LONG} messages: {slope:+.2f} MiB for 10,000; {warm[0][1]}, and at the end {warm[-1][1]}")
    assert slope < SLOPE_MOST + NOISE / (LONG / 10_000)
    assert warm[-1][1].descriptors <= max(one.descriptors for _, one in warm[: len(warm) // 2]) + 8
    assert warm[-1][1].threads <= max(one.threads for _, one in warm[: len(warm) // 2]) + 2


def slope_of(points: Sequence[tuple[float, float]]) -> float:
    """By least squares."""
    x, y = (sum(each) / len(points) for each in zip(*points, strict=True))
    spread: float = sum((one - x) * (one - x) for one, _ in points)
    above: float = sum((one - x) * (other - y) for one, other in points)
    return above / spread
