"""Parts that tell operators how a process is: its last log lines, the doctor, settings and metrics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.operator.system.examination import Examination
    from bot.telemetry.ring import LogRing


def no_settings() -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """Of a context that has none, as in a test."""
    return {}, {}


async def no_figures() -> str:
    """Nothing, as nothing is counted."""
    return ""


@dataclass(frozen=True, slots=True)
class HealthParts:
    """`node` is the id of this node, empty for none. `settings` are all that are in effect, secrets masked, and their sources."""

    node: Callable[[], str] = str
    ring: Callable[[], LogRing] | None = None
    examination: Callable[[], Examination] | None = None
    settings: Callable[[], tuple[Mapping[str, Any], Mapping[str, str]]] = no_settings
    metrics: Callable[[], Awaitable[str]] = no_figures
