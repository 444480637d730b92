"""PostgreSQL: the same operations on asyncpg, as few round trips each as may be.

What other nodes commit is found by the slow polls of who waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any, Final, Protocol

import asyncpg
from sqlalchemy import Executable
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg

from runtime.cancellation import cancellations
from runtime.contract import Now
from runtime.domain.clock import steady
from runtime.errors import StoreError, Trouble
from runtime.store.sql.connections import Way, Ways, end, is_open
from runtime.store.sql.driver import (
    EPOCH,
    LAST_QUERIES,
    OPERATION_TIMEOUT,
    SEVERAL,
    UNWATCHED,
    WENT_ON,
    Compiled,
    Compiler,
    MakeOp,
    Op,
    Rows,
    T,
    Watch,
)
from runtime.store.sql.health import Health
from runtime.store.sql.wire.database_errors import (
    AWAY,
    POOL,
    REPEATABLE,
    explain,
    is_by_statement,
    is_crowded,
    trouble_of,
    worded,
)
from runtime.store.sql.wire.pipeline import Pipelined, Script, Unprepared
from runtime.store.sql.wire.servers import Servers

STATEMENTS: Final = 512
"""Prepared statements that a connection keeps: more than there are."""
CLOSE: Final = timedelta(seconds=1)
UNATTENDED_SHARE: Final = 0.6
UNATTENDED_MOST: Final = timedelta(seconds=3)
"""A transaction whose process says nothing for so long, this share of what an operation may take at most, is rolled back by
the server: a frozen process, or one that is cut off, would keep its rows from the other nodes as long as its connection seems
to stand."""
LOCK_SHARE: Final = 0.8
"""A statement that waits so long, this share of what an operation may take, for rows that another node's transaction keeps is
refused by the server: what is slow is that node, and neither the database nor our way to it. More than `UNATTENDED_SHARE`."""
READS_WITHIN: Final = OPERATION_TIMEOUT
"""Reports read for longer than anything may write."""
OPERATION_TRIES: Final = 5
LONGEST_SCRIPT: Final = 256
"""Statements that wait for one that is read; then they are sent without it."""
BEGIN: Final = Compiled("BEGIN ISOLATION LEVEL READ COMMITTED")
BEGIN_READING: Final = Compiled("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
COMMIT: Final = Compiled("COMMIT")
LOOK: Final = Compiled("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
ROLLBACK: Final = Compiled("ROLLBACK")
LOOK_EVERY: Final = 2.0
"""Seconds between two looks at the server's clock: less than half of a lease, so that nodes agree when it was set."""
BOUNDS: Final = "SELECT set_config('idle_in_transaction_session_timeout', '{left}', {local}), set_config('lock_timeout', '{locked}', {local})"
SURE_WITHIN: Final = timedelta(seconds=1)
"""A look that took longer, as one does in which this process was frozen, is no sign that the clock was set."""


async def kept_statements(url: str) -> int:
    """Number of statements a connection may keep prepared: none behind a pooler such as PgBouncer, which gives each
    transaction another connection of the server. There the process that serves us is not the one we were told of."""
    connection = await Servers(url).connect(statement_cache_size=0, connection_class=Unprepared)
    try:
        serving = await connection.fetchval("SELECT pg_backend_pid()")
        return STATEMENTS if serving == connection.get_server_pid() else 0
    finally:
        connection.terminate()


async def leave_as_it_is(connection: object) -> None:
    """Do nothing between two operations of the pool. Without this it has the server undo settings, listeners, session locks
    and cursors: one more round trip for each operation, and none of them makes any."""


