"""Counters and histograms as plain numbers.

Counting is a few additions, and nothing of a metrics library is loaded before somebody looks. Each object is written by
one thread only; whoever reads may see the moment between two additions, which costs a scrape nothing.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

Labels = tuple[str, ...]


class Counter:
    """A number a combination of labels; it only grows."""

    def __init__(self, name: str, help: str, *labels: str) -> None:
        self.name: Final = name
        self.help: Final = help
        self.labels: Final = labels
        self._values: dict[Labels, float] = {} if labels else {(): 0}

    def add(self, *labels: str, by: float = 1) -> None:
        self._values[labels] = self._values.get(labels, 0) + by

    def value(self, *labels: str) -> float:
        return self._values.get(labels, 0)

    def __iter__(self) -> Iterator[tuple[Labels, float]]:
        return iter(list(self._values.items()))


class Histogram:
    """Counts of values between two bounds, and the sum of all values, for each combination of labels."""

    def __init__(self, name: str, help: str, *labels: str, bounds: Sequence[float]) -> None:
        self.name: Final = name
        self.help: Final = help
        self.labels: Final = labels
        self.bounds: Final = tuple(bounds)
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}
        if not labels:
            self._open(())

    def observe(self, value: float, *labels: str) -> None:
        counts = self._counts.get(labels) or self._open(labels)
        counts[bisect_left(self.bounds, value)] += 1  # a bound belongs to its own bucket
        self._sums[labels] += value

    def counts(self, *labels: str) -> Sequence[int]:
        """Values at most each bound, and above the last; not added up."""
        return tuple(self._counts.get(labels, [0] * (len(self.bounds) + 1)))

    def count(self, *labels: str) -> int:
        return sum(self.counts(*labels))

    def sum(self, *labels: str) -> float:
        return self._sums.get(labels, 0)

    def __iter__(self) -> Iterator[Labels]:
        return iter(list(self._counts))

    def _open(self, labels: Labels) -> list[int]:
        self._sums[labels] = 0
        counts = self._counts[labels] = [0] * (len(self.bounds) + 1)
        return counts


class Gauge:
    """A number that is read when somebody looks. It has no memory: what is not given is not there."""

    def __init__(self, name: str, help: str, *labels: str) -> None:
        self.name: Final = name
        self.help: Final = help
        self.labels: Final = labels
