"""SQLite: one writer thread with optimistic group commit, and one reader thread beside it; a few rows are read without any.

Waiting operations run in one transaction without savepoints. If one raises, the batch is rolled back and replayed one
operation a transaction, so that only the guilty one fails. All waiters are woken by one call into the event loop.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from contextvars import Context, copy_context
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic, perf_counter, sleep
from typing import Any, Final

from sqlalchemy import Executable
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

from runtime.contract import Now, steady
from runtime.errors import StoreError, Trouble
from runtime.store.sql.driver import (
    LAST_QUERIES,
    OPERATION_TIMEOUT,
    SEVERAL,
    UNWATCHED,
    WENT_ON,
    Compiler,
    MakeOp,
    Op,
    T,
    Watch,
)
from runtime.store.sql.files import DatabaseFiles
from runtime.store.sql.health import DiskWatch, Health

BATCH: Final = 256
CROWD: Final = 3
"""Operations of one transaction after which the next one waits for more: so many come that others are on their way."""
GATHER: Final = 0.005
"""Seconds that it waits. With fifty chats at once that saves a fifth of a message's processor time; with four, each answer is 5 ms later."""
MEMORY_DATABASE: Final = ":memory:"
LOCK_TIMEOUT: Final = timedelta(seconds=5)
"""How long to wait for a lock of another program."""

SLOW_READ: Final = 0.02
"""Seconds for a read from which on the disk counts as slow: nobody else goes on meanwhile."""
SLOW_DISK_REST: Final = 60.0
"""Seconds for which all reads go to the reader's thread then."""
STUCK_AFTER: Final = 0.25
"""Seconds for which a thread has been at one batch, after which the disk may hang: nobody then reads on the loop's thread."""
CACHE: Final = "PRAGMA cache_size = -256"
"""Kilobytes of pages that are kept; others' commits make them stale."""

IDLE: Final = float("inf")
"""Since when a thread that does nothing is at work."""