def with_bounds(within: timedelta) -> Callable[[Any], Coroutine[Any, Any, None]]:
    """Bounds of a transaction that says nothing, and of one that waits for another's rows.

    Set on each connection as it is made, and not as it is asked for: poolers refuse what they do not know. Behind one they
    go with each BEGIN, since the connection of the server is another's the next moment, with all that was set there.
    """
    left = int(min(within * UNATTENDED_SHARE, UNATTENDED_MOST).total_seconds() * 1000)
    locked = int(within.total_seconds() * LOCK_SHARE * 1000)

    async def init(connection: Pipelined) -> None:
        if not connection.keeps:
            connection.opening = (Compiled(BOUNDS.format(left=left, locked=locked, local="true")),)
            return
        try:
            await connection.execute(BOUNDS.format(left=left, locked=locked, local="false"))
        except BaseException:
            end(connection)  # the pool would close it in peace, and wait for a server that may be silent
            raise

    return init


async def without_bounds(connection: Any) -> None:
    """The transaction that is open may wait for us, and for others: for a disk, or for another connection's work."""
    await connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = 0")


async def open_pool(url: str, *, init: Callable[[Any], Coroutine[Any, Any, None]] | None = None) -> asyncpg.Pool[Any]:
    """Connections to `url`; `init` is done on each. Errors: StoreError without the password."""
    try:
        async with asyncio.timeout(OPERATION_TIMEOUT.total_seconds()):
            kept = await kept_statements(url)
            connect: Any = Servers(url).connected  # asyncpg's own type of it demands names that it does not give
            pool: asyncpg.Pool[Any] = await asyncpg.create_pool(
                url,
                connect=connect,
                min_size=0,  # asyncpg's own care for more than that logs a traceback a second while a server is away
                max_size=POOL,
                statement_cache_size=kept,
                connection_class=Pipelined if kept else Unprepared,
                command_timeout=OPERATION_TIMEOUT.total_seconds(),  # a frozen server must not hold an operation for ever
                init=init,
                reset=leave_as_it_is,
            )
            try:
                await pool.execute("SELECT 1")
            except BaseException:
                pool.terminate()
                raise
            return pool
    except ValueError:
        # The address in pieces may be the password in pieces, so no piece of it is shown.
        raise StoreError("database_url is malformed. Write postgresql://user:password@host:port/database.") from None
    except (*AWAY, asyncpg.PostgresError) as error:
        if is_crowded(error) or trouble_of(error) is Trouble.READ_ONLY or is_by_statement(error):
            raise explain(error) from error
        raise StoreError(
            f"The database cannot be reached ({worded(error)}): check database_url.",
            trouble=Trouble.AWAY,
        ) from error


class Transaction:
    """One transaction on a connection, in as few round trips as may be.

    BEGIN goes with the first statements, and COMMIT with the last, where they say so. What nobody reads waits for the next
    one that is read, or for the COMMIT. `seconds`: how long the round trip with that one took. Errors: those of asyncpg;
    TimeoutError.
    """

    def __init__(self, connection: Pipelined, begin: Compiled) -> None:
        self._connection = connection
        self._script: list[tuple[Compiled, Sequence[object]]] = [(one, ()) for one in (begin, *connection.opening)]
        self._is_open = self._is_over = False
        self.seconds = 0.0

    async def ask(self, queries: Sequence[tuple[Compiled, Sequence[object]]], *, last: bool) -> list[Rows]:
        """Rows of each query; `last`: nothing follows them."""
        self._script += queries
        if last:
            return (await self._end())[-len(queries) - 1 : -1]
        if not any(compiled.is_read for compiled, _ in queries) and len(self._script) < LONGEST_SCRIPT:
            return [[]] * len(queries)
        return (await self._send())[-len(queries) :]

    async def commit(self) -> None:
        if not self._is_over:
            await self._end()

    async def _end(self) -> list[Rows]:
        self._script.append((COMMIT, ()))
        began = perf_counter()
        answers = await self._send()
        self.seconds, self._is_over = perf_counter() - began, True
        return answers

    async def roll_back(self) -> None:
        """Never fails: a connection that cannot is ended, and the server does it."""
        if not self._is_open or self._is_over or not is_open(self._connection):
            return
        self._script = [(ROLLBACK, ())]
        try:
            await self._send()
        except (*AWAY, asyncpg.PostgresError):
            end(self._connection)

    async def _send(self) -> list[Rows]:
        if not is_open(self._connection):  # ended by whoever found its way silent: the pool has taken it back
            raise asyncpg.InterfaceError("the connection was ended")
        script, self._script, self._is_open = self._script, [], True
        return await self._connection.run_script(script)


