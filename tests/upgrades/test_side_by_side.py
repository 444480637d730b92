"""The release before beside this program on one database, while it is upgraded under traffic: nothing is lost or repeated.

What is planted into a copy of this program is what its next version may bring: a revision that adds, and one that takes away.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tarfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from runtime.store.contracting import WAITS
from runtime.store.schema import REVISION
from runtime.store.upgrade import NEWER_SCHEMA
from tests.e2e.house import House
from tests.e2e.visitor import until
from tests.fakes.postgres import Postgres
from tests.fakes.serve import ROOT, spawned
from tests.fakes.telegram import TOKEN as BOT
from tests.fakes.telegram_driver import Driver
from tests.upgrades.story import settings

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]

PROGRAMS: Final = Path(__file__).parent / "programs"
FOLDERS: Final = ("adapters", "bot", "config", "runtime", "signalbox", "tools")
ADDS: Final = f'''
import sqlalchemy as sa
from alembic import op

revision = "9000"
down_revision = "{REVISION}"


def upgrade() -> None:
    for table in ("signals", "runs", "deliveries", "parts", "nodes"):
        op.add_column(table, sa.Column("planted", sa.Text(), nullable=False, server_default=""))
    op.create_table("planted", sa.Column("id", sa.Text(), primary_key=True))
'''
TAKES: Final = '''
from alembic import op

revision = "9001"
down_revision = "9000"


def upgrade() -> None:
    """Nothing yet: an older program may be at work."""


def contract() -> None:
    op.drop_column("nodes", "planted")
'''
CHATS: Final = tuple(range(41, 47))
SWIFT: Final = "messages_per_second = 1000\n[nodes]\nlease_seconds = 6\n[outbox]\nsettle_first_seconds = 1\nsettle_second_seconds = 2\n"
"""More of the account, and after it."""
WHILE: Final = 2.0  # seconds of traffic in each state
PACE: Final = 0.25  # seconds between two messages of all chats together


def older() -> Path:
    """The newest program that is kept."""
    return max(PROGRAMS.glob("*.tar.xz"))


def unpacked(into: Path) -> Path:
    with tarfile.open(older(), "r:xz") as archive:
        archive.extractall(into, filter="data")
    return into


def planted(into: Path) -> Path:
    """This program as its next version may be."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, into / name, ignore=shutil.ignore_patterns("__pycache__"))
    versions = into / "runtime" / "store" / "migrations" / "versions"
    (versions / "9000_planted.py").write_text(ADDS)
    (versions / "9001_planted.py").write_text(TAKES)
    schema, contracting = into / "runtime/store/schema.py", into / "runtime/store/contracting.py"
    replace(schema, f'REVISION: Final = "{REVISION}"', 'REVISION: Final = "9001"')
    replace(schema, "CONTRACTS: Final[tuple[str, ...]] = ()", 'CONTRACTS: Final[tuple[str, ...]] = ("9001",)')
    replace(contracting, "timedelta(seconds=30)", "timedelta(seconds=1)")
    return into


def replace(file: Path, words: str, others: str) -> None:
    text = file.read_text()
    assert words in text
    file.write_text(text.replace(words, others))


class Traffic:
    """People in several chats, each of whom says the next thing whether or not the last was answered."""

    def __init__(self, driver: Driver) -> None:
        self.said: list[tuple[int, str]] = []
        self._driver = driver

    async def run(self) -> None:
        while True:
            chat, words = CHATS[len(self.said) % len(CHATS)], f"line{len(self.said):04d}x"
            self.said.append((chat, words))
            await self._driver.say(words, chat=chat, user=chat)
            await asyncio.sleep(PACE)

    async def is_answered(self) -> bool | None:
        return all(await self.counts()) or None

    async def counts(self) -> Sequence[int]:
        shown = {chat: await self._driver.texts(chat) for chat in CHATS}
        return [sum(words in text for text in shown[chat]) for chat, words in self.said]


@asynccontextmanager
async def alive(house: House) -> AsyncIterator[House]:
    await asyncio.to_thread(house.start)
    try:
        yield house
    finally:
        await asyncio.to_thread(house.kill)  # it may have left, and has its output closed


def home(folder: Path, program: Path, told: str) -> House:
    folder.mkdir()
    return House(folder, told, variables={"PYTHONPATH": str(program)})


async def test_the_release_before_and_this_one_work_side_by_side_until_the_schema_lets_go(
    postgres: Postgres, tmp_path: Path
) -> None:
    url, before, after = postgres.create_database(), unpacked(tmp_path / "before"), planted(tmp_path / "after")
    connection = await asyncpg.connect(url)
    async with spawned("tests.fakes.telegram", "--port", "0", "--journal", str(tmp_path / "telegram.jsonl")) as (
        _,
        telegram,
    ):
        told = settings(telegram, BOT, url) + SWIFT
        old, again, new = (
            home(tmp_path / name, at, told) for name, at in (("old", before), ("again", before), ("new", after))
        )
        traffic = Traffic(Driver(telegram))
        async with alive(old), asyncio.TaskGroup() as group:
            talking = group.create_task(traffic.run())
            await until(traffic.is_answered, "answers of the old program")
            async with alive(new), alive(again):  # the old program is started once more, on the newer schema
                assert NEWER_SCHEMA in again.log()
                rows = await nodes(new)
                assert [row["schema"] for row in rows] == [REVISION, "9001", REVISION]
                await asyncio.sleep(WHILE)
                assert await asyncio.to_thread(old.leave) == 0
                await asyncio.sleep(WHILE)
                assert WAITS in new.log()
                assert await columns(connection) == 1
                drained = await asyncio.to_thread(new.command, "nodes", "drain", rows[0]["id"], "--wait")
                assert drained.returncode == 0, drained.stderr
                assert await asyncio.to_thread(again.process.wait, 30) == 0
                await until(lambda: gone(connection), "the contract", seconds=20)
                await asyncio.sleep(WHILE)
                talking.cancel()
                await until(traffic.is_answered, "an answer to everything", seconds=60)
                assert set(await traffic.counts()) == {1}
                with pytest.raises(RuntimeError, match="newer than this program: revision 9001 took away"):
                    await asyncio.to_thread(old.start)
                assert await asyncio.to_thread(new.leave) == 0
    await connection.close()


async def nodes(house: House) -> list[Any]:
    """Live ones, the newest first."""
    listed = await asyncio.to_thread(house.command, "nodes", "list", "--json")
    assert listed.returncode == 0, listed.stderr
    return [row for row in json.loads(listed.stdout) if row["state"] == "live"]


async def columns(connection: Any) -> int:
    found = "SELECT count(*) FROM information_schema.columns WHERE table_name = 'nodes' AND column_name = 'planted'"
    return int(await connection.fetchval(found))


async def gone(connection: Any) -> bool | None:
    return await columns(connection) == 0 or None
