"""Layout of an axis's labels, so that none touches another. Pure: the caller measures widths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools.charting.letters import Measure, cut, wrapped

GAP: Final = 18.0  # pixels between two labels
TURN: Final = 38  # degrees
WIDEST: Final = 330.0  # pixels of a turned label
LOWEST: Final = 42.0  # pixels a turned line of text needs sideways
LABEL_STEPS: Final = (1, 2, 3, 4, 5, 6, 7, 10, 12, 14, 15, 20, 25, 28, 30, 50, 100)  # as people count days and months
FEW: Final = 16  # so many points of a line may be names, of which none can be left out


@dataclass(frozen=True, slots=True)
class Laid:
    """Labels by position; those left out are not there. `turned` in degrees."""

    at: tuple[int, ...]
    texts: tuple[str, ...]
    turned: int = 0


def laid(labels: Sequence[str], slot: float, measure: Measure, *, ordered: bool) -> Laid:
    """`labels`, each with `slot` pixels. `ordered` ones (days, steps) may be thinned before they are turned.

    >>> laid(["Mon", "Tue"], 100, lambda text: 10 * len(text), ordered=True)
    Laid(at=(0, 1), texts=('Mon', 'Tue'), turned=0)
    """
    every = range(len(labels))
    if max(map(measure, labels)) + GAP <= slot:
        return Laid(tuple(every), tuple(labels))
    if (flat := _in_two_lines(labels, slot, measure)) is not None:
        return Laid(tuple(every), flat)
    if slot >= LOWEST and (not ordered or len(labels) <= FEW):
        return Laid(tuple(every), tuple(cut(label, WIDEST, measure) for label in labels), TURN)
    return _thinned([cut(label, WIDEST, measure) for label in labels], slot, measure)


def _in_two_lines(labels: Sequence[str], slot: float, measure: Measure) -> tuple[str, ...] | None:
    """Each label in two lines with no word torn and nothing cut, or None."""
    pieces = [wrapped(label, slot - GAP, 2, measure) for label in labels]
    whole = all(" ".join(each) == label for each, label in zip(pieces, labels, strict=True))
    return tuple("\n".join(each) for each in pieces) if whole else None


def _thinned(labels: Sequence[str], slot: float, measure: Measure) -> Laid:
    """Every so many, the first among them."""
    least = math.ceil((max(map(measure, labels)) + GAP) / slot)
    step = next((step for step in LABEL_STEPS if step >= least), least)
    at = tuple(range(0, len(labels), step))
    return Laid(at, tuple(labels[index] for index in at))
