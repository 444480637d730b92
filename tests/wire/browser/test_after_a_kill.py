"""A process that is killed takes its browsers with it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from runtime.egress import Egress
from tests.fakes.serve import spawned
from tests.wire.browser.house import NEEDS_CHROMIUM, ROOM, browsers

pytestmark = NEEDS_CHROMIUM
GONE_WITHIN = 10.0  # seconds


async def test_no_process_of_a_browser_is_left_when_its_node_is_killed() -> None:
    async with spawned("tests.wire.browser.test_after_a_kill") as (process, pid):
        family = await asyncio.to_thread(below, int(pid))
        assert len(family) > 3
        process.kill()
        assert await asyncio.to_thread(are_gone, family)


def below(pid: int) -> list[int]:
    """A process and all that come from it."""
    found = [int(one) for file in Path("/proc", str(pid)).glob("task/*/children") for one in file.read_text().split()]
    return [pid, *(one for child in found for one in below(child))]


def are_gone(family: list[int]) -> bool:
    """Wait until none of them is there any more, or for long enough."""
    began = time.monotonic()
    while any(map(is_alive, family)) and time.monotonic() - began < GONE_WITHIN:
        time.sleep(0.02)
    return not any(map(is_alive, family))


def is_alive(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


async def main() -> None:
    async with browsers(Egress()) as made:
        await made.opened(ROOM)
        print(made.pid(ROOM), flush=True)  # noqa: T201 - read by the test
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
