"""What a benchmark found, and how it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. `bound` is the most it may be, None for a figure that is only told."""

    name: str
    value: float
    unit: str
    bound: float | None = None
    note: str = ""

    @property
    def holds(self) -> bool:
        return self.bound is None or self.value <= self.bound

    @property
    def verdict(self) -> str:
        if self.bound is None:
            return ""
        return "holds" if self.holds else "MISSED"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


def table(figures: Sequence[Figure]) -> str:
    """The figures as aligned text, one a line."""
    rows = [("figure", "value", "bound", "verdict", "note")]
    for figure in figures:
        bound = "" if figure.bound is None else f"≤ {figure.bound:.2f} {figure.unit}"
        rows.append((figure.name, f"{figure.value:.2f} {figure.unit}", bound, figure.verdict, figure.note))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def middle(values: Sequence[float]) -> float:
    """The median."""
    return sorted(values)[len(values) // 2]


def high(values: Sequence[float], share: float = 0.99) -> float:
    """The value that `share` of all do not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
