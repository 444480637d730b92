"""Place of the metrics, and who can reach it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.settings.sections.operating import Metrics
from bot.settings.sections.rooms import Web

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Place:
    """`is_own`: a port that is not the web page's. `is_open`: other machines can reach it."""

    host: str
    port: int
    is_own: bool
    is_open: bool


def place_of(metrics: Metrics, page: Web) -> Place:
    """A web page with names for others has a proxy before it, wherever it listens itself."""
    if metrics.port in (0, page.port):
        return Place(page.host, page.port, is_own=False, is_open=page.host not in LOOPBACK or bool(page.names))
    return Place(metrics.host, metrics.port, is_own=True, is_open=metrics.host not in LOOPBACK)
