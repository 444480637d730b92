"""Cases of one test, of which the usual run has some and `make cuts` the others too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet  # no name that is public


def sample(cases: Iterable[Any], usual: int) -> list[ParameterSet]:
    """Of `cases` so many are usual, spread over all. Those with values and marks of their own are given as `pytest.param`."""
    listed = [one if isinstance(one, ParameterSet) else pytest.param(one) for one in cases]
    places = {number * len(listed) // usual for number in range(usual)}
    return [
        one if place in places else pytest.param(*one.values, id=one.id, marks=[*one.marks, pytest.mark.soak])
        for place, one in enumerate(listed)
    ]
