"""What a benchmark found, what it must keep, and how it is printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

COLUMNS: Final = ("figure", "value", "beside", "ratio", "bound", "verdict", "note")


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that a figure may be, or the `least`; of its value, or of its `ratio` to what stands beside it."""

    amount: float
    ratio: bool = False
    least: bool = False

    def holds(self, found: float) -> bool:
        return found >= self.amount if self.least else found <= self.amount

    def told(self, unit: str) -> str:
        return f"{'≥' if self.least else '≤'} {self.amount:.2f} {'x' if self.ratio else unit}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. `beside` was measured in turns with it, in the same unit; no bound: it is only told."""

    name: str
    value: float
    unit: str
    beside: float | None = None
    bound: Bound | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.beside is None else self.value / max(self.beside, 1e-9)

    @property
    def judged(self) -> float:
        """What the bound is about."""
        if self.bound and self.bound.ratio and self.ratio is not None:
            return self.ratio
        return self.value

    @property
    def holds(self) -> bool:
        return self.bound is None or self.bound.holds(self.judged)

    @property
    def verdict(self) -> str:
        if self.bound is None:
            return ""
        return "holds" if self.holds else "MISSED"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio, "holds": self.holds}

    def row(self) -> tuple[str, ...]:
        return (
            self.name,
            f"{self.value:.2f} {self.unit}",
            "" if self.beside is None else f"{self.beside:.2f} {self.unit}",
            "" if self.ratio is None else f"{self.ratio:.2f} x",
            "" if self.bound is None else self.bound.told(self.unit),
            self.verdict,
            self.note,
        )


def at_most(amount: float) -> Bound:
    return Bound(amount)


def ratio_at_most(amount: float) -> Bound:
    return Bound(amount, ratio=True)


def ratio_at_least(amount: float) -> Bound:
    return Bound(amount, ratio=True, least=True)


def table(figures: Sequence[Figure], *, without: str = "") -> str:
    """The figures as aligned text, one a line; `without` one of the columns."""
    told = [column for column, name in enumerate(COLUMNS) if name != without]
    rows = [[row[column] for column in told] for row in (COLUMNS, *(figure.row() for figure in figures))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def middle(values: Sequence[float]) -> float:
    """The median."""
    return sorted(values)[len(values) // 2]


def high(values: Sequence[float], share: float = 0.99) -> float:
    """The value that `share` of all do not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
