"""Bringing a database to the newest schema. Alembic is loaded only when there is something to do."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import structlog
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.schema import CreateIndex, CreateTable

from runtime.errors import StoreError
from runtime.store.schema import CONTRACTS, REVISION, metadata
from runtime.store.sql.full_text import sqlite_statements
from runtime.store.window import check_contracts, is_newer

if TYPE_CHECKING:
    import asyncpg
    from alembic.config import Config
    from sqlalchemy import Connection
    from sqlalchemy.ext.asyncio import AsyncEngine

log = structlog.get_logger("store")

MIGRATIONS: Final = Path(__file__).parent / "migrations"
LOCK: Final = 0x5167_6E61_6C62_6F78  # "Signalbox": one node migrates, the others wait
MIGRATION_TIMEOUT_SECONDS: Final = 600
"""Seconds that a migration may take."""
CONTRACTS_MADE: Final = "SELECT revision FROM schema_contracts"
MAKE_CONTRACTS: Final = (
    "CREATE TABLE schema_contracts (revision VARCHAR(32) NOT NULL, "
    "CONSTRAINT pk_schema_contracts PRIMARY KEY (revision))"
)
NEWER_SCHEMA: Final = "the database was upgraded by a newer program; this one works on it until it is upgraded too"
NOT_OURS: Final = "The database has the schema of another program (its revision is {revision}): check database_url."
CURRENT: Final = "SELECT version_num FROM alembic_version"


def unmade(connection: Connection) -> list[str]:
    """Contracts of ours that are to be made yet, in their order."""
    from sqlalchemy import text

    made = {revision for (revision,) in connection.execute(text(CONTRACTS_MADE))}
    return [revision for revision in CONTRACTS if revision not in made]


def contract(connection: Connection, revision: str) -> None:
    """Take away what programs need that don't know `revision`, and note that."""
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory
    from sqlalchemy import text

    script = ScriptDirectory.from_config(configuration()).get_revision(revision)
    with Operations.context(MigrationContext.configure(connection, opts={"render_as_batch": True})):
        script.module.contract()
    connection.execute(text("INSERT INTO schema_contracts VALUES (:revision)"), {"revision": revision})


def configuration() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    return config


def check_revision(revision: str) -> str:
    """`revision`, if it is one of ours. Errors: StoreError when it is newer than we are: what a newer program keeps in columns
    of its own would be missing in a copy."""
    if is_newer(revision):
        raise StoreError(
            f"The database is newer than this program (its revision is {revision}): install the newer signalbox."
        )
    return revision


def migrate(connection: Connection, to: str = "head") -> None:
    """Upgrade to `to` on a SQLAlchemy connection. Errors: StoreError when the database is newer than we are."""
    from alembic import command
    from alembic.util import CommandError

    config = configuration()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, to)
    except CommandError as error:
        raise StoreError(
            f"The database is newer than this program ({error}): install the newer signalbox, or restore a backup."
        ) from error


def upgrade_sqlite(raw: sqlite3.Connection) -> None:
    """Upgrade the database behind `raw`, unless it is current."""
    if _sqlite_revision(raw) == REVISION and not _sqlite_contracts(raw):
        return
    raw.execute("BEGIN IMMEDIATE")  # whole or not at all, whatever is killed; a second process waits here
    try:
        if _is_empty(raw):
            create_sqlite(raw)
            raw.execute("COMMIT")
        elif _sqlite_revision(raw) != REVISION or _sqlite_contracts(raw):
            migrate_sqlite(raw, whole=True)
    finally:
        if raw.in_transaction:
            raw.execute("ROLLBACK")


