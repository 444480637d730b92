"""Rules for joining messages in one run, which acts with the rights of the person who began it.

So into somebody's run come their own words, and those of people who may do at least as much. What a program says joins
no run but its own: it is not asked whether it wants what the run then does. Those who wait keep their order, so what
was said behind one that may not join waits too. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, TypeVar

from runtime.contract import PersonId

NOBODY: Final = -1
"""In place of a role: somebody who was forgotten, or a run that nobody asked for. Less than every role."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rights:
    """Rights of a person who joins. `role` is one of `Role`, or NOBODY."""

    person: PersonId | None
    role: int
    is_program: bool = False

    def may_join(self, asker: Rights) -> bool:
        """True if what they say may be worked on with the rights of `asker`."""
        if self.person == asker.person:
            return True
        return not self.is_program and self.role >= asker.role


def joining(waiting: Iterable[T], standing: Callable[[T], Rights], asker: Rights) -> list[T]:
    """Of what waits, in its order, what may join the run of `asker`: up to the first that may not."""
    return list(takewhile(lambda one: standing(one).may_join(asker), waiting))
