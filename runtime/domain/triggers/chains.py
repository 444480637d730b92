"""How deep triggers are in the work that an event comes from: told by the chain of its signal.

A chain names agents through whose hands work went. Before them it names the triggers that began it, each behind a mark
that no agent's name has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

FIRED: Final = "trigger:"
"""Before the name of a trigger in a chain; no agent's name has a colon."""
DEPTH_MAX: Final = 3


def agents_in(chain: Sequence[str]) -> tuple[str, ...]:
    """The agents of a chain."""
    return tuple(one for one in chain if not one.startswith(FIRED))


def triggers_in(chain: Sequence[str]) -> tuple[str, ...]:
    """The triggers of a chain, with their marks."""
    return tuple(one for one in chain if one.startswith(FIRED))


def is_too_deep(chain: Sequence[str]) -> bool:
    """True if work that a trigger began has fired another, and that one a third: a fourth is not begun.

    >>> is_too_deep(["trigger:a", "trigger:b", "ops"]), is_too_deep(["trigger:a"] * 3)
    (False, True)
    """
    return len(triggers_in(chain)) >= DEPTH_MAX


def one_deeper(chain: Sequence[str], trigger: str) -> tuple[str, ...]:
    """The chain of the work that `trigger` begins."""
    return (*triggers_in(chain), f"{FIRED}{trigger}")
