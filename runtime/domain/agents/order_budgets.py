"""Budgets of work that is handed on: what each piece may spend, and the words where that is spent. No I/O.

Money is in millionths of a US dollar; of a budget, 0 is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MICROS_A_DOLLAR: Final = 1_000_000
LEAST_BUDGET_MICROS: Final = 1
"""For work of which nothing is left: it ends with its first model call, since 0 would bound nothing."""
CENTS_FROM_MICROS: Final = MICROS_A_DOLLAR // 100
"""Sums below this are told to a hundredth of a cent."""


@dataclass(frozen=True, slots=True)
class Purse:
    """A child's budget, and what it and all below it have spent."""

    agent: str
    budget: int
    spent: int

    @property
    def left(self) -> int:
        return max(0, self.budget - self.spent)


def left_for(parent: Purse, at_work: Sequence[Purse]) -> int:
    """Money that `parent` may still hand on: what its children at work have not spent yet is theirs."""
    return max(0, parent.left - sum(child.left for child in at_work))


def shares(wanted: Sequence[int], left: int | None) -> list[int]:
    """Budgets of new children, in the order of their orders. `left` is what their parent may hand on; None without a bound.

    Where an order names none, it gets an equal share of what the others leave, and the parent keeps such a share too.

    >>> shares([300, 0], None), shares([300, 900], 1_000), shares([0, 400, 0], 1_000)
    ([300, 0], [300, 700], [200, 400, 200])
    """
    if left is None:
        return list(wanted)
    given = []
    for one in wanted:
        given.append(min(one, left))
        left -= given[-1]
    share = left // (wanted.count(0) + 1)
    return [max(LEAST_BUDGET_MICROS, own if one else share) for one, own in zip(wanted, given, strict=True)]


def over_budget(found: Purse, *, is_own: bool) -> str:
    """Last words of a child that may spend no more.

    >>> over_budget(Purse("research", 500_000, 512_000), is_own=True)
    'I stopped here: the budget of $0.50 for this work is spent ($0.51).'
    """
    sums = f"{dollars(found.budget)} for {'this work' if is_own else f'the work of {found.agent} above it'}"
    return f"I stopped here: the budget of {sums} is spent ({dollars(found.spent)})."


def dollars(micros: int) -> str:
    """A sum for people.

    >>> dollars(1_500_000), dollars(1_200)
    ('$1.50', '$0.0012')
    """
    is_small = 0 < micros < CENTS_FROM_MICROS
    return f"${micros / MICROS_A_DOLLAR:.4f}" if is_small else f"${micros / MICROS_A_DOLLAR:,.2f}"
