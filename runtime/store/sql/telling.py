"""A word from node to node of one PostgreSQL: how it is told, and the proof that it is heard.

Behind a pooler that hands a connection to another client after each transaction, LISTEN is accepted, and what is told on
that very connection may even arrive, while nothing of others ever does. So the proof is told on a connection of its own.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Final

import asyncpg

from runtime.store.sql.driver import OPERATION_TIMEOUT, Compiled
from runtime.store.sql.envelopes import sealed
from runtime.store.sql.wire.database_errors import AWAY
from runtime.store.sql.wire.pipeline import Unprepared
from runtime.store.sql.wire.servers import Servers

NOTIFY_CHANNEL: Final = "signalbox"
ECHO: Final = timedelta(seconds=2)
"""How long what we tell ourselves may take; between idle machines it takes 0.3 ms."""
FAILURES: Final = (*AWAY, asyncpg.PostgresError, ValueError)
WHERE: Final = "SELECT current_database(), pg_postmaster_start_time()"
"""A database and its server, for everybody to read."""
SAME: Final = "let database_listen_url name the same database of the same server as database_url"
NO_POOLER: Final = "point database_listen_url at the PostgreSQL server itself, not at a pooler"
PROMOTE: Final = "promote one of the servers of database_listen_url (pg_ctl promote), or name the primary there"
REACHABLE: Final = "let database_listen_url lead to a PostgreSQL server that runs and takes its user and password"

TELL_WITHIN: Final = timedelta(seconds=2)
"""Time for what is told to be there, which takes some milliseconds: after it the way went silent, and there is a new one."""

# Telling makes a transaction without rows: nobody need wait until the disk has it. Set for this statement alone,
# since behind a pooler a setting of the session would meet the transactions of others.
TELL: Final = Compiled(
    "SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, t) FROM json_array_elements_text($2::json) AS t"
)


class Deaf(Exception):
    """Our own notices do not arrive."""


class Elsewhere(Deaf):
    """They could not: what is told in one database is never heard in another."""


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Any]:
    """A connection of one's own. Errors: `FAILURES`."""
    async with asyncio.timeout(OPERATION_TIMEOUT.total_seconds()):
        connection = await Servers(url).connect(
            statement_cache_size=0,  # a pooler may give us another server connection for each statement
            command_timeout=OPERATION_TIMEOUT.total_seconds(),
            connection_class=Unprepared,
        )
    try:
        yield connection
    finally:
        connection.terminate()


async def tell(connection: Unprepared, texts: Sequence[str]) -> None:
    """Tell them in one exchange, during which a pooler keeps to one server connection. Where that fails, or is cut off, the
    connection is gone: asyncpg's own ways would wait for a server that may be silent. Errors: `FAILURES`."""
    async with asyncio.timeout(TELL_WITHIN.total_seconds()):
        await connection.run_script([(TELL, (NOTIFY_CHANNEL, json.dumps(texts)))])


async def echo(listening: Any, url: str) -> None:
    """Prove that what is told at `url` is heard on `listening`. Errors: Deaf, or its Elsewhere; `FAILURES`."""
    (word,) = sealed(secrets.token_hex(8))
    heard = asyncio.Event()

    def note(*given: Any) -> None:
        if given[-1] == word:
            heard.set()

    await listening.add_listener(NOTIFY_CHANNEL, note)
    try:
        async with connected(url) as telling:
            await tell(telling, [word])
            with suppress(TimeoutError):
                async with asyncio.timeout(ECHO.total_seconds()):
                    await heard.wait()
            if not heard.is_set():
                raise await _reason(listening, telling)
    finally:
        await listening.remove_listener(NOTIFY_CHANNEL, note)


async def _reason(listening: Any, telling: Any) -> Deaf:
    """The error for a notice that did not arrive. Errors: `FAILURES`."""
    heard_in, told_in = await listening.fetchrow(WHERE), await telling.fetchrow(WHERE)
    if heard_in == told_in:
        return Deaf(f"a NOTIFY to itself did not arrive within {ECHO.total_seconds():g} s")
    if heard_in[0] != told_in[0]:
        return Elsewhere(f'database_listen_url leads to the database "{heard_in[0]}", database_url to "{told_in[0]}"')
    return Elsewhere("database_listen_url leads to another server than database_url")


async def trouble(url: str, listen_url: str) -> tuple[str, str] | None:
    """The reason a process here would not hear other nodes, and what to do; None if it would."""
    try:
        async with connected(listen_url) as listening:
            await echo(listening, url)
    except (Deaf, *FAILURES) as error:
        return reason_of(error), fix_of(error)
    return None


def reason_of(error: Exception) -> str:
    match error:
        case Deaf():
            return str(error)
        case ValueError():
            return "database_listen_url is malformed"  # pieces of it may be the password in pieces
        case _:
            return f"{type(error).__name__}: {error}".rstrip(": ")


def fix_of(error: Exception) -> str:
    """Advice to an operator about it."""
    match error:
        case Elsewhere():
            return SAME
        case Deaf():
            return NO_POOLER
        case asyncpg.TargetServerAttributeNotMatched():
            return PROMOTE
        case _:
            return REACHABLE
