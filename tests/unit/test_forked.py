"""A forked process is one of its own: folder, environment, ends and death."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.fakes import forked
from tests.fakes.forked import forked as begun

ONCE = ("-n1", "-r1")
"""For `timeit`, which here is a program that runs what its arguments say."""


def says(expression: str, folder: Path, said: bytes = b"", **environment: str) -> str:
    script = f"import os, sys; print({expression})"
    ended = forked.run("timeit", *ONCE, "-s", script, folder=folder, environment=environment, said=said, seconds=30)
    assert (ended.returncode, ended.stderr) == (0, b"")
    return ended.stdout.decode().splitlines()[0]


def test_it_has_its_own_folder_environment_and_input(tmp_path: Path) -> None:
    assert says("os.getcwd()", tmp_path) == str(tmp_path)
    assert says("dict(os.environ)", tmp_path, MINE="this") == "{'MINE': 'this'}"
    assert says("sys.stdin.read()", tmp_path, "café".encode()) == "café"
    assert says("sys.path.count(os.environ['MINE'])", tmp_path, MINE="/mine", PYTHONPATH="/mine:") == "1"
    assert says("os.getpid()", tmp_path) not in (str(os.getpid()), says("os.getpid()", tmp_path))


def test_everything_is_loaded_and_nothing_of_the_test(tmp_path: Path) -> None:
    """Else each would load for a second, and nobody would notice but by the time that the suite takes."""
    assert says("'bot.server.app' in sys.modules, 'litellm' in sys.modules, 'pytest' in sys.modules", tmp_path) == (
        "True True False"
    )


def test_how_it_ended_is_told(tmp_path: Path) -> None:
    ended = forked.run("timeit", "-s", "no python", folder=tmp_path, environment={}, seconds=30)
    assert ended.returncode == 1
    assert b"SyntaxError" in ended.stdout + ended.stderr


def test_one_that_does_not_end_is_killed_and_told(tmp_path: Path) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run("timeit", "import time; time.sleep(60)", folder=tmp_path, environment={}, seconds=0.1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_it_dies_of_a_signal_like_any_other(number: signal.Signals, tmp_path: Path) -> None:
    script = "import os, sys, time; print(os.getpid(), flush=True)"
    async with begun("timeit", "-s", script, "time.sleep(60)", folder=tmp_path) as process:
        assert int(await process.stdout.readline()) == process.pid
        assert process.returncode is None
        process.send_signal(number)
        async with asyncio.timeout(30):
            assert await process.wait() == process.returncode == -number
        assert await process.stdout.read() == b""


async def test_at_the_end_of_its_block_it_is_gone(tmp_path: Path) -> None:
    async with begun("timeit", "import time; time.sleep(60)", folder=tmp_path) as process:
        pass
    assert process.returncode == -signal.SIGKILL


def test_one_that_was_begun_goes_on_until_it_is_told_to_end(tmp_path: Path) -> None:
    script = "import os, sys, time; print(os.getcwd(), flush=True)"
    with (tmp_path / "log").open("wb") as log:
        process = forked.begin(
            "timeit", "-s", script, "time.sleep(60)", folder=tmp_path, environment={}, stderr=log.fileno()
        )
    with process.stdout:
        assert process.stdout.readline().strip() == str(tmp_path)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)
        assert process.poll() is None
        process.terminate()
        assert process.wait(10) == process.poll() == -signal.SIGTERM
