"""`[[triggers]]`: work that begins when something happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from bot.settings.faults import nearest
from bot.settings.schedules import ScheduleName, as_json
from bot.settings.sources import Layers
from runtime.domain.agents.manifest import MAIN
from runtime.domain.triggers.trigger import ANY_ROOM, ROOMLESS_KINDS, EventKind
from runtime.settings.types import Number, Section, Text, Whole

Fault = tuple[str, str]
"""The setting, and what is wrong with it."""

WORDS_MAX: Final = 50
WORD_MAX_CHARS: Final = 100


def _words(words: tuple[str, ...]) -> tuple[str, ...]:
    if len(words) > WORDS_MAX or any(len(word) > WORD_MAX_CHARS or not word.strip(" *") for word in words):
        raise ValueError(
            f'at most {WORDS_MAX} words or phrases of up to {WORD_MAX_CHARS} characters, such as "deploy*"'
        )
    return words


class TriggerTable(Section):
    """Work that begins when something happens: [triggers.md](triggers.md). Changes take effect after a reload."""

    name: ScheduleName = Field(description="Its name. The trigger is known by it: another name is another trigger.")
    on: EventKind = Field(description=f"The event: {', '.join(f'`{kind}`' for kind in EventKind)}.")
    room: Text = Field(
        default=ANY_ROOM, description='Rooms in which it counts: an address or a glob, such as "slack:work/*".'
    )
    words: Annotated[tuple[str, ...], AfterValidator(_words)] = Field(
        default=(),
        description='Words or phrases, one of which must be in what was said; `*` stands for further letters: "deploy*".',
    )
    prompt: str = Field(
        default="", max_length=20_000, description="What the agent should do; it reads what happened behind it."
    )
    workflow: str = Field(default="", description="Name of a workflow to begin instead.")
    inputs: Annotated[dict[str, Any], AfterValidator(as_json)] = Field(
        default={},
        description="Inputs of the workflow, in which `{{ event.text }}`, `.who`, `.room`, `.kind` and `.id` are filled in.",
    )
    agent: str = Field(
        default="", description="Name of the agent that does it. Default: the workflow's, or the main one."
    )
    to: str = Field(
        default="", description="Address of the room for its report. Default: the room in which it happened."
    )
    most: Whole = Field(default=0, ge=0, le=1_000_000, description="How often it may fire in all; 0: no limit.")
    cooldown_minutes: Number = Field(
        default=0, ge=0, le=525_600, description="After it has fired, how long events are let pass."
    )

    @property
    def cooldown(self) -> timedelta:
        return timedelta(minutes=self.cooldown_minutes)


def faults_together(layers: Layers, nowhere: Callable[[Layers, str], Iterator[Fault]]) -> Iterator[Fault]:
    """One thing to do, agents and workflows that there are, and a room for the report."""
    agents = [MAIN, *_names(layers, "agents")]
    flows = _names(layers, "workflows")
    for place, table in layers.tables("triggers"):
        given = [name for name in ("prompt", "workflow") if table.get(name)]
        if len(given) != 1:
            yield (
                f"{place}.prompt",
                "and workflow are both set; keep one" if given else "is missing; set it, or workflow",
            )
        if table.get("inputs") and "workflow" not in given:
            yield f"{place}.inputs", "only go with a workflow; remove them"
        for name, known in (("agent", agents), ("workflow", flows)):
            value = table.get(name)
            if isinstance(value, str) and value and value not in known:
                near = nearest(value, known)
                hint = f"did you mean {near}?" if near else f"there is {', '.join(known[:20]) or 'none'}"
                yield f"{place}.{name}", f'"{value}" names no {name}; {hint}'
        if table.get("to"):
            yield from nowhere(layers, f"{place}.to")
        yield from _kinds(place, table)


def _kinds(place: str, table: Mapping[str, Any]) -> Iterator[Fault]:
    on = table.get("on")
    if on in ROOMLESS_KINDS and not table.get("to"):
        yield f"{place}.to", f"is missing: {on} happens in no room, so say where its report goes"
    if on in ROOMLESS_KINDS and table.get("room", ANY_ROOM) != ANY_ROOM:
        yield f"{place}.room", f"goes with no {on}, which happens in no room; remove it"
    if on == EventKind.WORDS and not table.get("words"):
        yield f"{place}.words", 'are missing; name some, such as "deploy*"'


def _names(layers: Layers, kind: str) -> list[str]:
    return [table["name"] for _, table in layers.tables(kind) if isinstance(table.get("name"), str)]
