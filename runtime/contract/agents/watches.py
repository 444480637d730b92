"""Standing intents for tools: "tell me when …"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from runtime.contract.agents.tasks import TaskActor

WATCHED_EVENTS = (
    *("words", "file_arrived", "webhook", "task_done", "task_failed", "approval_expired", "schedule_failed"),
)
"""Events of a room of which a person may want to be told."""


@dataclass(frozen=True, slots=True)
class WatchWish:
    """What somebody wants to be told of: an event in the room where they ask; of words, any of `words`. `tell` says more
    of what the agent should tell or do then."""

    event: str
    words: Sequence[str] = ()
    tell: str = ""


@dataclass(frozen=True, slots=True)
class KeptWatch:
    """A standing intent as it stands; `id` names it."""

    id: str
    event: str
    words: Sequence[str]
    owner: str
    fires: int
    ends_at: datetime | None


class Watches(Protocol):
    """Standing intents of people, each in its room. What is refused is a ToolRetry with words for a person."""

    async def watch(self, wanted: WatchWish, by: TaskActor, agent: str) -> KeptWatch:
        """Begin to watch, for the person of `by`; the same `key` again is the same one."""

    async def listed(self, by: TaskActor) -> list[KeptWatch]:
        """Those of the room."""

    async def end(self, name: str, by: TaskActor) -> KeptWatch:
        """End one of the person's own, called by its id or one of its words; operators end everybody's."""
