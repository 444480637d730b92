"""View: a row as JSON, which the operators' API answers and the command line prints."""

from __future__ import annotations

from datetime import datetime
from typing import Any

View = dict[str, Any]


def at(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None
