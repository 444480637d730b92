"""The settings of a process at work, as the operators' API has them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from bot.auth.confirming import Confirmations
from bot.settings.settings import Settings
from runtime.errors import ConfigError
from runtime.text.words import marked, say

ONLY_RUNNING: Final = marked("Only a running Signalbox changes settings: `signalbox run`.")


async def nothing_tried(text: str) -> Settings:
    """Refuse where no process runs."""
    raise ConfigError(say(ONLY_RUNNING))


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
