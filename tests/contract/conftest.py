"""What the contracts of the store, of the runtime and of the courier share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.database import EmptyDatabase, empty_database
from tests.fakes.postgres import Postgres


@pytest.fixture(scope="session")
def database(postgres: Postgres) -> Iterator[EmptyDatabase]:
    """Take the `emptied()` one before each test."""
    with empty_database(postgres) as database:
        yield database
