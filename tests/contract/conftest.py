"""What the contracts of the store, of the runtime and of the courier share."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.contract.database import EmptyDatabase, empty_database
from tests.fakes.postgres import Postgres

SAMPLED: Final = ("runtime", "courier")
"""Folders whose tests are about what is done with a store, and not about its statements, as those of `store` are."""
USUAL_SHARE: Final = 3
"""Of so many of their tests one has a case on PostgreSQL in the usual run. The file has all, and so has `make cuts` on both."""


@pytest.hookimpl(tryfirst=True)  # before those with a mark are left out
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """A test that there is on PostgreSQL alone stays."""
    on_file = {_test(item) for item in items if _engine(item) == "file" and not item.get_closest_marker("soak")}
    counts = Counter[Path]()
    for test, cases in _on_postgres(items).items():
        place = counts[cases[0].path]
        counts[cases[0].path] += 1
        usual = 1 if place % USUAL_SHARE == 0 or test not in on_file else 0
        for case in cases[usual:]:
            case.add_marker(pytest.mark.soak)


def _on_postgres(items: Iterable[pytest.Item]) -> Mapping[str, Sequence[pytest.Item]]:
    """By test, its cases on PostgreSQL that aren't for the long run."""
    found: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if _engine(item) == "postgres" and item.path.parent.name in SAMPLED and not item.get_closest_marker("soak"):
            found[_test(item)].append(item)
    return found


def _test(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _engine(item: pytest.Item) -> str | None:
    called = getattr(item, "callspec", None)
    return None if called is None else called.params.get("url")


@pytest.fixture(scope="session")
def database(postgres: Postgres) -> Iterator[EmptyDatabase]:
    """Take the `emptied()` one before each test."""
    with empty_database(postgres) as database:
        yield database


@pytest.fixture
def _asyncio_loop_factory(request: pytest.FixtureRequest) -> Callable[[], AbstractEventLoop] | None:
    """Where pytest-asyncio has the loop of a test from: the kept one for those on PostgreSQL, a new one for all others."""
    if _engine(request.node) != "postgres":
        return None
    database: EmptyDatabase = request.getfixturevalue("database")
    return lambda: database.kept
