"""The clock: is it kept right, does it agree with the database, and are time zones known."""

from __future__ import annotations

import asyncio
import ctypes
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import quote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.doctor.subject import REACH, Subject, fault, fine, warning
from runtime.contract import Finding
from runtime.errors import StoreError

DRIFT: Final = timedelta(seconds=2)
UNSYNCHRONISED: Final = 5  # TIME_ERROR of adjtimex(2)
WHY_CLOCK: Final = "Expiries, schedules and reports follow the clock."


async def check_clock(subject: Subject) -> Sequence[Finding]:
    found = [*_kept_right(), *_zones()]
    url = subject.settings.database_url
    if (file := subject.settings.database_file) is not None:
        found += await asyncio.to_thread(lambda: list(_ahead_of_rows(file)))
    elif url.startswith("postgresql://"):
        found += await _against_server(url)
    return found


def _kept_right() -> Iterator[Finding]:
    """Finding about whoever sets the kernel's clock."""
    now = f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"
    if sys.platform != "linux":
        yield fine("clock.kept", now)
        return
    state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512))  # all zero: it only reads
    if state == UNSYNCHRONISED:
        yield warning("clock.kept", f"{now}; not synchronised", WHY_CLOCK, "timedatectl set-ntp true, or run chrony")
    else:
        yield fine("clock.kept", f"{now}, synchronised")


def _zones() -> Iterator[Finding]:
    try:
        ZoneInfo("Europe/Berlin")
    except ZoneInfoNotFoundError:
        yield fault("clock.zones", "there is no time zone data", WHY_CLOCK, "pip install tzdata")


def _ahead_of_rows(file: Path) -> Iterator[Finding]:
    """A clock that was set back is behind what it wrote itself."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)) as database:
            row = database.execute("SELECT max(received_at) FROM signals").fetchone()
    except sqlite3.Error:  # no database yet, or none at all: that is the store's finding
        return
    newest = datetime.fromtimestamp(row[0] / 1_000_000, UTC) if row and row[0] else None
    if newest and newest - datetime.now(UTC) > DRIFT:
        what = f"it is behind the newest message, of {newest:%Y-%m-%d %H:%M:%S} UTC"
        yield warning("clock.database", what, WHY_CLOCK, "correct it: timedatectl set-ntp true")


async def _against_server(url: str) -> Sequence[Finding]:
    """Measured as half-way through the question."""
    from runtime.store.sql.postgres import open_pool

    try:
        async with asyncio.timeout(REACH.total_seconds()):
            pool = await open_pool(url)
    except (StoreError, TimeoutError):  # that is the store's finding
        return []
    try:
        before = datetime.now(UTC)
        theirs: datetime = await pool.fetchval("SELECT clock_timestamp()")
        after = datetime.now(UTC)
    finally:
        await pool.close()
    drift = theirs - (before + (after - before) / 2)
    what = f"{abs(drift).total_seconds():.1f} s {'behind' if drift > timedelta() else 'ahead of'} the database's"
    if abs(drift) <= DRIFT:
        return [fine("clock.database", "agrees with the database's")]
    return [warning("clock.database", what, "Leases and expiries follow the database's.", "timedatectl set-ntp true")]
