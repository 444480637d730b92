"""Rules for joining messages in one run, which acts with the rights of the person who began it.

So into somebody's run come their own words, and those of people who may do at least as much. What a program says joins
no run but its own: it is not asked whether it wants what the run then does. Those who wait keep their order, so what
was said behind one that may not join waits too. Their order is that in which they came, but for one that came late. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, TypeVar

from runtime.contract import PersonId

NOBODY: Final = -1
"""In place of a role: somebody who was forgotten, or a run that nobody asked for. Less than every role."""

TIME: Final = re.compile(r"[0-9]{10}\.[0-9]{6}")
"""A message id that is its platform's time: seconds, and of one room no two are the same."""

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


def as_said(waiting: Sequence[T], message_id: Callable[[T], str]) -> list[T]:
    """Order of those who wait: as they were said, as far as message ids tell a time; the others keep their places.

    One comes late where the connection on which it was told first had died unnoticed.
    """
    timed = [place for place, one in enumerate(waiting) if TIME.fullmatch(message_id(one))]
    ordered = list(waiting)
    for place, one in zip(timed, sorted((waiting[place] for place in timed), key=message_id), strict=True):
        ordered[place] = one
    return ordered
