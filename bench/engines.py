"""The two databases of the store's benchmarks, and copies of a prepared one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.engine import Dialect

from bench.barestore import bare_postgres, bare_sqlite
from bench.tape import Tape, Timed
from runtime.store.sql.sqlite import BATCH
from runtime.store.sql.wire.database_errors import POOL
from tests.fakes.postgres import Postgres

SQLITE: Final = "sqlite:///"


class Engine(Protocol):
    """One kind of database. `rounds` are taken of each measurement, as many as the time for it allows.

    `taped`: so many sets of 1,000 sessions are replayed; the bare writer's rate does not change with their number.
    """

    name: str
    dialect: Dialect
    rounds: int
    taped: int

    def empty(self) -> str:
        """The URL of a new database."""

    def copy(self, url: str) -> str:
        """The URL of a copy. Nobody may have the first one open."""

    async def replay(self, url: str, tape: Tape, *, together: bool) -> Timed:
        """The bare writer at work: every set at once, or one after another."""


class Sqlite:
    """Files in `folder`."""

    name = "SQLite"
    rounds = 5
    taped = 1_000

    def __init__(self, folder: Path) -> None:
        self.dialect: Dialect = SQLiteDialect(paramstyle="qmark")
        self._folder = folder
        self._made = 0

    def empty(self) -> str:
        self._made += 1
        return f"{SQLITE}{self._folder / f'{self._made}.db'}"

    def copy(self, url: str) -> str:
        fresh = self.empty()
        shutil.copyfile(path_of(url), path_of(fresh))
        return fresh

    async def replay(self, url: str, tape: Tape, *, together: bool) -> Timed:
        return bare_sqlite(path_of(url), tape, batch=BATCH if together else 1)


class Server:
    """Databases on one PostgreSQL server."""

    name = "PostgreSQL"
    rounds = 3
    taped = 250  # a tape is recorded one set after another: a flush for each operation

    def __init__(self, server: Postgres) -> None:
        self.dialect = postgres_dialect()
        self._server = server

    def empty(self) -> str:
        return self._server.create_database()

    def copy(self, url: str) -> str:
        return self._server.create_database(url)

    async def replay(self, url: str, tape: Tape, *, together: bool) -> Timed:
        return await bare_postgres(url, tape, connections=POOL if together else 1)


def postgres_dialect() -> Dialect:
    return PGDialect_asyncpg()  # type: ignore[no-untyped-call]  # as in the driver


def path_of(url: str) -> Path:
    return Path(url.removeprefix(SQLITE))


@contextmanager
def engines(*, safe: bool) -> Iterator[Sequence[Engine]]:
    """Both. `safe`: PostgreSQL brings each commit to the disk."""
    with tempfile.TemporaryDirectory(prefix="signalbox-bench-") as folder, Postgres(fsync=safe) as server:
        yield Sqlite(Path(folder)), Server(server)
