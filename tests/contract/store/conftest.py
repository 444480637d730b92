"""The same store three times: a SQLite file, SQLite in memory, and a real PostgreSQL."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy.engine import Dialect

from runtime.store import postgres as postgres_engine
from runtime.store import sqlite
from runtime.store.driver import Compiler
from runtime.store.schema import metadata
from runtime.store.store import SqlStore, open_store
from tests.contract.store.stage import HandClock, Stage
from tests.fakes.postgres import Postgres

KINDS = ["file", "memory", "postgres"]


def _once(make: Callable[[Dialect], Compiler]) -> Callable[[Dialect], Compiler]:
    made: list[Compiler] = []

    def again(dialect: Dialect) -> Compiler:
        if not made:
            made.append(make(dialect))
        return made[0]

    return again


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """All stores of an engine share their compiled statements: a third of these tests' time otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        for engine in (sqlite, postgres_engine):
            patch.setattr(engine, "Compiler", _once(Compiler))
        yield


async def _migrate(url: str) -> None:
    store = await open_store(url)
    await store.close()


def _migrated(url: str) -> str:
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _migrate(url)).result()
    return url


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file at the newest revision, to be copied."""
    path = tmp_path_factory.mktemp("store") / "template.db"
    _migrated(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def migrated_database(postgres: Postgres) -> str:
    """A PostgreSQL database at the newest revision, emptied before each test: that is faster than a clone."""
    return _migrated(postgres.create_database())


async def _empty(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute("; ".join(f"DELETE FROM {table.name}" for table in metadata.sorted_tables))
    await connection.close()


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of one's own, as `database_url` names it."""
    match request.param:
        case "memory":
            return "sqlite:///:memory:"
        case "file":
            path = tmp_path / "signalbox.db"
            shutil.copyfile(request.getfixturevalue("migrated_file"), path)
            return f"sqlite:///{path}"
        case _:
            database: str = request.getfixturevalue("migrated_database")
            return database


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def store(url: str, clock: HandClock) -> AsyncIterator[SqlStore]:
    if url.startswith("postgresql"):
        await _empty(url)
    opened = await open_store(url, now=clock)
    yield opened
    await opened.close()


@pytest.fixture
async def stage(store: SqlStore, clock: HandClock) -> Stage:
    """A store with known people and one live node."""
    set_up = Stage(store, clock)
    await set_up.open()
    return set_up
