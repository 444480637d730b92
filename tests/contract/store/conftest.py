"""The same store three times: a SQLite file, SQLite in memory, and a real PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runtime.store.store import Store, open_store
from tests.contract.database import EmptyDatabase
from tests.contract.store.stage import HandClock, Stage

KINDS = ["file", "memory", "postgres"]
LONG = pytest.param("memory", marks=pytest.mark.soak)
"""In memory is the engine of the file without one: those are for the long run."""


@pytest.fixture(params=[LONG if kind == "memory" else kind for kind in KINDS])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of one's own, as `database_url` names it."""
    match request.param:
        case "memory":
            return "sqlite:///:memory:"
        case "file":
            return f"sqlite:///{tmp_path / 'signalbox.db'}"
        case _:
            database: EmptyDatabase = request.getfixturevalue("database")
            return database.emptied()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def store(url: str, clock: HandClock) -> AsyncIterator[Store]:
    opened = await open_store(url, now=clock)
    yield opened
    await opened.close()


@pytest.fixture
async def stage(store: Store, clock: HandClock) -> Stage:
    """A store with known people and one live node."""
    set_up = Stage(store, clock)
    await set_up.open()
    return set_up
