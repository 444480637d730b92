"""The order in which the processes of one run take the tests, and whether those of a group stay together."""

from __future__ import annotations

from itertools import groupby
from typing import Any, cast

import pytest

from tests.turns import EARLY, in_turns


class Item:
    """As much of a test as its turn depends on."""

    def __init__(self, name: str, **marks: Any) -> None:
        self.name = name
        self._marks = {name: getattr(pytest.mark, name)(value).mark for name, value in marks.items()}

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self._marks.get(name)


def turns(items: list[Item]) -> list[str]:
    return [item.name for item in cast("list[Item]", in_turns(cast("list[pytest.Item]", items)))]


def test_groups_are_whole_and_what_is_long_is_begun_early_and_spread() -> None:
    short = [Item(f"s{number}") for number in range(100)]
    long = [Item(f"l{number}", timeout=120) for number in range(5)]
    groups = [Item(f"g{number % 2}", xdist_group=f"g{number % 2}") for number in range(6)]
    order = turns([*short, *long, *groups])
    assert sorted(order) == sorted(item.name for item in [*short, *long, *groups])
    assert [name for name, _ in groupby(order) if name[0] != "s"] == ["g0", "g1", "l0", "l1", "l2", "l3", "l4"]
    assert order[:4] == ["g0", "g0", "g0", "s0"]
    assert order.index("l4") < EARLY * len(order)
    assert order[-1] == "s99"


@pytest.mark.parametrize("kind", [{}, {"timeout": 120}, {"xdist_group": "g"}])
def test_tests_of_one_kind_keep_their_order(kind: dict[str, Any]) -> None:
    assert turns([Item(name, **kind) for name in "abc"]) == ["a", "b", "c"]


@pytest.mark.xdist_group("turns")
def test_pytest_xdist_is_told_of_groups(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("loadgroup", default=False):
        pytest.skip("there are groups only where several processes share the tests with --dist loadgroup")
    assert request.node.nodeid.endswith("@turns")