def create_sqlite(raw: sqlite3.Connection) -> None:
    """Make the newest tables at once. `check` proves that the migrations make the same: a first start need not load
    Alembic, which takes longer and more memory than all the rest of it."""
    dialect = SQLiteDialect()
    for table in metadata.sorted_tables:
        raw.execute(str(CreateTable(table).compile(dialect=dialect)))
        for index in table.indexes:
            raw.execute(str(CreateIndex(index).compile(dialect=dialect)))
    for statement in sqlite_statements():
        raw.execute(statement)
    raw.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    raw.execute("INSERT INTO alembic_version VALUES (?)", (REVISION,))
    raw.execute(MAKE_CONTRACTS)
    raw.executemany("INSERT INTO schema_contracts VALUES (?)", [(revision,) for revision in CONTRACTS])


def migrate_sqlite(raw: sqlite3.Connection, to: str = "head", *, whole: bool = False) -> None:
    """Run the migrations that are missing up to `to`, and commit. `whole` makes all contracts too: an embedded database has no
    other program that could need what they take away."""
    from sqlalchemy import create_engine
    from sqlalchemy.pool import StaticPool

    engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    with engine.connect() as connection:
        migrate(connection, to)
        for revision in unmade(connection) if whole else ():
            contract(connection, revision)
        connection.commit()


def _is_empty(raw: sqlite3.Connection) -> bool:
    return raw.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None


def _sqlite_revision(raw: sqlite3.Connection) -> str | None:
    try:
        row = raw.execute(CURRENT).fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return None
        raise
    return str(row[0]) if row else None


def _sqlite_contracts(raw: sqlite3.Connection) -> set[str]:
    """Contracts that are to be made yet."""
    return set(CONTRACTS) - {revision for (revision,) in raw.execute(CONTRACTS_MADE)}


async def upgrade_postgres(url: str, pool: asyncpg.Pool[Any]) -> None:
    """Upgrade the database behind `url`, unless it is current; of many nodes one does it.

    A newer one is left as it is, where it still has all that this program needs: a newer node upgraded it, beside which we work.
    Errors: StoreError where it hasn't.
    """
    from runtime.store.sql.postgres import without_bounds

    revision = await _postgres_revision(pool)
    if revision == REVISION:
        return
    if revision is not None and is_newer(revision):
        check_contracts(await _postgres_contracts(pool, revision))
        log.warning(NEWER_SCHEMA, schema=revision, ours=REVISION)
        return
    # Of a transaction, since behind a pooler the session that would have the lock is not the one that frees it.
    async with pool.acquire() as connection, connection.transaction():
        await without_bounds(connection)
        await connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK, timeout=MIGRATION_TIMEOUT_SECONDS)
        if await _postgres_revision(pool) != REVISION:
            await _run_async(url)


async def _postgres_revision(connection: Any) -> str | None:
    import asyncpg

    try:
        found = await connection.fetchval(CURRENT)
    except asyncpg.UndefinedTableError:
        return None
    return str(found) if found else None


async def _postgres_contracts(pool: asyncpg.Pool[Any], revision: str) -> list[str]:
    """Contracts that were made. Errors: StoreError for a database whose revisions are another program's."""
    import asyncpg

    try:
        return [made for (made,) in await pool.fetch(CONTRACTS_MADE)]
    except asyncpg.UndefinedTableError:
        raise StoreError(NOT_OURS.format(revision=revision)) from None


async def _run_async(url: str) -> None:
    engine = postgres_engine(url)
    async with asyncio.timeout(MIGRATION_TIMEOUT_SECONDS), engine.begin() as connection:
        await connection.run_sync(migrate)
    await engine.dispose()


def postgres_engine(url: str) -> AsyncEngine:
    """Engine for Alembic."""
    from sqlalchemy.ext.asyncio import create_async_engine
    from sqlalchemy.pool import NullPool

    from runtime.store.sql.wire.pipeline import Unprepared
    from runtime.store.sql.wire.servers import Servers

    # asyncpg reads the URL itself: SQLAlchemy knows neither its short scheme nor options such as sslmode.
    async def connect() -> Any:
        return await Servers(url).connect(statement_cache_size=0, connection_class=Unprepared)

    return create_async_engine("postgresql+asyncpg://", async_creator=connect, poolclass=NullPool)
