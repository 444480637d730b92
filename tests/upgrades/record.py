"""Records what a program of some day leaves behind when it is killed: databases, data folder, and what Telegram shows.

    python -m tests.upgrades.record FOLDER

Run in the tree of that day (see README.md). FOLDER gets `sqlite/` and `postgres/`, each with `database.sql.gz`,
`telegram.jsonl` (the journal of the fake platform) and the files of the data folder that outlive a process.
"""

from __future__ import annotations

import asyncio
import gzip
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Final

import asyncpg

from tests.e2e.house import House
from tests.e2e.visitor import Visitor, until, visiting
from tests.fakes.postgres import Postgres
from tests.fakes.serve import spawned
from tests.fakes.telegram import TOKEN as BOT
from tests.fakes.telegram_driver import Driver
from tests.fakes.telegram_faults import Do
from tests.upgrades.story import (
    ANSWERED,
    ASKED,
    CUT_AFTER,
    CUT_BEFORE,
    KNOWN,
    OWNER_LINK,
    RUN_BEFORE,
    SCHEDULE,
    WAITING,
    settings,
    words,
)

FOREVER: Final = 4_102_444_800_000_000  # microseconds: the year 2100, so that an open question outlives the calendar
PASSING: Final = {"lock", "control.json", "workspaces", "signalbox.db", "signalbox.db-wal", "signalbox.db-shm"}
"""Files of the data folder that a recording does not need: of a live process, or in the dump."""

Select = Callable[[str], Any]


async def play(visitor: Visitor, driver: Driver, select: Select) -> None:
    """Everything that shall be found later. At the end two sends are in doubt and one waits."""
    await visitor.ask(ANSWERED, "hello")
    await visitor.ask(ANSWERED, SCHEDULE)
    ran = await visitor.question(RUN_BEFORE, "write hello to notes.txt")
    await visitor.click(RUN_BEFORE, ran, "approve")
    await visitor.told(RUN_BEFORE)
    await visitor.question(ASKED, "write later to later.txt")
    await driver.say(words(KNOWN), chat=KNOWN, user=KNOWN)
    await until(lambda: shown(driver, KNOWN), "an answer on Telegram")
    await driver.fault(Do.ERROR, count=1000, chat=WAITING)
    await driver.say(words(WAITING), chat=WAITING, user=WAITING)
    await until(lambda: found(select, "SELECT count(*) FROM parts WHERE attempts > 1"), "a second try")
    await driver.lift()
    await driver.fault(Do.CUT_BEFORE, chat=CUT_BEFORE)
    await driver.say(words(CUT_BEFORE), chat=CUT_BEFORE, user=CUT_BEFORE)
    await until(lambda: found(select, "SELECT count(*) FROM parts WHERE state = 'unsettled'"), "a part in doubt")
    await driver.fault(Do.CUT_AFTER, chat=CUT_AFTER)
    await driver.say(words(CUT_AFTER), chat=CUT_AFTER, user=CUT_AFTER)
    await until(lambda: found(select, "SELECT count(*) / 2 FROM parts WHERE state = 'unsettled'"), "two parts in doubt")


async def shown(driver: Driver, chat: int) -> bool | None:
    return bool(await driver.texts(chat)) or None


async def found(select: Select, statement: str) -> int | None:
    return int(await select(statement)) or None


@asynccontextmanager
async def recorded(folder: Path, out: Path, database: str, select: Select) -> AsyncIterator[None]:
    """Play in `folder`, kill the program, and keep its files in `out`; the database is left to the block."""
    journal = out / "telegram.jsonl"
    async with spawned("tests.fakes.telegram", "--port", "0", "--journal", str(journal)) as (_, telegram):
        house = await asyncio.to_thread(House(folder, settings(telegram, BOT, database)).start)
        try:
            async with visiting(house.link or house.url + OWNER_LINK) as visitor:
                await play(visitor, Driver(telegram), select)
        finally:
            await asyncio.to_thread(house.kill)
    keep_files(house.data, out)
    yield


def keep_files(data: Path, out: Path) -> None:
    for path in data.iterdir():
        if path.name not in PASSING and path.is_file():
            shutil.copy2(path, out / path.name)


async def record_sqlite(folder: Path, out: Path) -> None:
    file = folder / "var" / "signalbox.db"

    async def select(statement: str) -> Any:
        with closing(sqlite3.connect(file)) as raw:
            return raw.execute(statement).fetchone()[0]

    async with recorded(folder, out, "", select):
        with closing(sqlite3.connect(file)) as raw:
            raw.execute("UPDATE approvals SET expires_at = ? WHERE state = 'pending'", (FOREVER,))
            keep(out, "\n".join(raw.iterdump()))


async def record_postgres(folder: Path, out: Path, server: Postgres) -> None:
    url = server.create_database()
    connection = await asyncpg.connect(url)
    try:
        async with recorded(folder, out, url, connection.fetchval):
            await connection.execute("UPDATE approvals SET expires_at = $1 WHERE state = 'pending'", FOREVER)
            keep(out, dumped(server, url))
    finally:
        await connection.close()


def dumped(server: Postgres, url: str) -> str:
    """As statements alone: what a client other than psql can carry out."""
    command = [str(server.programs / "pg_dump"), "--inserts", "--no-owner", "--no-privileges", "--no-comments", url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return "\n".join(line for line in text.splitlines() if not line.startswith("\\"))


def keep(out: Path, text: str) -> None:
    with gzip.GzipFile(out / "database.sql.gz", "wb", mtime=0) as file:
        file.write(text.encode())


def main(out: Path) -> None:
    """Errors: FileExistsError where something is recorded already."""
    for engine in ("sqlite", "postgres"):
        (out / engine).mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(record_sqlite(Path(folder), out / "sqlite"))
    with tempfile.TemporaryDirectory() as folder, Postgres() as server:
        asyncio.run(record_postgres(Path(folder), out / "postgres", server))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
