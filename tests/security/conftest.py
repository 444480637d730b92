"""The counts of the suites; `tests/conftest.py` prints them below the tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.security.tally import COUNTED, Tally


@pytest.fixture
def tallied(record_property: Callable[[str, object], None]) -> Callable[[str, int], Tally]:
    """Begins the count of a suite."""
    return lambda suite, least: Tally(suite, least, lambda words: record_property(COUNTED, words))
