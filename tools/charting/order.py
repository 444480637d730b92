"""Order to draw, as plain values that go to the drawing process as JSON."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Final, Literal

Kind = Literal["line", "bar", "pie"]
ThemeName = Literal["light", "dark"]

MOST_LABELS: Final = 500
MOST_SERIES: Final = 12
LOOK_VERSION: Final = 1
"""Counted up when the same order is to look different, so that an old picture is not taken for the new one."""


@dataclass(frozen=True, slots=True)
class Series:
    """One line, or one colour of bars. None is a gap."""

    name: str
    values: tuple[float | None, ...]

    @property
    def known(self) -> tuple[float, ...]:
        """The values without the gaps."""
        return tuple(value for value in self.values if value is not None)


@dataclass(frozen=True, slots=True)
class Order:
    """One chart. Checked before it is made: see `arguments`."""

    kind: Kind
    title: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    unit: str = ""
    alt: str = ""
    theme: ThemeName = "light"
    stacked: bool = False
    horizontal: bool = False

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(value for series in self.series for value in series.known)


def written(order: Order) -> str:
    """`order` as JSON; equal orders are equal texts."""
    return json.dumps(asdict(order), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def read(text: str) -> Order:
    """Read what `written` wrote."""
    given = json.loads(text)
    given["labels"] = tuple(given["labels"])
    given["series"] = tuple(Series(each["name"], tuple(each["values"])) for each in given["series"])
    return Order(**given)


def digest(order: Order) -> str:
    """A name for the picture of `order`: the same after a kill, another one for any other order."""
    return hashlib.sha256(f"{LOOK_VERSION}|{written(order)}".encode()).hexdigest()[:12]
