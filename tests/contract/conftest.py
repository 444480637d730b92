"""What the contracts of the store, of the runtime and of the courier share."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import pytest

from tests.contract.database import EmptyDatabase, empty_database
from tests.fakes.postgres import Postgres

SAMPLED: Final = ("runtime", "courier")
"""Folders whose tests are about what is done with a store, and not about its statements, as those of `store` are."""
USUAL_CASES: Final = 2
"""Cases of one such test that the usual run has on PostgreSQL. The file has all, and so has `make cuts` on both."""


@pytest.hookimpl(tryfirst=True)  # before those with a mark are left out
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    for cases in _on_postgres(items):
        usual = {number * len(cases) // USUAL_CASES for number in range(USUAL_CASES)}
        for place, case in enumerate(cases):
            if place not in usual:
                case.add_marker(pytest.mark.soak)


def _on_postgres(items: Iterable[pytest.Item]) -> Iterable[Sequence[pytest.Item]]:
    """By test, its usual cases on PostgreSQL."""
    found: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        called = getattr(item, "callspec", None)
        is_there = called is not None and called.params.get("url") == "postgres"
        if is_there and item.path.parent.name in SAMPLED and not item.get_closest_marker("soak"):
            found[item.nodeid.partition("[")[0]].append(item)
    return found.values()


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
