"""Several statements in one round trip, on a connection of asyncpg, which knows only one at a time.

asyncpg makes the connection, checks its certificate, signs in and keeps it in its pool. For one exchange the socket is
ours: all statements go out together, and when the server is ready again, it is asyncpg's as before. A statement that
fails is the last that ran: the server passes over the rest, COMMIT as well.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

import asyncpg
from asyncpg import connect_utils

from runtime.store.sql.driver import Compiled, Rows
from runtime.store.sql.wire.database_errors import Unconfirmed
from runtime.store.sql.wire.wire_format import (
    COLUMNS,
    DESCRIBE,
    DONE,
    ERROR,
    EXECUTE,
    LENGTH,
    NO_COLUMNS,
    NOTICE,
    PARSED,
    READY,
    ROW,
    SYNC,
    Prepared,
    Reader,
    bind,
    fields_of,
    parse,
    row,
    types_of,
)

Script = Sequence[tuple[Compiled, Sequence[object]]]
Asked = tuple[Prepared, Sequence[Reader] | None]
"""A statement, and the readers of its rows; None where it is described beside."""
LAST: Final[Asked] = (Prepared(b""), None)
HEAD_BYTES: Final = 5
"""Bytes of a message before its body: its letter and its length."""
NO_RESULT: Final = "no result in time"
WAITS_FOR_STANDBY: Final = "SyncRepWaitForLSN"
"""The server's function that warns that a COMMIT was made without its standby; its words are in the server's language."""
DROP_WITHIN: Final = timedelta(seconds=30)
"""Longer than PgBouncer gives the server for it (`cancel_wait_timeout`, `server_connect_timeout`)."""
_asking: Final[set[asyncio.Task[None]]] = set()
"""Held for as long as they are at work: the loop itself holds no task."""


class _Exchange(asyncio.Protocol):
    """The server's answers to one script, in order."""

    def __init__(self, statements: Sequence[Asked], parsed: Sequence[Prepared], owner: asyncio.Protocol) -> None:
        self.is_lost = False
        self.is_unconfirmed = False
        self._owner = owner
        self.answered: asyncio.Future[list[Rows]] = asyncio.get_running_loop().create_future()
        self._left = iter(statements)
        self._parsed = iter(parsed)
        self._statement, self._readers = next(self._left)
        self._results: list[Rows] = []
        self._rows: Rows = []
        self._error: BaseException | None = None
        self._chunks: list[bytes] = []
        self._have, self._need = 0, HEAD_BYTES

    def data_received(self, data: bytes) -> None:
        self._chunks.append(data)
        self._have += len(data)
        if self._have < self._need:
            return
        body = data if len(self._chunks) == 1 else b"".join(self._chunks)
        try:
            at = self._read(body)
        except Exception as error:  # noqa: BLE001 - whoever waits for the answer is told, and ends the connection
            self._settle(error)
            return
        rest = body[at:]
        self._chunks, self._have = [rest] if rest else [], len(rest)

    def _read(self, body: bytes) -> int:
        """Read each whole message; where the first one begins that is not."""
        at, size = 0, len(body)
        while size - at >= HEAD_BYTES:
            end = at + 1 + LENGTH(body, at + 1)[0]
            if end > size:
                self._need = end - at
                return at
            kind = body[at]
            if kind == ROW:
                self._rows.append(row(body, at, self._readers or ()))
            elif kind == DONE:
                self._results.append(self._rows)
                self._rows = []
                self._statement, self._readers = next(self._left, LAST)
            else:
                self._other(kind, body[at:end])
            at = end
        self._need = HEAD_BYTES
        return at

    def _other(self, kind: int, message: bytes) -> None:
        if kind == COLUMNS:
            self._readers = self._statement.described(types_of(message))
        elif kind == NO_COLUMNS:
            self._statement.described(())
        elif kind == PARSED:
            kept = next(self._parsed)
            kept.is_kept = bool(kept.name)
        elif kind == ERROR:
            self._error = asyncpg.PostgresError.new(fields_of(message))
        elif kind == NOTICE:
            self.is_unconfirmed |= fields_of(message).get("R") == WAITS_FOR_STANDBY
        elif kind == READY:
            self._settle(self._error)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_lost = True
        self._owner.connection_lost(error)
        lost = asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
        self._settle(self._error or error or lost)

    def _settle(self, error: BaseException | None) -> None:
        if self.answered.done():
            return
        if error:
            self.answered.set_exception(error)
        else:
            self.answered.set_result(self._results)


