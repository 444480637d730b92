"""Errors of PostgreSQL and of the way to it, in our words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import asyncpg

from runtime.errors import StoreError, Trouble

POOL: Final = 8
"""Connections of a process for its work; two more are for notices."""

# Lost races that PostgreSQL settles by refusing one side, and a transaction that it gave up while this process stood
# still: nothing was written, so the operation runs again.
REPEATABLE: Final = (
    asyncpg.DeadlockDetectedError,
    asyncpg.SerializationError,
    asyncpg.UniqueViolationError,
    asyncpg.IdleInTransactionSessionTimeoutError,
)
AWAY: Final = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # a connection that lost its server in the middle of being made
    TimeoutError,
    asyncpg.CannotConnectNowError,
)


WORDS_OF_TROUBLE: Final[Mapping[Trouble, str]] = {
    Trouble.AWAY: "The database cannot be reached ({error}). Start it, or fix the connection to it.",
    Trouble.FULL: "The disk of the database is full ({error}). Free up space there.",
    Trouble.READ_ONLY: "The database can only be read ({error}). It's a replica, or was set so. Point "
    "database_url at a database that accepts writes.",
    Trouble.LOCKED: "The database couldn't finish because of other work there ({error}).",
    Trouble.DAMAGED: "The database is damaged ({error}). Restore it from a backup.",
    Trouble.OTHER: "The database answered: {error}",
}


MORE_ROOM: Final = (
    "raise max_connections of the server, or max_client_conn and default_pool_size of PgBouncer, or run fewer processes"
)
CROWDED: Final = (
    f"The database has no connection left for this process ({{error}}). Each holds up to {POOL + 2}: {MORE_ROOM}."
)


STANDBYS: Final = (
    "No server of database_url takes writes: those that answer are standbys. Promote one of them (pg_ctl promote), or start "
    "the primary."
)
UNCONFIRMED: Final = (
    "A standby that the database waits for confirms nothing ({error}). Start it again, or take it out of "
    "synchronous_standby_names there: ALTER SYSTEM SET synchronous_standby_names = ''; SELECT pg_reload_conf()"
)
BY_STATEMENT: Final = (
    "The pooler before the database hands out a connection for each statement ({error}). Set pool_mode = transaction there: "
    "in PgBouncer's settings, then RELOAD."
)


class Unconfirmed(TimeoutError):
    """A COMMIT that the server gave up waiting for a standby with. It is made, and could be gone after a fail-over."""


def is_crowded(error: BaseException) -> bool:
    """True where the server, or a pooler before it, has all its connections in use."""
    return isinstance(error, asyncpg.TooManyConnectionsError) or (
        isinstance(error, asyncpg.PostgresError)
        and any(words in str(error) for words in ("no more connections allowed", "query_wait_timeout"))
    )


def is_by_statement(error: BaseException) -> bool:
    """True where a pooler gives away the server's connection after each statement, so that no transaction is to be had."""
    return "statement pooling mode" in str(error)


def explain(error: BaseException) -> StoreError:
    trouble = trouble_of(error)
    words = WORDS_OF_TROUBLE[trouble]
    if is_crowded(error):
        words = CROWDED
    elif is_by_statement(error):
        words = BY_STATEMENT
    elif isinstance(error, Unconfirmed):
        words = UNCONFIRMED
    elif isinstance(error, asyncpg.TargetServerAttributeNotMatched):
        words = STANDBYS
    return StoreError(words.format(error=worded(error)), trouble=trouble)


def worded(error: BaseException) -> str:
    """The kind of `error` and its own words; a time that ran out has none."""
    words = str(error) or ("no answer in time" if isinstance(error, TimeoutError) else "")
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def trouble_of(error: BaseException) -> Trouble:
    match error:
        case asyncpg.DiskFullError():
            return Trouble.FULL
        case asyncpg.ReadOnlySQLTransactionError() | asyncpg.TargetServerAttributeNotMatched():
            return Trouble.READ_ONLY
        case asyncpg.DeadlockDetectedError() | asyncpg.SerializationError() | asyncpg.LockNotAvailableError():
            return Trouble.LOCKED
        case asyncpg.DataCorruptedError() | asyncpg.IndexCorruptedError():
            return Trouble.DAMAGED
        case asyncpg.OperatorInterventionError() | asyncpg.TooManyConnectionsError():
            return Trouble.AWAY  # shut down, starting, or no room for us
        case asyncpg.IdleInTransactionSessionTimeoutError():
            return Trouble.AWAY  # given up by the server while we were frozen
        case _:
            return Trouble.AWAY if isinstance(error, AWAY) or is_crowded(error) else Trouble.OTHER
