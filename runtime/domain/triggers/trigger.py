"""A trigger: an event, where it counts, and the work that it begins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Final

from runtime.contract import Json

ANY_ROOM: Final = "*"


class EventKind(StrEnum):
    """An event that a trigger may wait for."""

    WORDS = "words"  # somebody wrote a message
    FILE_ARRIVED = "file_arrived"  # somebody sent one with files
    WEBHOOK = "webhook"  # another program called a webhook
    REACTION = "reaction"  # somebody rated a message of ours
    APPROVAL_EXPIRED = "approval_expired"
    DELIVERY_DEAD = "delivery_dead"
    SCHEDULE_FAILED = "schedule_failed"
    TASK_DONE = "task_done"
    TASK_FAILED = "task_failed"
    AGENT_SPAWNED = "agent_spawned"
    AGENT_SUSPENDED = "agent_suspended"
    AGENT_RESUMED = "agent_resumed"
    AGENT_TERMINATED = "agent_terminated"


SAID_KINDS: Final = frozenset({EventKind.WORDS, EventKind.FILE_ARRIVED, EventKind.WEBHOOK})
"""Events that are messages: looked for in each message, and never by a statement unless one is found."""
ROOMLESS_KINDS: Final = frozenset(kind for kind in EventKind if kind.startswith("agent_"))
"""Events that happen in no room."""


class TriggerState(StrEnum):
    ACTIVE = "active"
    ENDED = "ended"  # it fired as often as it may
    STOPPED = "stopped"  # its own work made it fire again and again
    PAUSED = "paused"  # an operator turned it off


@dataclass(frozen=True, slots=True)
class EventTrigger:
    """Work that begins when something happens.

    `room` is a glob of addresses. Of `words` any counts, as whole words; empty: all do. `prompt` is work for `agent`, or
    `workflow` is begun with `inputs`, in which `{{ event.… }}` stands for parts of the event. Reports go `to` that room, or
    where it is empty into the event's. `fires_max` 0 is no bound. `wakes` names a run and its step, whose wait ends then.
    """

    id: str
    name: str
    on: EventKind
    room: str = ANY_ROOM
    words: tuple[str, ...] = ()
    prompt: str = ""
    workflow: str = ""
    inputs: Mapping[str, Json] = field(default_factory=dict)
    agent: str = ""
    to: str = ""
    fires_max: int = 0
    cooldown: timedelta = timedelta()
    wakes: str = ""

    def to_json(self) -> str:
        """All but what columns of its own hold."""
        told = {
            "words": list(self.words),
            "prompt": self.prompt,
            "workflow": self.workflow,
            "inputs": dict(self.inputs),
            "agent": self.agent,
            "to": self.to,
            "fires_max": self.fires_max,
            "cooldown": self.cooldown.total_seconds(),
        }
        if self.wakes:
            told["wakes"] = self.wakes
        return json.dumps(told, ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, ident: str, name: str, on: str, room: str, text: str) -> EventTrigger:
        raw = json.loads(text)
        return cls(
            id=ident,
            name=name,
            on=EventKind(on),
            room=room,
            words=tuple(raw["words"]),
            prompt=raw["prompt"],
            workflow=raw["workflow"],
            inputs=raw["inputs"],
            agent=raw["agent"],
            to=raw["to"],
            fires_max=raw["fires_max"],
            cooldown=timedelta(seconds=raw["cooldown"]),
            wakes=raw.get("wakes", ""),
        )
