"""Counts the cases of a suite, and what did not hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

COUNTED: Final = "cases"
SHOWN: Final = 10


@dataclass
class Tally:
    """One suite, or a part of it that a test of its own counts. `least` is how many cases it must have: a loop that ran empty proves nothing."""

    suite: str
    least: int
    tell: Callable[[str, int], None]
    count: int = 0
    broken: list[str] = field(default_factory=list)

    def case(self, held: bool, words: str) -> None:
        """One case; `words` tells of it where it did not hold."""
        self.count += 1
        if not held:
            self.broken.append(words)

    def close(self) -> None:
        """Errors: AssertionError names the first that did not hold, or says that there were too few."""
        self.tell(self.suite, self.count)
        first = "\n".join(self.broken[:SHOWN])
        assert not self.broken, f"{self.suite}: {len(self.broken)} of {self.count} did not hold:\n{first}"
        assert self.count >= self.least, f"{self.suite}: {self.count} cases, and there must be {self.least}"


Tallied = Callable[[str, int], Tally]
"""The fixture `tallied`: a tally of a suite and of the cases that it must have."""
