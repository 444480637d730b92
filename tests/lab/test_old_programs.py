"""Databases of old programs: the newest one works on with them, and there is a way back.

The old program is the one of the recording's commit, taken out of the history.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.house import RUN, House
from tests.e2e.visitor import visiting
from tests.fakes.postgres import Postgres
from tests.fakes.serve import ROOT, spawned
from tests.fakes.telegram import TOKEN as BOT
from tests.fakes.telegram_driver import Driver
from tests.faults.program import until
from tests.upgrades.story import settings
from tests.upgrades.test_upgrades import (
    SOON,
    each_recording,
    everything_is_shown_once,
    restored,
    the_open_question_is_answered,
    what_it_keeps_is_whole,
)

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]

MESSAGES: Final = 100
CHATS: Final = 10
FAILED: Final = 1


def old_program(commit: str, folder: Path) -> Path:
    """The tree of that commit. A skip says why it is not to be had."""
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", commit], capture_output=True, check=False)
    if packed.returncode:
        pytest.skip(f"the history of {commit} isn't here, which has the old program")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as tree:
        tree.extractall(folder, filter="data")
    return folder


def first_chats(count: int) -> range:
    return range(101, 101 + count)


async def traffic(driver: Driver, begin: int) -> None:
    """People write in many chats, and each line is answered once."""
    lines = {f"line{begin + n:05}": 101 + n % CHATS for n in range(MESSAGES)}
    for line, chat in lines.items():
        await driver.say(f"good day {line}", chat=chat, user=chat)

    async def counts() -> dict[str, int]:
        shown = {chat: await driver.texts(chat) for chat in first_chats(CHATS)}
        return {line: sum(line in text for text in shown[chat]) for line, chat in lines.items()}

    async def none_misses() -> bool | None:
        return all((await counts()).values()) or None

    await until(none_misses, "answers to all that was said")
    assert await counts() == dict.fromkeys(lines, 1)


def digest(data: Path) -> dict[str, str]:
    """Of what a refused start must not touch."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in data.iterdir()
        if path.is_file() and path.name in ("signalbox.db", "signalbox.db-wal", "audit.key", "audit.head")
    }


@each_recording
async def test_there_is_a_way_up_with_traffic_and_a_way_back(
    recording: Path, tmp_path: Path, postgres: Postgres, tell: Callable[[str], None]
) -> None:
    """The old program makes a backup, the newest one goes on, the old one refuses what that left, and its backup restores."""
    tree = old_program(recording.parent.name, tmp_path / "tree")
    place = tmp_path / "place"
    place.mkdir()
    database = await restored(recording, place, postgres)
    journal = str(place / "telegram.jsonl")
    async with spawned("tests.fakes.telegram", "--port", "0", "--journal", journal) as (_, telegram):
        driver = Driver(telegram)
        given = settings(telegram, BOT, database) + SOON
        old = House(place, given, command=RUN, variables={"PYTHONPATH": str(tree)})
        made = await asyncio.to_thread(old.command, "backup", str(tmp_path / "before.zip"))
        assert made.returncode == 0, made.stderr
        new = House(place, given)
        await goes_up(new, driver)
        before = digest(new.data)
        refused = await asyncio.to_thread(old.command, "run", "--port", "0")
        assert refused.returncode == FAILED, refused.stderr
        assert "newer than this program" in refused.stderr
        assert digest(new.data) == before, "a refused start touches nothing"
        await goes_back(old, given, database, tmp_path, postgres, driver)
    tell(f"{recording.parent.name} {recording.name}: {refused.stderr.strip().splitlines()[-1]}")


async def goes_up(new: House, driver: Driver) -> None:
    try:
        await asyncio.to_thread(new.start)
        async with visiting(new.link) as visitor:
            await the_open_question_is_answered(visitor)
        await everything_is_shown_once(driver)
        await traffic(driver, 0)
        await what_it_keeps_is_whole(new)
        assert await asyncio.to_thread(new.leave) == 0
    finally:
        await asyncio.to_thread(new.kill)


async def goes_back(old: House, given: str, database: str, folder: Path, postgres: Postgres, driver: Driver) -> None:
    """A database of a server is never overwritten: there it is an empty one beside it."""
    if database:
        (old.folder / "signalbox.toml").write_text(given.replace(database, postgres.create_database()))
    ended = await asyncio.to_thread(old.command, "restore", "--force", str(folder / "before.zip"))
    assert ended.returncode == 0, ended.stderr
    try:
        await asyncio.to_thread(old.start)
        await traffic(driver, MESSAGES)
        assert await asyncio.to_thread(old.leave) == 0
    finally:
        await asyncio.to_thread(old.kill)