async def drive(transaction: Transaction, compiler: Compiler, op: Op[T]) -> T:
    """Run one operation's statements."""
    try:
        statement, given = next(op)
        while True:
            several: Any = given["queries"] if statement in SEVERAL else ((statement, given),)
            asked = [(compiler(one), values) for one, values in several]
            last = statement is LAST_QUERIES
            answers: list[Any] = await transaction.ask(
                [(one, one.arguments(values)) for one, values in asked], last=last
            )
            statement, given = op.send(answers if statement in SEVERAL else answers[0])
            if last:
                raise RuntimeError(WENT_ON)
    except StopIteration as end:
        result: T = end.value
        return result


class Scripted(Protocol):
    """Runs a script on the server."""

    async def run_script(self, script: Script, /) -> list[Rows]: ...


class ServerClock:
    """The server's time, carried on by a steady clock: nodes agree on it, whatever is done to the clocks of their own
    machines. Looked up anew now and then, since clocks drift and the server's may be set."""

    def __init__(self, steady: Callable[[], float] = steady) -> None:
        self._steady = steady
        self._at = EPOCH
        self._tick = 0.0
        self._is_doubtful = False

    def __call__(self) -> datetime:
        return self._at + timedelta(seconds=self._steady() - self._tick)

    @property
    def seen(self) -> float:
        """Time by the steady clock of the last look."""
        return self._tick

    def is_old(self) -> bool:
        return self._is_doubtful or self._steady() - self._tick > LOOK_EVERY

    def doubt(self) -> None:
        """It may have been set: it is looked at before the next write."""
        self._is_doubtful = True

    async def look(self, connection: Scripted) -> None:
        """Ask the server. An answer that took long tells little: of all times that may be, the nearest one to ours is taken."""
        before = self._steady()
        ((server,),) = (await connection.run_script([(LOOK, ())]))[0]
        tick = self._steady()
        took, least = timedelta(seconds=tick - before), EPOCH + timedelta(microseconds=server)
        if self._at == EPOCH or took < SURE_WITHIN:
            at = least + took / 2  # the best guess at when the server looked at its clock
        else:
            at = min(max(self._at + timedelta(seconds=tick - self._tick), least), least + took)
        self._at, self._tick, self._is_doubtful = at, tick, False


PURGE_TIMEOUT_SECONDS: Final = 3600.0


