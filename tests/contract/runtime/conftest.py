"""Stages for tests of the runtime: `stage` in memory, `any_stage` also over a file and a real PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from runtime.store.store import open_store
from tests.contract.runtime.stage import HandClock, Stage
from tests.contract.runtime.stores import memory_store
from tests.fakes.postgres import Postgres


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def stage(clock: HandClock, tmp_path: Path) -> AsyncIterator[Stage]:
    store = memory_store(clock)
    set_up = Stage(store, clock, tmp_path)
    await set_up.open()
    yield set_up
    await store.close()


@pytest.fixture(scope="session")
def migrated(postgres: Postgres) -> str:
    """A PostgreSQL database at the newest revision, to be cloned."""
    url = postgres.create_database()

    async def migrate() -> None:
        store = await open_store(url)
        await store.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, migrate()).result()
    return url


@pytest.fixture(params=["memory", "file", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    match request.param:
        case "memory":
            return "sqlite:///:memory:"
        case "file":
            return f"sqlite:///{tmp_path / 'signalbox.db'}"
        case _:
            server: Postgres = request.getfixturevalue("postgres")
            return server.create_database(template=request.getfixturevalue("migrated"))


@pytest.fixture
async def any_stage(url: str, clock: HandClock, tmp_path: Path) -> AsyncIterator[Stage]:
    store = await open_store(url, now=clock)
    set_up = Stage(store, clock, tmp_path)
    await set_up.open()
    yield set_up
    await store.close()
