"""Events of the real program, followed over kill -9: by a stream with its last number, by a file sink, and by the command."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import aiohttp
import pytest

from tests.e2e.house import PATIENCE, House, environment

SETTINGS: Final = """
[[event_sinks]]
name = "archive"
file = "events.jsonl"
"""
MANY: Final = [
    pytest.param(10_000, marks=[pytest.mark.soak, pytest.mark.timeout(240)]),
    pytest.param(300, marks=[pytest.mark.soak, pytest.mark.timeout(180)]),
]
FOLLOW_SECONDS: Final = 200.0


def happen(house: House, number: int) -> None:
    """Facts of the audit that are not sealed yet, as a busy day leaves them."""
    row = ("shown", 1, "", "a-delivery", "web:main/room01", "", "")
    with closing(sqlite3.connect(house.data / "signalbox.db", timeout=30)) as database, database:
        database.executemany(
            "INSERT INTO audit (kind, at, actor, subject, detail, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [row] * number,
        )


def head(house: House) -> int:
    with closing(sqlite3.connect(house.data / "signalbox.db", timeout=30)) as database:
        return int(database.execute("SELECT count(*) FROM audit").fetchone()[0])


def sink_begun(house: House) -> bool:
    """Whether the sink has its place: a new one begins behind what was sealed until then, and never takes that."""
    with closing(sqlite3.connect(house.data / "signalbox.db", timeout=30)) as database:
        return bool(database.execute("SELECT count(*) FROM event_cursors").fetchone()[0])


def token(house: House) -> str:
    return str(json.loads((house.data / "control.json").read_text())["token"])


async def followed(house: House, found: list[int], upto: int) -> None:
    """Read the stream until `upto`, beginning anew behind the last number whenever it is cut."""
    while not found or found[-1] < upto:
        last = str(found[-1] if found else 0)
        with suppress(aiohttp.ClientError, OSError, ValueError):
            headers = {"Authorization": f"Bearer {token(house)}", "Last-Event-ID": last}
            async with (
                aiohttp.ClientSession() as http,
                http.get(f"{house.url}/console/api/events/stream", headers=headers) as answer,
            ):
                assert answer.status in (200, 401), await answer.text()
                async for line in answer.content:
                    if line.startswith(b"id: "):
                        found.append(int(line[4:]))
                        if found[-1] >= upto:
                            return
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("number", MANY)
async def test_events_are_followed_over_a_kill_without_a_gap(tmp_path: Path, number: int) -> None:
    house = House(tmp_path, SETTINGS).start()
    try:
        async with asyncio.timeout(PATIENCE):
            await until(lambda: sink_begun(house))
        begun = head(house)
        by_command = follow_by_command(tmp_path)
        try:
            happen(house, number)
            upto, found = begun + number, list[int]()
            following = asyncio.ensure_future(followed(house, found, upto))
            async with asyncio.timeout(FOLLOW_SECONDS):
                await until(lambda: len(found) >= number // 3)
                await asyncio.to_thread(house.kill)
                await asyncio.to_thread(house.start)
                await following
                assert found == list(range(1, len(found) + 1))
                await said(tmp_path / "followed", upto)
                await said(house.data / "events.jsonl", upto)
        finally:
            by_command.kill()
            by_command.wait()
        told = numbers(tmp_path / "followed")
        assert told == list(range(1, len(told) + 1))  # each once, and none left out
        sunk = numbers(house.data / "events.jsonl")
        assert sorted(set(sunk)) == list(range(min(sunk), max(sunk) + 1))  # at least once, from where the sink began
    finally:
        house.kill()


def numbers(path: Path) -> list[int]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line)["number"] for line in lines if line.endswith("}")]


async def said(path: Path, upto: int) -> None:
    await until(lambda: max(numbers(path), default=0) >= upto)


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - another process does it
        await asyncio.sleep(0.05)


def follow_by_command(folder: Path) -> subprocess.Popen[bytes]:
    """`signalbox events --follow`, which writes what it prints into the file `followed`."""
    command = [sys.executable, "-m", "bot", "events", "--follow", "--since", "0", "--json"]
    with (folder / "followed").open("wb") as out:
        return subprocess.Popen(command, cwd=folder, env=environment(folder), stdout=out)
