"""Names are looked up in threads that can hang without holding anything else up."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Sequence

import pytest

from runtime.egress.lookup import LOOKUPS_AT_ONCE, SystemLookUp

HANGS = """
import asyncio, threading
from runtime.egress.lookup import SystemLookUp

async def main():
    look_up = SystemLookUp(lambda host: threading.Event().wait())
    try:
        async with asyncio.timeout(0.01):
            await look_up("slow.test")
    except TimeoutError:
        print("given up")

asyncio.run(main())
"""


async def test_the_machine_knows_itself() -> None:
    assert "127.0.0.1" in await SystemLookUp()("127.0.0.1")


@pytest.mark.parametrize("error", [OSError("unknown"), UnicodeError("too long")])
async def test_a_name_that_is_not_known_is_an_error(error: Exception) -> None:
    def fail(host: str) -> Sequence[str]:
        raise error

    with pytest.raises(type(error)):
        await SystemLookUp(fail)("nowhere.test")


async def test_those_that_hang_are_few_and_the_next_has_its_turn_when_one_is_over() -> None:
    begun, over = threading.Semaphore(0), threading.Event()

    def hang(host: str) -> Sequence[str]:
        begun.release()
        over.wait(30)
        return ["192.0.2.1"]

    look_up = SystemLookUp(hang)
    for _ in range(LOOKUPS_AT_ONCE + 2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await look_up("slow.test")
    assert all(begun.acquire(timeout=20) for _ in range(LOOKUPS_AT_ONCE))
    assert not begun.acquire(blocking=False), "one too many"
    over.set()
    async with asyncio.timeout(30):
        assert await look_up("now.test") == ["192.0.2.1"]


def test_one_that_hangs_does_not_hold_up_the_end_of_the_process() -> None:
    ended = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=20, check=False)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("given up\n", "", 0)