Waiter = tuple[MakeOp[Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]", Context]
"""The context is that of the task that waits: a transaction says its words as that task would."""


def system_now() -> datetime:
    return datetime.now(UTC)


def connect(path: str) -> sqlite3.Connection:
    """A connection as every one of ours is set. Errors: StoreError in words."""
    try:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=512)
    except sqlite3.Error as error:
        raise explain(error, path) from error
    try:
        connection.execute(f"PRAGMA busy_timeout = {LOCK_TIMEOUT // timedelta(milliseconds=1)}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # what was removed is overwritten; not all builds do so
        if sys.platform == "darwin":
            connection.execute("PRAGMA fullfsync = 1")  # there, fsync alone does not reach the disk
    except sqlite3.Error as error:
        connection.close()
        raise explain(error, path) from error
    return connection


def explain(error: sqlite3.Error, path: str) -> StoreError:
    """The error in words for the operator, with what mends it."""
    text = str(error)
    if "readonly" in text or "read-only" in text:
        return StoreError(
            f"The database {path} is read-only. Let this user write to the file and its folder.",
            trouble=Trouble.READ_ONLY,
        )
    if "disk is full" in text or "full" in text.split() or "disk I/O" in text:
        return StoreError(
            f"The disk of the database {path} is full or failing ({text}). Nothing was written. Free up space.",
            trouble=Trouble.FULL,
        )
    if "locked" in text or "busy" in text:
        return StoreError(
            f"The database {path} is locked by another program. Stop that one, then try again.", trouble=Trouble.LOCKED
        )
    if "unable to open" in text:
        folder = Path(path).parent
        return StoreError(
            f"The database {path} can't be opened. Does {folder} exist, and may this user write there?",
            trouble=Trouble.AWAY,
        )
    if "not a database" in text or "malformed" in text:
        return StoreError(
            f"The file {path} is not a sound SQLite database ({text}). Restore it from a backup.",
            trouble=Trouble.DAMAGED,
        )
    return StoreError(f"The database {path} answered: {text}")


def drive(connection: sqlite3.Connection, compiler: Compiler, op: Op[T]) -> T:
    """Run one operation's statements on `connection`, inside the transaction that is open."""
    try:
        statement, given = next(op)
        while True:
            several: Any = given["queries"] if statement in SEVERAL else ((statement, given),)
            answers: list[Any] = []
            for one, values in several:
                compiled = compiler(one)
                if compiled.is_lock:  # here one writes at a time, and so has all rows
                    answers.append([])
                    continue
                cursor = connection.execute(compiled.sql, compiled.arguments(values))
                answers.append(cursor.fetchall() if cursor.description else [])
            last = statement is LAST_QUERIES
            statement, given = op.send(answers if statement in SEVERAL else answers[0])
            if last:
                raise RuntimeError(WENT_ON)
    except StopIteration as end:
        result: T = end.value
        return result


@dataclass(frozen=True, slots=True)
class _Failed:
    error: BaseException


class _Worker:
    """A thread that owns one connection and runs what is put into its queue, in order."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        compiler: Compiler,
        path: str,
        *,
        writes: bool,
        watch: Watch = UNWATCHED,
        files: DatabaseFiles | None = None,
    ) -> None:
        self._connection = connection
        self._compiler = compiler
        self._path = path
        self._watch = watch
        self._writes = writes
        self._files = files
        self._begin = "BEGIN IMMEDIATE" if writes else "BEGIN"
        self._closed = False
        self._crowded = False
        self.busy_since = IDLE
        self._queue: SimpleQueue[Waiter | None] = SimpleQueue()
        self._thread = threading.Thread(
            target=self._run, name="store-writer" if writes else "store-reader", daemon=True
        )
        self._thread.start()

    def copy(self, folder: Path) -> Path:
        """All that is in the database, as a new one in `folder`. Call it only while nothing is written."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        target = folder / f"saved-{secrets.token_hex(8)}.db"
        target.touch(mode=0o600)
        with closing(sqlite3.connect(target)) as made:
            self._connection.backup(made)
        return target

    async def submit(self, make: MakeOp[T]) -> T:
        if self._closed:
            raise StoreError("The store is closed: this process is ending.")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put((make, loop, future, copy_context()))
        return await future

    async def close(self) -> None:
        self._closed = True
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        self._connection.close()

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, last = self._gather(first)
            self.busy_since = perf_counter()
            results = self._attempt(batch)
            self.busy_since = IDLE
            self._wake(batch, results)
            if last:
                return

    def _gather(self, first: Waiter) -> tuple[list[Waiter], bool]:
        """Take what waits by now, without waiting longer where few write: a quiet store must not pay for a busy one."""
        batch = [first]
        if self._crowded:
            sleep(GATHER)
        while len(batch) < BATCH:
            try:
                waiter = self._queue.get_nowait()
            except Empty:
                break
            if waiter is None:
                return batch, True
            batch.append(waiter)
        self._crowded = self._writes and len(batch) >= CROWD
        return batch, False

    def _attempt(self, batch: Sequence[Waiter]) -> list[Any]:
        lost = self._files.look() if self._files else None
        if lost and self._writes:  # what is read is still right
            return [_Failed(lost)] * len(batch)
        try:
            return self._transaction(batch)
        except _AllFailed as failed:
            return [_Failed(failed.error)] * len(batch)
        except Exception as error:  # noqa: BLE001 - any operation may have raised anything; each waiter gets its own
            if len(batch) == 1:
                return [_Failed(self._words(error))]
            return [self._attempt([waiter])[0] for waiter in batch]

    def _transaction(self, batch: Sequence[Waiter]) -> list[Any]:
        self._all_or_none(self._begin)
        try:
            results = [context.run(drive, self._connection, self._compiler, make()) for make, _, _, context in batch]
        except BaseException:
            self._rollback()
            raise
        began = perf_counter()
        self._all_or_none("COMMIT")
        self._watch.committed(len(batch), perf_counter() - began)
        return results

    def _all_or_none(self, statement: str) -> None:
        try:
            self._connection.execute(statement)
        except sqlite3.Error as error:
            self._rollback()
            raise _AllFailed(self._words(error)) from error

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _words(self, error: Exception) -> BaseException:
        if not isinstance(error, sqlite3.Error):
            return error
        told = explain(error, self._path)
        told.__cause__ = error
        return told

    def _wake(self, batch: Sequence[Waiter], results: Sequence[Any]) -> None:
        pairs: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
        for (_, loop, future, _), result in zip(batch, results, strict=True):
            pairs.setdefault(loop, []).append((future, result))
        for loop, settled in pairs.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(_settle, settled)


class _AllFailed(Exception):
    """BEGIN or COMMIT failed: every waiter of the batch is told, and none waits for the lock once more."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


def _settle(settled: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, result in settled:
        if future.done():  # its waiter was cancelled; the transaction stands all the same
            continue
        if isinstance(result, _Failed):
            future.set_exception(result.error)
        else:
            future.set_result(result)


def _cut_log(path: str) -> None:
    """Errors: StoreError."""
    try:
        with closing(connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise explain(error, path) from error


class NearReads:
    """A connection for reads of a few rows on the thread that asks for them: the way to another thread and back takes longer, by two
    switches, two calls into the loop, and the interpreter's lock.

    It is made with the first, and has no answer where it would wait for a lock, nor for a while after a disk was slow once.
    A disk that hangs is found by a write or by the reader's thread, nearly always; else `DiskWatch` says why all stands.
    """

    def __init__(
        self,
        path: str,
        compiler: Compiler,
        files: DatabaseFiles,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._path, self._compiler, self._files, self._clock = path, compiler, files, clock
        self._connection: sqlite3.Connection | None = None
        self._watch: DiskWatch | None = None
        self._closed = False
        self._back_at = 0.0

    def read(self, make: MakeOp[T]) -> tuple[T] | None:
        """The answer; None where it is to be asked for on the reader's thread, which has words for what is wrong."""
        began = self._clock()
        if self._closed or began < self._back_at:
            return None
        watch = self._watch = self._watch or DiskWatch(self._path)
        watch.since = perf_counter()
        try:
            connection = self._connection = self._connection or self._made()
            connection.execute("BEGIN")
            try:
                return (drive(connection, self._compiler, make()),)
            finally:
                connection.execute("ROLLBACK")
        except (sqlite3.Error, StoreError):
            self._back_at = began + SLOW_DISK_REST
            return None
        finally:
            watch.since = 0.0
            ended = self._clock()
            if ended - began > SLOW_READ:
                self._back_at = ended + SLOW_DISK_REST

    def close(self) -> None:
        self._closed = True
        if self._watch:
            self._watch.close()
        if self._connection:
            self._connection.close()

    def _made(self) -> sqlite3.Connection:
        """Errors: sqlite3.Error, StoreError."""
        if not self._files.are_in_place():  # else SQLite would make a new one
            raise StoreError("the database is lost")
        connection = connect(self._path)
        if not self._files.are_in_place():  # what was opened just now may be another
            connection.close()
            raise StoreError("the database is lost")
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute(CACHE)
        return connection


class SqliteDriver:
    """`Driver` over one SQLite file, or over memory, whose only connection also serves the reads."""

    def __init__(
        self,
        path: str,
        connection: sqlite3.Connection,
        *,
        now: Now = system_now,
        watch: Watch = UNWATCHED,
        within: timedelta = OPERATION_TIMEOUT,
    ) -> None:
        connection.execute(f"PRAGMA busy_timeout = {min(within, LOCK_TIMEOUT) // timedelta(milliseconds=1)}")
        self.now = now
        self._path = path
        self._watch = watch
        self._compiler = Compiler(SQLiteDialect(paramstyle="qmark"))
        reading = None if path == MEMORY_DATABASE else connect(path)
        self._files = DatabaseFiles(path) if reading else None
        shared = (self._compiler, path)
        self._writer = _Worker(connection, *shared, writes=True, watch=watch, files=self._files)
        self._reader = _Worker(reading, *shared, writes=False, files=self._files) if reading else self._writer
        self._near = NearReads(path, self._compiler, self._files) if self._files else None
        self._health = Health()

    @property
    def trouble(self) -> StoreError | None:
        return (self._files and self._files.trouble) or self._health.trouble

    async def save(self, folder: Path) -> Path | None:
        """A copy of a database whose files are gone, in `folder`; None while they are in their place."""
        if self._files is None or self._files.trouble is None:
            return None
        return await asyncio.to_thread(self._writer.copy, folder)

    def clock_seen(self) -> float:
        return steady()

    def look_at_clock(self) -> None:
        """Nothing: each look at the clock is a look at this machine's."""

    async def purge(self) -> None:
        """Pages are overwritten as rows go; the log still has them until it is written back and cut."""
        if self._files is not None:
            await asyncio.to_thread(_cut_log, self._path)

    async def write(self, make: MakeOp[T], *, within: timedelta | None = None) -> T:
        began = monotonic()
        try:
            written = await self._writer.submit(make)
        except StoreError as error:
            if error.trouble is not Trouble.LOST:  # which was told already
                self._health.failed(error, began)
            self._watch.failed(error)
            raise
        if self._health.trouble:
            self._health.worked()
        return written

    async def read(self, make: MakeOp[T], *, is_brief: bool = False) -> T:
        stuck = perf_counter() - min(self._writer.busy_since, self._reader.busy_since) > STUCK_AFTER
        if is_brief and self._near and not stuck and (found := self._near.read(make)):
            return found[0]
        try:
            return await self._reader.submit(make)
        except StoreError as error:
            self._watch.failed(error)
            raise

    def compile(self, statements: Iterable[Executable]) -> None:
        for statement in statements:
            self._compiler(statement)

    async def close(self) -> None:
        self._health.close()
        if self._near:
            self._near.close()
        if self._reader is not self._writer:
            await self._reader.close()
        await self._writer.close()
