"""A disk that hangs: nobody waits for it on the event loop's thread where it is known, and else it is told why all stands."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from runtime.store.sql import sqlite
from runtime.store.sql.driver import Op
from runtime.store.sql.health import DiskWatch
from runtime.store.sql.sqlite import SqliteDriver, connect

ONE = text("SELECT 1")


def where() -> Op[str]:
    """The thread that reads."""
    yield ONE, {}
    return threading.current_thread().name


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[SqliteDriver]:
    path = str(tmp_path / "a.db")
    opened = SqliteDriver(path, connect(path))
    yield opened
    await opened.close()


@pytest.mark.parametrize("stuck", ["write", "read"])
async def test_while_a_thread_waits_for_the_disk_nobody_reads_on_that_of_the_loop(
    driver: SqliteDriver, stuck: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "STUCK_AFTER", 0.01)
    entered, hangs = threading.Event(), threading.Event()

    def waits() -> Op[None]:
        entered.set()
        hangs.wait(20)
        yield ONE, {}

    assert await driver.read(where, is_brief=True) == threading.current_thread().name
    async with asyncio.TaskGroup() as group:
        group.create_task(driver.write(waits) if stuck == "write" else driver.read(waits))
        await asyncio.to_thread(entered.wait, 20)
        await asyncio.sleep(0.02)
        reading = group.create_task(driver.read(where, is_brief=True))
        await asyncio.sleep(0.02)
        assert stuck == "write" or not reading.done(), "it waits for the one that reads"
        hangs.set()
    assert reading.result() == "store-reader"
    assert await driver.read(where, is_brief=True) == threading.current_thread().name


async def test_a_read_on_the_loops_thread_that_hangs_is_told_while_all_stands(
    driver: SqliteDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "DiskWatch", partial(DiskWatch, after=timedelta(seconds=0.02)))

    def hangs() -> Op[list[str]]:
        ends_at = time.monotonic() + 20
        while not logs and time.monotonic() < ends_at:
            time.sleep(0.01)
        yield ONE, {}
        return [log["event"] for log in logs]

    with capture_logs() as logs:
        assert await driver.read(hangs, is_brief=True) == ["the disk hangs"]
        async with asyncio.timeout(20):
            while len(logs) < 2:  # noqa: ASYNC110 - another thread tells it
                await asyncio.sleep(0.01)
    assert [log["event"] for log in logs] == ["the disk hangs", "the disk answers again"]
