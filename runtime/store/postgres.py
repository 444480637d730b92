"""PostgreSQL: the same operations on asyncpg. What other nodes commit is found by the slow polls of who waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from time import perf_counter
from typing import Any, Final

import asyncpg
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg

from runtime.contract import Now
from runtime.errors import StoreError, Trouble
from runtime.store.driver import EPOCH, UNWATCHED, Compiler, MakeOp, Op, T, Watch
from runtime.store.health import Health

POOL: Final = 8
PATIENCE: Final = timedelta(seconds=10)
TRIES: Final = 5

# Lost races that PostgreSQL settles by refusing one side; nothing was written, so the operation runs again.
AGAIN: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError, asyncpg.UniqueViolationError)
AWAY: Final = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    TimeoutError,
    asyncpg.CannotConnectNowError,
)


def explain(error: BaseException) -> StoreError:
    return StoreError(f"The database answered: {type(error).__name__}: {error}", trouble=trouble_of(error))


def trouble_of(error: BaseException) -> Trouble:
    match error:
        case asyncpg.DiskFullError():
            return Trouble.FULL
        case asyncpg.ReadOnlySQLTransactionError():
            return Trouble.READ_ONLY
        case asyncpg.DeadlockDetectedError() | asyncpg.SerializationError() | asyncpg.LockNotAvailableError():
            return Trouble.LOCKED
        case asyncpg.DataCorruptedError() | asyncpg.IndexCorruptedError():
            return Trouble.DAMAGED
        case _:
            return Trouble.AWAY if isinstance(error, AWAY) else Trouble.OTHER


async def open_pool(url: str) -> asyncpg.Pool[Any]:
    """Connections to `url`. Errors: StoreError without the password."""
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            return await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=POOL,
                statement_cache_size=512,
                command_timeout=PATIENCE.total_seconds(),  # a frozen server must not hold an operation for ever
            )
    except ValueError:
        # The address in pieces may be the password in pieces, so no piece of it is shown.
        raise StoreError("database_url is malformed: write postgresql://user:password@host:port/database.") from None
    except (*AWAY, asyncpg.PostgresError) as error:
        raise StoreError(
            f"The database cannot be reached ({type(error).__name__}: {error}): check database_url.",
            trouble=Trouble.AWAY,
        ) from error


async def drive(connection: Any, compiler: Compiler, op: Op[T]) -> T:
    """Run one operation's statements on `connection`, inside the transaction that is open."""
    try:
        statement, given = next(op)
        while True:
            compiled = compiler(statement)
            records = await connection.fetch(compiled.sql, *compiled.arguments(given))
            statement, given = op.send([tuple(record) for record in records])
    except StopIteration as end:
        result: T = end.value
        return result


class PostgresDriver:
    """`Driver` over one PostgreSQL database. Its clock is the server's, measured when opened."""

    def __init__(
        self,
        pool: asyncpg.Pool[Any],
        *,
        now: Now | None = None,
        ahead: timedelta = timedelta(),
        watch: Watch = UNWATCHED,
    ) -> None:
        self._pool = pool
        self._compiler = Compiler(PGDialect_asyncpg())  # type: ignore[no-untyped-call]  # a dialect takes no arguments here
        self._ahead = ahead
        self._now = now
        self._watch = watch
        self._health = Health()

    @classmethod
    async def over(cls, pool: asyncpg.Pool[Any], *, now: Now | None = None, watch: Watch = UNWATCHED) -> PostgresDriver:
        """A driver over open connections, which it closes at its end."""
        before = datetime.now(UTC)
        server = await pool.fetchval("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
        after = datetime.now(UTC)
        # Half of the round trip is the best guess at when the server looked at its clock.
        ahead = EPOCH + timedelta(microseconds=server) - (before + (after - before) / 2)
        return cls(pool, now=now, ahead=ahead, watch=watch)

    @property
    def trouble(self) -> StoreError | None:
        return self._health.trouble

    def now(self) -> datetime:
        return self._now() if self._now else datetime.now(UTC) + self._ahead

    async def write(self, make: MakeOp[T]) -> T:
        try:
            written = await self._guarded(lambda: self._written(make))
        except StoreError as error:
            self._health.failed(error)
            self._watch.failed(error)
            raise
        self._health.worked()
        return written

    async def read(self, make: MakeOp[T]) -> T:
        try:
            return await self._guarded(lambda: self._looked_up(make))
        except StoreError as error:
            self._watch.failed(error)
            raise

    async def close(self) -> None:
        self._health.close()
        await self._pool.close()

    async def _guarded(self, run: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(1, TRIES + 1):
            try:
                return await run()
            except AGAIN as error:
                if attempt == TRIES:
                    raise explain(error) from error
                await asyncio.sleep(0.01 * attempt)
            except (*AWAY, asyncpg.PostgresError) as error:
                raise explain(error) from error
        raise AssertionError("unreachable")

    async def _written(self, make: MakeOp[T]) -> T:
        async with self._pool.acquire() as connection:
            async with connection.transaction(isolation="read_committed"):
                result = await drive(connection, self._compiler, make())
                began = perf_counter()
            self._watch.committed(1, perf_counter() - began)
            return result

    async def _looked_up(self, make: MakeOp[T]) -> T:
        async with (
            self._pool.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            return await drive(connection, self._compiler, make())
