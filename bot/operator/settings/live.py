"""The settings of a process at work, as the operators' API has them; and who has shown just now that it is them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from bot.settings.settings import Settings
from runtime.domain.ids import digest
from runtime.errors import ConfigError

CONFIRMED_FOR: Final = timedelta(minutes=10)
SESSIONS_MAX: Final = 1_000
ONLY_RUNNING: Final = "Only a running Signalbox changes settings: `signalbox run`."


class Confirmations:
    """Browsers whose person has opened their link, or signed in anew, within the last minutes. Kept by this process alone."""

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._at: dict[str, float] = {}

    def opened(self, token: str) -> None:
        """A browser got this token, or showed once more where it has it from."""
        self.confirm(digest(token))

    def confirm(self, session: str) -> None:
        """`session` is the digest of what a browser holds."""
        if len(self._at) >= SESSIONS_MAX:
            self._at = {one: at for one, at in self._at.items() if self._is_young(at)}
        if len(self._at) >= SESSIONS_MAX:
            del self._at[next(iter(self._at))]
        self._at[session] = self._ticks()

    def left(self, session: str) -> timedelta:
        """Time for which it still counts; nothing where it doesn't."""
        at = self._at.get(session)
        if at is None or not self._is_young(at):
            return timedelta(0)
        return CONFIRMED_FOR - timedelta(seconds=self._ticks() - at)

    def _is_young(self, at: float) -> bool:
        return self._ticks() - at < CONFIRMED_FOR.total_seconds()


async def nothing_tried(text: str) -> Settings:
    """Refuse where no process runs."""
    raise ConfigError(ONLY_RUNNING)


async def told_nobody(origin: str, text: str) -> None:
    """Nobody is told where no process runs."""


async def no_other_node() -> Sequence[str]:
    """A process that doesn't run has no nodes beside it."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSettings:
    """`current` are those in effect, `now` are all of them read again, and `trial` those of a draft of the file, checked as a reload
    would; each with people as they are stored. `tell` posts to the operators' room, once for an origin. `nodes` are
    live processes on this database, this one included. `at_once` are settings, and tables of them, that a reload takes over.
    """

    current: Callable[[], Settings]
    now: Callable[[], Awaitable[Settings]]
    trial: Callable[[str], Awaitable[Settings]] = nothing_tried
    tell: Callable[[str, str], Awaitable[None]] = told_nobody
    nodes: Callable[[], Awaitable[Sequence[str]]] = no_other_node
    confirmations: Confirmations = field(default_factory=Confirmations)
    at_once: Sequence[str] = ()
    is_at_work: bool = False
    provider: str = ""
