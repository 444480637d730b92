"""A database of PostgreSQL, asked in a transaction that only reads, by a role that only reads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from runtime.text.naming import listed
from tools.databases.answers import (
    CELL_KEPT_MAX_CHARS,
    COLUMNS_MAX,
    ROWS_MAX_CHARS,
    QueryBounds,
    QueryFault,
    Rows,
)
from tools.databases.sqlite import STOPPED_IN_TIME, TABLES_MAX
from tools.databases.statements import is_table

if TYPE_CHECKING:
    from asyncpg import Connection

CONNECT_TIMEOUT: Final = timedelta(seconds=5)
ROWS_AT_ONCE: Final = 200
"""Rows that are fetched before their length is looked at."""
ROLE: Final = """
SELECT (SELECT rolsuper FROM pg_roles WHERE rolname = session_user),
  ARRAY(SELECT rolname::text FROM pg_roles WHERE rolname IN ('pg_write_all_data', 'pg_write_server_files',
    'pg_read_server_files', 'pg_execute_server_program') AND pg_has_role(session_user, oid, 'MEMBER')),
  ARRAY(SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'f', 'v') AND n.nspname !~ '^(pg_|information_schema$)'
    AND (has_table_privilege(session_user, c.oid, 'DELETE, TRUNCATE')
      OR has_any_column_privilege(session_user, c.oid, 'INSERT, UPDATE')) LIMIT 3)
"""
"""What the role of the connection may do beyond reading. It's the role that connects that counts: a statement may take it back."""
TABLES: Final = """
SELECT CASE table_schema WHEN 'public' THEN table_name ELSE format('%s.%s', table_schema, table_name) END, column_name, data_type
FROM information_schema.columns WHERE table_schema !~ '^(pg_|information_schema$)'
AND has_column_privilege(format('%I.%I', table_schema, table_name), column_name, 'SELECT')
ORDER BY table_schema, table_name, ordinal_position
"""
SUPERUSER: Final = "its role is a superuser, which no database can keep from writing"
MAY_WRITE: Final = "its role may write to {tables}"
MEMBER: Final = "its role is a member of {roles}"


@dataclass(frozen=True, slots=True)
class PostgresDatabase:
    """Implements `Database`."""

    name: str
    url: str = field(repr=False)
    bounds: QueryBounds

    async def query(self, sql: str) -> Rows:
        return await self._asked(sql, self.bounds.rows)

    async def tables(self) -> Rows:
        return await self._asked(TABLES, TABLES_MAX)

    async def objection(self) -> str:
        async with self._reading() as connection:
            return await _objection(connection)

    async def _asked(self, sql: str, most: int) -> Rows:
        began = time.monotonic()
        async with self._reading() as connection:
            if why := await _objection(connection):
                raise QueryFault(f"It isn't asked: {why}. Tell an operator: it needs a role that only reads.")
            columns, rows, more = await _fetched(connection, sql, most)
        return Rows(columns, rows, more, time.monotonic() - began)

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[Connection[Any]]:
        """A connection in a transaction that only reads. Errors: QueryFault."""
        import asyncpg

        seconds = self.bounds.time.total_seconds()
        try:
            async with asyncio.timeout((CONNECT_TIMEOUT + self.bounds.time).total_seconds()):
                connection = await self._connected()
                try:
                    # Never committed: also what such a transaction may do, as to notify others, comes to nothing.
                    await connection.transaction(readonly=True).start()
                    yield connection
                finally:
                    connection.terminate()
        except (TimeoutError, asyncpg.QueryCanceledError) as error:
            raise QueryFault(STOPPED_IN_TIME.format(seconds=seconds)) from error
        except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise QueryFault("It refused the statement:", str(error).replace(self.url, "")) from error
        except OSError as error:
            raise QueryFault("The database can't be reached. Tell an operator.") from error

    async def _connected(self) -> Connection[Any]:
        import asyncpg

        settings = {
            "default_transaction_read_only": "on",
            "statement_timeout": str(int(self.bounds.time.total_seconds() * 1000)),
            "application_name": "signalbox query",
        }
        return await asyncpg.connect(
            self.url,
            timeout=CONNECT_TIMEOUT.total_seconds(),
            server_settings=settings,
            statement_cache_size=0,
        )


async def _objection(connection: Connection[Any]) -> str:
    is_super, roles, tables = await connection.fetchrow(ROLE)  # type: ignore[misc]
    if is_super:
        return SUPERUSER
    if roles:
        return MEMBER.format(roles=listed(roles))
    return MAY_WRITE.format(tables=listed(tables)) if tables else ""


async def _fetched(
    connection: Connection[Any], sql: str, most: int
) -> tuple[Sequence[str], Sequence[Sequence[str | None]], bool]:
    """Columns, rows, and True where there are more. The server itself writes values as text, and cuts long ones."""
    asked = await connection.prepare(sql)  # alone it is one whole statement, so it stays one within another
    columns = [attribute.name for attribute in asked.get_attributes()]
    if len(columns) > COLUMNS_MAX:
        raise QueryFault(f"It has {len(columns):,} columns; at most {COLUMNS_MAX} are shown. Name those that you need.")
    if columns and is_table(sql.strip()):
        places = [f"c{number}" for number in range(len(columns))]
        values = ", ".join(f"left({place}::text, {CELL_KEPT_MAX_CHARS})" for place in places)
        asked = await connection.prepare(f"SELECT {values} FROM (\n{sql}\n) AS asked({', '.join(places)})")  # noqa: S608 - the statement is the agent's own
    found = await asked.cursor()
    rows, chars = list[Sequence[str | None]](), 0
    while batch := await found.fetch(ROWS_AT_ONCE):
        for record in batch:
            row = [None if value is None else str(value)[:CELL_KEPT_MAX_CHARS] for value in record]
            chars += sum(len(cell or "") for cell in row)
            if len(rows) == most or chars > ROWS_MAX_CHARS:
                return columns, rows, True
            rows.append(row)
    return columns, rows, False
