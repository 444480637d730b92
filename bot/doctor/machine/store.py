"""The database: is it reachable, whole, as we know it, and is its log kept short. It is read, never written."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from statistics import median
from typing import Any, Final
from urllib.parse import quote

from bot.doctor.machine.place import size
from bot.doctor.subject import REACH, Subject, fault, fine, warning
from runtime.contract import Finding, Level
from runtime.errors import StoreError
from runtime.store.schema import CONTRACTS, REVISION
from runtime.store.sql.full_text import trigram_statements
from runtime.store.sql.sqlite import explain
from runtime.store.upgrade import CONTRACTS_MADE, CURRENT, NOT_OURS
from runtime.store.window import is_newer

LONGEST_LOOK: Final = timedelta(seconds=15)  # for the check of all pages; a large database is not read to its end
LONG_LOG: Final = 256 << 20  # bytes
OLDEST_SERVER: Final = 130_000  # 13.0: older ones are no longer mended by their makers
SLOW_ANSWER: Final = timedelta(milliseconds=20)
WHY_STORE: Final = "Without its database, Signalbox accepts nothing."
WRITABLE: Final = "promote it (pg_ctl promote), or point database_url at the server that takes writes"
WRITES: Final = (
    "SELECT pg_is_in_recovery(), current_setting('transaction_read_only'), current_setting('synchronous_standby_names'), "
    "current_setting('synchronous_commit'), EXISTS (SELECT FROM pg_stat_replication), EXISTS (SELECT FROM pg_stat_activity "
    "WHERE wait_event = 'SyncRep' AND clock_timestamp() - state_change > interval '1 s')"
)
UNCONFIRMED_FIX: Final = (
    "start that standby, or on this server: ALTER SYSTEM SET synchronous_standby_names = ''; SELECT pg_reload_conf()"
)
SAVE: Final = "put it back, or save what the process still has: signalbox backup FILE. Then stop it, and: signalbox restore --force FILE"


async def check_store(subject: Subject) -> Sequence[Finding]:
    settings = subject.settings
    if (file := settings.database_file) is not None:
        if subject.control is not None and not file.exists():
            return [fault("store.reachable", f"{file} was removed while the process was using it", WHY_STORE, SAVE)]
        return await asyncio.to_thread(lambda: list(_embedded(file)))
    if settings.database_url.startswith("postgresql://"):
        found = await _server(settings.database_url)
        reached = all(finding.level is not Level.ERROR for finding in found)
        return [*found, await _notices(settings.database_url, settings.listen_url)] if reached else found
    why = "Everything is lost when the process ends."
    return [warning("store.reachable", "the database is in memory", why, "leave database_url out, or name a file")]


# ------------------------------------------------------------------------------------------------------------- SQLite


def _embedded(file: Path) -> Iterator[Finding]:
    if not file.exists():
        yield fine("store.reachable", f"{file} will be made at the first start")
        return
    try:
        with closing(_reading(file)) as database:
            yield from _facts(file, database)
    except sqlite3.Error as error:
        yield fault(
            "store.reachable",
            str(explain(error, str(file))),
            WHY_STORE,
            "restore a backup (signalbox restore), or set data_dir",
        )
    if not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK | os.X_OK)):
        yield fault("store.writable", f"{file} is not writable", WHY_STORE, f"chown or chmod {file} and its folder")


def _reading(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, isolation_level=None)
    database.execute("PRAGMA busy_timeout = 2000")
    return database


def _facts(file: Path, database: sqlite3.Connection) -> Iterator[Finding]:
    revision = _revision(database)
    yield fine("store.reachable", f"{file}, {size(file.stat().st_size)}, SQLite {sqlite3.sqlite_version}")
    yield _of_revision(revision)
    yield _whole(database)
    mode = str(database.execute("PRAGMA journal_mode").fetchone()[0])
    if mode != "wal":
        why = "Reads and writes block each other."
        yield warning("store.log", f"its journal is {mode}", why, "start Signalbox once: it sets WAL")
    log = file.with_name(f"{file.name}-wal")
    if log.exists() and log.stat().st_size > LONG_LOG:
        why = "Something keeps an old view of the database open, so the log keeps growing."
        yield warning("store.log", f"{log} has {size(log.stat().st_size)}", why, f"find what reads it: fuser {file}")


def _revision(database: sqlite3.Connection) -> str:
    try:
        row = database.execute(CURRENT).fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return ""
    return str(row[0]) if row else ""


def _of_revision(revision: str, *, server: bool = False, contracts: Sequence[str] = ()) -> Finding:
    if revision == REVISION:
        return fine("store.revision", f"its schema is up to date ({revision})")
    if not revision or revision < REVISION:
        return fine(
            "store.revision", f"its schema will be upgraded at the next start ({revision or 'none'} to {REVISION})"
        )
    if server and is_newer(revision) and not set(contracts) - set(CONTRACTS):
        what = f"its schema ({revision}) is newer than this program's ({REVISION}), which still works on it"
        return warning("store.revision", what, "A newer node upgraded it.", "upgrade this one too")
    why = "It was written by a newer Signalbox; this one does not touch it."
    return fault("store.revision", f"its schema is {revision}", why, "install the newer version, or restore a backup")


def _whole(database: sqlite3.Connection) -> Finding:
    """Finding about the database: do its pages are consistent?"""
    until = time.monotonic() + LONGEST_LOOK.total_seconds()
    database.set_progress_handler(lambda: int(time.monotonic() > until), 100_000)
    try:
        told = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError as error:
        if "interrupted" not in str(error):
            raise
        return fine("store.whole", f"no damage found within {LONGEST_LOOK.total_seconds():g} s; the rest was not read")
    finally:
        database.set_progress_handler(None, 0)
    if told == "ok":
        return fine("store.whole", "its pages are consistent")
    why = "Damaged data can't be read, and more may follow."
    return fault(
        "store.whole", f"it is damaged: {told}", why, "stop Signalbox, then restore a backup: signalbox restore"
    )


# --------------------------------------------------------------------------------------------------------- PostgreSQL


async def _server(url: str) -> Sequence[Finding]:
    from runtime.store.sql.postgres import open_pool  # asyncpg is not loaded for an embedded store

    try:
        async with asyncio.timeout(REACH.total_seconds()):
            pool = await open_pool(url)
    except StoreError as error:
        return [fault("store.reachable", str(error), WHY_STORE, _way_to(error))]
    except TimeoutError:
        what = f"the database does not answer within {REACH.total_seconds():g} s"
        return [fault("store.reachable", what, WHY_STORE, "start the database, or fix database_url")]
    try:
        async with pool.acquire() as connection:
            return [
                _of_server(connection),
                *await _of_writes(connection),
                *_of_pooler(connection),
                await _of_server_revision(connection),
                await _latency(connection),
                *await _letters(connection),
            ]
    finally:
        await pool.close()


def _way_to(error: StoreError) -> str:
    """Advice about a database that takes no connection of ours."""
    from runtime.store.sql.wire.database_errors import MORE_ROOM, is_crowded

    return MORE_ROOM if error.__cause__ and is_crowded(error.__cause__) else "start the database, or fix database_url"


async def _notices(url: str, listen_url: str) -> Finding:
    """Finding about notices: would processes on this server hear each other?"""
    from runtime.store.sql.telling import trouble

    found = await trouble(url, listen_url)
    if found is None:
        return fine("store.notices", "its processes can notify each other")
    reason, fix = found
    why = "Each process then checks for changes four times a second, and a stop takes effect only at the next step."
    return warning("store.notices", f"its processes can't notify each other: {reason}", why, fix)


def _of_server(connection: Any) -> Finding:
    version = connection.get_server_version()
    words = f"PostgreSQL {version.major}.{version.micro}"  # asyncpg reads 15.18 as 15.0.18, which it has been since 10
    if version.major * 10_000 >= OLDEST_SERVER:
        return fine("store.reachable", words)
    return warning("store.reachable", words, "It's no longer maintained.", "upgrade it to 13 or newer")


async def _of_writes(connection: Any) -> Sequence[Finding]:
    """Finding about a server that takes no writes, or that may lose those it has confirmed; none where all is well."""
    standby, reading, names, commit, followers, waits = await connection.fetchrow(WRITES)
    if standby or reading == "on":
        what = "it's a standby" if standby else "it was set to be read-only"
        return [fault("store.writable", f"{what} and takes no writes", WHY_STORE, WRITABLE)]
    if commit == "off":
        what, fix = "it confirms writes before they are on its disk", "set synchronous_commit = on there"
        return [warning("store.confirmed", what, "A crash of it loses accepted messages.", fix)]
    if waits or (names and commit != "local" and not followers):
        what = f"its writes wait for a standby that confirms nothing (synchronous_standby_names = '{names}')"
        return [fault("store.writable", what, WHY_STORE, UNCONFIRMED_FIX)]
    if followers and not names:
        why = "If it takes over, the last accepted messages and steps may be missing."
        fix = "set synchronous_standby_names on the server, or don't let the standby take over by itself"
        return [warning("store.confirmed", "a standby follows it with a delay", why, fix)]
    return []


def _of_pooler(connection: Any) -> Sequence[Finding]:
    if connection.keeps:
        return []
    words = "a pooler is in front of it that gives a connection to each transaction, so no statement is kept prepared"
    return [fine("store.pooler", words)]


async def _of_server_revision(connection: Any) -> Finding:
    revision, made = await _server_revision(connection), []
    if await connection.fetchval("SELECT to_regclass('schema_contracts')"):
        made = [row[0] for row in await connection.fetch(CONTRACTS_MADE)]
    elif revision and is_newer(revision):
        why = "Signalbox would write into what isn't its own, so it doesn't start."
        return fault("store.revision", NOT_OURS.format(revision=revision), why, "name a database of its own")
    return _of_revision(revision, server=True, contracts=made)


async def _server_revision(connection: Any) -> str:
    there = await connection.fetchval("SELECT to_regclass('alembic_version')")
    return str(await connection.fetchval(CURRENT) or "") if there else ""


async def _letters(connection: Any) -> Sequence[Finding]:
    """Finding about a server without the extension for parts of words; none where it has it."""
    if await connection.fetchval("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'"):
        return []
    why = "A part of a word is found by reading each memory of a scope, which takes longer."
    fix = "as a superuser of that database: " + "; ".join(["CREATE EXTENSION pg_trgm", *trigram_statements()])
    return [warning("store.letters", "it has no pg_trgm", why, fix)]


async def _latency(connection: Any) -> Finding:
    took = []
    for _ in range(5):
        began = time.perf_counter()
        await connection.fetchval("SELECT 1")
        took.append(time.perf_counter() - began)
    middle = timedelta(seconds=median(took))
    what = f"it answers in {middle.total_seconds() * 1000:.1f} ms"
    if middle <= SLOW_ANSWER:
        return fine("store.latency", what)
    return warning(
        "store.latency", what, "Each message waits for about a dozen answers.", "move Signalbox closer to its database"
    )
