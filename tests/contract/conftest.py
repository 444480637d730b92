"""What the contracts of the store, of the runtime and of the courier share."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterator

import pytest

from tests.contract.database import EmptyDatabase, empty_database
from tests.fakes.postgres import Postgres


@pytest.fixture(scope="session")
def database(postgres: Postgres) -> Iterator[EmptyDatabase]:
    """Take the `emptied()` one before each test."""
    with empty_database(postgres) as database:
        yield database


@pytest.fixture
def _asyncio_loop_factory(request: pytest.FixtureRequest) -> Callable[[], AbstractEventLoop] | None:
    """Where pytest-asyncio has the loop of a test from: the kept one for those on PostgreSQL, a new one for all others."""
    called = getattr(request.node, "callspec", None)
    if called is None or called.params.get("url") != "postgres":
        return None
    database: EmptyDatabase = request.getfixturevalue("database")
    return lambda: database.kept