class Pipelined(asyncpg.Connection):
    """A connection that runs scripts. Its statements stay prepared, but for those of an `Unprepared`."""

    __slots__ = ("_is_dropping", "_prepared", "opening")
    keeps = True

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._prepared: dict[str, Prepared] = {}
        self._is_dropping = False
        self.opening: Sequence[Compiled] = ()
        """What follows each BEGIN."""

    def drop_statement(self) -> None:
        """Tell the server to give up what it does; the script that waits for it fails, and the connection is gone."""
        self._is_dropping = True
        dropping = asyncio.get_running_loop().create_task(_ask_to_drop(self))
        _asking.add(dropping)
        dropping.add_done_callback(_asking.discard)

    async def run_script(self, script: Script) -> list[Rows]:
        """Rows of each statement.

        Errors: those of asyncpg, after which a ROLLBACK is due; TimeoutError where the server was told to drop it. After
        that, or a cancellation, the connection is gone.
        """
        if self.is_closed():
            raise asyncpg.InterfaceError("connection is closed")
        us: Any = self  # these three of asyncpg's are its own: a version that has others fails here, in every test
        transport, owner = us._transport, us._protocol
        message, exchange = self._written(script, owner)
        transport.set_protocol(exchange)
        transport.write(message)
        try:
            answers = await exchange.answered
            if (
                self._is_dropping
            ):  # a COMMIT that waits for a standby is made by that, and its confirmation is no true one
                raise Unconfirmed(NO_RESULT) if exchange.is_unconfirmed else TimeoutError(NO_RESULT)
        except asyncpg.QueryCanceledError as error:
            if not self._is_dropping:
                raise
            self.terminate()
            raise TimeoutError(NO_RESULT) from error
        except BaseException as error:
            if not isinstance(error, asyncpg.PostgresError) or isinstance(error, asyncpg.InvalidCachedStatementError):
                self.terminate()
            raise
        else:
            return answers
        finally:
            if not exchange.is_lost:
                transport.set_protocol(owner)

    def _written(self, script: Script, owner: asyncio.Protocol) -> tuple[bytes, _Exchange]:
        messages, statements, parsed = [], [], []
        for compiled, arguments in script:
            statement = self._prepared.get(compiled.sql)
            if statement is None:
                name = b"signalbox_%d" % len(self._prepared) if self.keeps else b""
                statement = self._prepared[compiled.sql] = Prepared(name)
            if not statement.is_kept and (not statement.name or statement not in parsed):
                messages.append(parse(statement.name, compiled.sql))
                parsed.append(statement)
            messages.append(bind(statement, arguments))
            if statement.readers is None:
                messages.append(DESCRIBE)
            messages.append(EXECUTE)
            statements.append((statement, statement.readers))
        messages.append(SYNC)
        return b"".join(messages), _Exchange(statements, parsed, owner)


async def _ask_to_drop(connection: Pipelined) -> None:
    """Ask on a connection of its own, and leave it to the other side to close that: it does once it has passed the word on.

    asyncpg closes it together with `connection`, which ends as soon as the server has obeyed. PgBouncer before 1.19.1 ends
    with "bad client state" where that comes first (its issue 801).
    """
    us: Any = connection
    try:
        async with asyncio.timeout(DROP_WITHIN.total_seconds()):
            key = {"backend_pid": us._protocol.backend_pid, "backend_secret": us._protocol.backend_secret}
            asking: Any = connect_utils  # its own way too
            await asking._cancel(loop=us._loop, addr=us._addr, params=us._params, **key)
    except ConnectionResetError:
        pass  # some close it so, after they have passed the word on
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):  # TimeoutError is an OSError
        connection.terminate()  # nobody told the server: what it answers now is no answer to wait for


class Unprepared(Pipelined):
    """Behind a pooler each transaction has another connection of the server, where nothing is prepared. asyncpg's own way
    takes two exchanges for a statement with parameters; in between, somebody else's could come in its place."""

    __slots__ = ()
    keeps = False

    async def _execute(self, *given: Any, **options: Any) -> Any:
        us: Any = super()
        if self.is_in_transaction():
            return await us._execute(*given, **options)
        async with self.transaction():
            return await us._execute(*given, **options)

    def _get_unique_id(self, prefix: str) -> str:
        """Of a cursor or a statement: others who share the server's connection count from one as well."""
        return f"signalbox_{prefix}_{secrets.token_hex(8)}"
