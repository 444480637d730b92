"""Order to the process that renders, and its answer: JSON both ways."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

RENDERED_MAX_CHARS: Final = 50_000
"""Characters of a rendered text."""
REST_WAS_CUT: Final = "\n\n_(The rest was cut: a report has at most 50,000 characters.)_"


@dataclass(frozen=True, slots=True)
class Piece:
    """Result of one call.

    `changed`: it differs from what it was for the occurrence before, or there was none; `had_failed`: there it failed.
    """

    tool: str
    text: str
    failed: bool = False
    changed: bool = True
    had_failed: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """A body to render, or with `expressions` (by name) those to work out. Times are ISO 8601 with their zone.

    `quiet`: without news the text is to be blank, and nobody is shown anything.
    `only_check`: nothing is rendered; data are there by name alone.
    """

    body: str
    above: int
    data: Mapping[str, Piece] = field(default_factory=dict)
    charts: Mapping[str, Piece] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    expressions: Mapping[str, str] = field(default_factory=dict)
    name: str = ""
    now: str = ""
    planned_at: str = ""
    previous: str = ""
    previous_at: str = ""
    zone: str = "UTC"
    quiet: bool = False
    only_check: bool = False

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=True)

    @classmethod
    def from_json(cls, text: str) -> Order:
        raw = json.loads(text)
        for key in ("data", "charts"):
            raw[key] = {name: Piece(**piece) for name, piece in raw[key].items()}
        return cls(**raw)