class PostgresDriver:
    """`Driver` over one PostgreSQL database. Its clock is the server's."""

    def __init__(
        self,
        pool: asyncpg.Pool[Any],
        *,
        now: Now | None = None,
        watch: Watch = UNWATCHED,
        within: timedelta = OPERATION_TIMEOUT,
    ) -> None:
        self._ways = Ways(pool, POOL)
        self._pool = pool
        self._within = within
        self._compiler = Compiler(PGDialect_asyncpg())  # type: ignore[no-untyped-call]  # a dialect takes no arguments here
        self._clock = ServerClock()
        self._now = now
        self._watch = watch
        self._health = Health()

    @classmethod
    async def over(
        cls,
        pool: asyncpg.Pool[Any],
        *,
        now: Now | None = None,
        watch: Watch = UNWATCHED,
        within: timedelta = OPERATION_TIMEOUT,
    ) -> PostgresDriver:
        """A driver over open connections, which it closes at its end. `within`: how long what is written may take."""
        driver = cls(pool, now=now, watch=watch, within=within)
        async with Way(driver._ways, within.total_seconds()) as connection:
            await driver._clock.look(connection)
        return driver

    @property
    def trouble(self) -> StoreError | None:
        return self._health.trouble

    async def save(self, folder: Path) -> Path | None:
        """None: its files are the server's."""
        return None

    async def purge(self) -> None:
        """Have the server take away rows that are gone at once; else it does so in its own time."""

        async def vacuum() -> None:
            async with Way(self._ways, PURGE_TIMEOUT_SECONDS) as connection:
                if not connection.keeps:  # nothing is set there beyond a transaction
                    await connection.execute("VACUUM", timeout=PURGE_TIMEOUT_SECONDS)
                    return
                try:
                    await connection.execute("SET lock_timeout = 0")
                    await connection.execute("VACUUM", timeout=PURGE_TIMEOUT_SECONDS)
                finally:
                    end(connection)  # the next one has its bounds again

        await self._guarded(vacuum)

    def now(self) -> datetime:
        return self._now() if self._now else self._clock()

    def clock_seen(self) -> float:
        return self._clock.seen

    def look_at_clock(self) -> None:
        self._clock.doubt()

    async def write(self, make: MakeOp[T], *, within: timedelta | None = None) -> T:
        limit, began = min(within or self._within, self._within).total_seconds(), monotonic()
        try:
            written = await self._guarded(lambda: self._written(make, limit))
        except StoreError as error:
            if error.trouble is not Trouble.LOCKED:  # others can write, and so can we, but for what they keep just now
                self._health.failed(error, began)
            self._watch.failed(error)
            raise
        if self._health.trouble:
            self._health.worked()
        return written

    async def read(self, make: MakeOp[T], *, is_brief: bool = False) -> T:
        try:
            return await self._guarded(lambda: self._looked_up(make))
        except StoreError as error:
            self._watch.failed(error)
            raise

    def compile(self, statements: Iterable[Executable]) -> None:
        for statement in statements:
            self._compiler(statement)

    async def close(self) -> None:
        self._health.close()
        try:
            async with asyncio.timeout(CLOSE.total_seconds()):
                await self._ways.close()
        except TimeoutError:
            self._pool.terminate()

    async def _guarded(self, run: Callable[[], Awaitable[T]]) -> T:
        """Result of `run`. A cancellation stays one, though the rollback after it may fail. Errors: StoreError."""
        before = cancellations()
        try:
            return await self._tried(run)
        except StoreError:
            if cancellations() > before:
                raise asyncio.CancelledError from None
            raise

    async def _tried(self, run: Callable[[], Awaitable[T]]) -> T:
        for attempt in range(1, OPERATION_TRIES + 1):
            try:
                return await run()
            except REPEATABLE as error:
                if attempt == OPERATION_TRIES:
                    raise explain(error) from error
                await asyncio.sleep(0.01 * attempt)
            except asyncpg.ReadOnlySQLTransactionError as error:
                # After a fail-over these lead to what is a mere copy now: the next ones ask anew who may write.
                await self._ways.expire()
                raise explain(error) from error
            except (*AWAY, asyncpg.PostgresError) as error:
                raise explain(error) from error
        raise AssertionError("unreachable")

    async def _written(self, make: MakeOp[T], within: float) -> T:
        async with Way(self._ways, within) as connection:
            if self._clock.is_old():
                await self._clock.look(connection)
            result, seconds = await self._driven(connection, make, BEGIN)
            self._watch.committed(1, seconds)
            return result

    async def _looked_up(self, make: MakeOp[T]) -> T:
        async with Way(self._ways, READS_WITHIN.total_seconds()) as connection:
            result, _ = await self._driven(connection, make, BEGIN_READING)
            return result

    async def _driven(self, connection: Any, make: MakeOp[T], begin: Compiled) -> tuple[T, float]:
        """The result, and the seconds its COMMIT took."""
        transaction = Transaction(connection, begin)
        try:
            result = await drive(transaction, self._compiler, make())
            await transaction.commit()
        except BaseException:
            await transaction.roll_back()
            raise
        return result, transaction.seconds
