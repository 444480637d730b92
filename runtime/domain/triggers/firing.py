"""The firing of a trigger: if an event fires it, and the words or inputs of the work that it begins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final

from runtime.contract import Address, Json, RunId, Task, TaskKind
from runtime.domain.triggers.trigger import EventKind, EventTrigger, TriggerState
from runtime.text.glyphs import clip
from runtime.text.outside import material

EVENT_TEXT_MAX_CHARS: Final = 8_000
SOURCE_MAX_CHARS: Final = 80
HOLE: Final = re.compile(r"\{\{\s*event\.(kind|room|text|who|id)\s*\}\}")
OWN_PARTS: Final = frozenset({"kind", "room", "id"})
"""Parts of an event that are our own words, so that an instruction may hold them."""
WORDS_FOR: Final[Mapping[EventKind, str]] = {
    EventKind.WORDS: "somebody wrote a message",
    EventKind.FILE_ARRIVED: "somebody sent files",
    EventKind.WEBHOOK: "a webhook was called",
    EventKind.REACTION: "somebody rated a message of yours",
    EventKind.APPROVAL_EXPIRED: "nobody answered a question in time",
    EventKind.DELIVERY_DEAD: "a message couldn't be shown",
    EventKind.SCHEDULE_FAILED: "a schedule failed",
    EventKind.TASK_DONE: "a task is done",
    EventKind.TASK_FAILED: "a task failed",
    EventKind.AGENT_SPAWNED: "an agent was made",
    EventKind.AGENT_SUSPENDED: "an agent was suspended",
    EventKind.AGENT_RESUMED: "an agent was resumed",
    EventKind.AGENT_TERMINATED: "an agent was ended",
}


@dataclass(frozen=True, slots=True)
class Happening:
    """An event. `key` makes it one; `room` is None where it happened in none. `text` and `who` are others' words.

    `run` is the work from which it comes, if any; `person` caused it, where somebody did.
    """

    kind: EventKind
    key: str
    room: Address | None
    text: str
    who: str = ""
    run: RunId | None = None
    person: str | None = None


class Course(Enum):
    """Course of an event that a trigger is for."""

    FIRE = "fire"
    REST = "rest"  # it fired a short while ago, or may not any more
    STOP = "stop"  # it fires itself


def course_of(
    trigger: EventTrigger, state: TriggerState, last_at: datetime | None, now: datetime, *, deep: bool
) -> Course:
    if state is not TriggerState.ACTIVE:
        return Course.REST
    if deep:
        return Course.STOP
    if last_at is None or not trigger.cooldown:  # of two events at once the later one may be first to fire it
        return Course.FIRE
    return Course.REST if now - last_at < trigger.cooldown else Course.FIRE


def state_after(trigger: EventTrigger, fires: int) -> TriggerState:
    """State of a trigger that has fired so often."""
    return TriggerState.ENDED if trigger.fires_max and fires >= trigger.fires_max else TriggerState.ACTIVE


def parts_of(event: Happening) -> dict[str, str]:
    return {
        "kind": event.kind.value,
        "room": str(event.room or ""),
        "id": event.key,
        "text": clip(event.text, EVENT_TEXT_MAX_CHARS),
        "who": clip(event.who, SOURCE_MAX_CHARS),
    }


def task_of(trigger: EventTrigger, event: Happening) -> Task:
    """The work: words with the event behind them as material, or a workflow with its inputs.

    Inputs that hold others' words are named, so that calls with them ask as after any text from outside.
    """
    parts = parts_of(event)
    if not trigger.workflow:
        own = filled(trigger.prompt, {name: parts[name] for name in OWN_PARTS})
        return Task(TaskKind.PROMPT, f"{own}\n\n{event_told(event)}")
    inputs = {name: filled_in(value, parts) for name, value in trigger.inputs.items()}
    outside = tuple(sorted(name for name, value in trigger.inputs.items() if holds_others(value)))
    return Task(TaskKind.WORKFLOW, trigger.workflow, options=inputs, outside=outside)


def event_told(event: Happening) -> str:
    """The event as a model reads it: what happened in our words, and what others said of it between marks."""
    where = f" in {event.room}" if event.room else ""
    said = material(clip(event.text, EVENT_TEXT_MAX_CHARS), event.who or event.kind.value)
    return f"[What happened{where}: {WORDS_FOR[event.kind]}.]\n{said}"


def because(event: Happening) -> str:
    """The reason for which work begins, in a few words."""
    return WORDS_FOR[event.kind]


def filled(text: str, parts: Mapping[str, str]) -> str:
    """`text` with the parts of the event that it names; others stay as they are written."""
    return HOLE.sub(lambda hole: parts.get(hole[1], hole[0]), text)


def filled_in(value: Json, parts: Mapping[str, str]) -> Json:
    return filled(value, parts) if isinstance(value, str) else value


def holds_others(value: Json) -> bool:
    """True if an input takes others' words in."""
    return isinstance(value, str) and any(hole[1] not in OWN_PARTS for hole in HOLE.finditer(value))
