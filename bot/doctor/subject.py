"""Subject of a check, and the check itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from bot.node.lock import Control
from bot.settings.settings import Settings
from runtime.contract import Finding, Level
from runtime.errors import ConfigError

REACH: Final = timedelta(seconds=5)
"""Longest wait for anything that is asked over a network."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One installation. `faults` are those of its settings, which are left out of `settings`.

    `pid` owns the data folder (0 when it has not said who it is), and is reached by `control` once it is ready. `live`:
    the model may be asked, which costs a few tokens.
    """

    settings: Settings
    faults: ConfigError | None
    pid: int | None
    control: Control | None
    live: bool = False


Check = Callable[[Subject], Awaitable[Sequence[Finding]]]


def fine(ident: str, what: str) -> Finding:
    return Finding(Level.OK, ident, what)


def warning(ident: str, what: str, why: str, fix: str) -> Finding:
    return Finding(Level.WARNING, ident, what, why, fix)


def fault(ident: str, what: str, why: str, fix: str) -> Finding:
    return Finding(Level.ERROR, ident, what, why, fix)
