"""The newest program goes on where a killed old one left off: nothing is lost, nothing repeated, no question forgotten."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import asyncpg
import pytest
from sqlalchemy import text

from bot.operator.audit import verify
from bot.wiring.safety.scan import GuardScan
from runtime.audit.anchor import HeadFile
from runtime.domain.approvals import ApprovalState
from runtime.domain.runs import RunState
from runtime.guard.door import OPEN_DOOR
from runtime.store.operations.text_columns import scanned_tables
from runtime.store.sql.driver import Op, Rows
from runtime.store.store import Store, open_store
from tests.e2e.house import House
from tests.e2e.visitor import Visitor, approval_of, until, visiting
from tests.fakes.postgres import Postgres
from tests.fakes.serve import spawned
from tests.fakes.telegram import TOKEN as BOT
from tests.fakes.telegram_driver import Driver
from tests.unit.guard.secrets import SECRETS
from tests.upgrades.story import ANSWERED, ASKED, CUT_AFTER, CUT_BEFORE, KNOWN, WAITING, settings, words

RECORDINGS: Final = Path(__file__).parent / "recordings"
SOON: Final = "[outbox]\nsettle_first_seconds = 1\nsettle_second_seconds = 2\n"
"""What was cut was cut long ago: nothing is applied any more."""
TOLD: Final = (KNOWN, WAITING, CUT_BEFORE, CUT_AFTER)


def recordings() -> list[Path]:
    """A folder for each old program and engine."""
    return sorted(file.parent for file in RECORDINGS.glob("*/*/database.sql.gz"))


async def restored(recording: Path, folder: Path, postgres: Postgres) -> str:
    """Put a recording where the program looks; the database's URL, empty for the embedded one."""
    statements = gzip.decompress((recording / "database.sql.gz").read_bytes()).decode()
    data = folder / "var"
    shutil.copytree(recording, data, ignore=shutil.ignore_patterns("database.sql.gz", "telegram.jsonl"))
    shutil.copy2(recording / "telegram.jsonl", folder / "telegram.jsonl")
    (data / "audit.key").chmod(0o600)  # git keeps no such mode
    if recording.name == "sqlite":
        with closing(sqlite3.connect(data / "signalbox.db")) as raw:
            raw.executescript(statements)
        return ""
    url = postgres.create_database()
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statements)
    finally:
        await connection.close()
    return url


each_recording = pytest.mark.parametrize("recording", recordings(), ids=lambda path: f"{path.parent.name}-{path.name}")


@each_recording
async def test_a_run_that_was_parked_waits_for_its_question_from_then_on(
    recording: Path, tmp_path: Path, postgres: Postgres
) -> None:
    database = await restored(recording, tmp_path, postgres)
    store = await open_store(database or f"sqlite:///{tmp_path / 'var' / 'signalbox.db'}")
    (asked,) = await store.approvals.approvals(state=ApprovalState.PENDING)
    (parked,) = await store.operations.runs(state=RunState.PARKED)
    found = await store.driver.read(waits_of_all)
    await store.close()
    assert found == [(parked.id, asked.step, "approval", asked.id, None)]


@each_recording
async def test_secrets_that_an_old_program_kept_are_cleaned_away(
    recording: Path, tmp_path: Path, postgres: Postgres
) -> None:
    """Conversations have a secret where they have the word of the story."""
    database = await restored(recording, tmp_path, postgres)
    store = await open_store(database or f"sqlite:///{tmp_path / 'var' / 'signalbox.db'}")
    before = await store.approvals.approvals(state=ApprovalState.PENDING)
    await store.driver.write(with_a_secret)
    assert (await scanned(store))[1] > 0
    redacted, _ = await scanned(store, redact=True)
    assert redacted > 0
    assert (await scanned(store))[1] == 0
    assert [one.id for one in await store.approvals.approvals(state=ApprovalState.PENDING)] == [
        one.id for one in before
    ]
    head = HeadFile(tmp_path / "var").read
    assert (await verify(store.audit, head))["whole"]
    await store.close()


def with_a_secret() -> Op[None]:
    for column in ("signals.text", "turns.text", "deliveries.content", "parts.body"):
        table, name = column.split(".")
        change = f"UPDATE {table} SET {name} = replace({name}, 'hello', :s)"
        yield text(change), {"s": SECRETS["github"][1]}


async def scanned(store: Store, *, redact: bool = False) -> tuple[int, int]:
    """Rows that were redacted, and findings."""
    scan, redacted, found = GuardScan(store.texts, lambda: OPEN_DOOR), 0, 0
    for table in scanned_tables():
        page = await scan.page(table, redact=redact)
        redacted += page.redacted
        found += sum(page.told.values())
    return redacted, found


def waits_of_all() -> Op[Rows]:
    return (yield text("SELECT run_id, step, kind, subject, settled_at FROM waits"), {})


@pytest.mark.timeout(180)
@each_recording
async def test_a_newer_program_goes_on_where_an_old_one_was_killed(
    recording: Path, tmp_path: Path, postgres: Postgres
) -> None:
    database = await restored(recording, tmp_path, postgres)
    journal = str(tmp_path / "telegram.jsonl")
    async with spawned("tests.fakes.telegram", "--port", "0", "--journal", journal) as (_, telegram):
        house = House(tmp_path, settings(telegram, BOT, database) + SOON)
        try:
            await asyncio.to_thread(house.start)
            async with visiting(house.link) as visitor:
                await the_open_question_is_answered(visitor)
                assert "hello" in (await visitor.replies(ANSWERED))[0]
            await everything_is_shown_once(Driver(telegram))
            await what_it_keeps_is_whole(house)
        finally:
            await asyncio.to_thread(house.kill)


async def the_open_question_is_answered(visitor: Visitor) -> None:
    (card,) = await visitor.cards(ASKED)
    await visitor.click(ASKED, approval_of(card), "approve")
    assert any("later.txt" in reply for reply in await visitor.told(ASKED))


async def everything_is_shown_once(driver: Driver) -> None:
    async def counts() -> dict[int, int]:
        return {chat: sum(words(chat) in text for text in await driver.texts(chat)) for chat in TOLD}

    async def none_misses() -> bool | None:
        return all((await counts()).values()) or None

    await until(none_misses, "what waited and what was in doubt on Telegram", seconds=90)
    assert await counts() == dict.fromkeys(TOLD, 1)


async def what_it_keeps_is_whole(house: House) -> None:
    listed = await asyncio.to_thread(house.command, "schedules", "list", "--json")
    assert [row["name"] for row in json.loads(listed.stdout)] == ["list the files"]
    verified = await asyncio.to_thread(house.command, "audit", "verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
