"""In what order the processes of one run of the tests take them: what is long is spread over the run, and begins early.

Long tests mostly wait, and short ones mostly work: side by side they fill the processors, and none of the long ones is
left for the end, when the other processes have nothing more to do. A test is long if it belongs to a group, or says with
a mark how much more time than others it may take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import pytest

EARLY: Final = 0.8
"""The share of the short tests among which the long ones are spread."""


def keep_groups(items: Iterable[pytest.Item]) -> None:
    """Let the names of tests end with those of their groups, by which pytest-xdist knows what stays together.

    It writes them where pytest before 9.2 had the names: https://github.com/pytest-dev/pytest-xdist, 3.8.0, remote.py.
    """
    for item in items:
        written = vars(item).get("_nodeid")
        if written is not None and written != item.nodeid:
            item._id = type(item.id).parse(written)


def in_turns(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The same tests: groups whole, the long ones in between the short."""
    short: list[list[pytest.Item]] = []
    long: list[list[pytest.Item]] = []
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        if group := item.get_closest_marker("xdist_group"):
            groups.setdefault(str(group.args[0]), []).append(item)
        else:
            (long if item.get_closest_marker("timeout") else short).append([item])
    return list(chain.from_iterable(_spread([*groups.values(), *long], short)))


def _spread(long: Sequence[list[pytest.Item]], short: Sequence[list[pytest.Item]]) -> Iterator[list[pytest.Item]]:
    step = EARLY * len(short) / (sum(map(_weight, long)) or 1)
    rest, due = list(reversed(long)), 0.0
    for number, unit in enumerate(short):
        while rest and number >= due:
            due += step * _weight(rest[-1])
            yield rest.pop()
        yield unit
    yield from reversed(rest)


def _weight(unit: Sequence[pytest.Item]) -> int:
    """A group takes about half a minute, a long test alone about five seconds."""
    return 6 if len(unit) > 1 else 1
