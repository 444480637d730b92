"""A plan: each thing that is taken over, changed or left, and why; and all that will be written. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from bot.migration.found import FoundMemory, FoundPerson, Item
from bot.settings.editing.file import SettingsText
from runtime.skills.reading import FoundSkill


class Action(StrEnum):
    """Decision about one thing."""

    TAKE = "take"
    CHANGE = "change"  # taken, but not as it was: the reason says how
    THERE = "there"  # as it should be already
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the plan."""

    item: Item
    name: str
    action: Action
    why: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class NewPerson:
    """Somebody to add, by the name they get."""

    name: str
    found: FoundPerson


@dataclass
class Plan:
    """Steps in the order of their items, and what they lead to: files, secrets, rows, and the settings last of all."""

    program: str
    steps: list[Step] = field(default_factory=list)
    settings: SettingsText | None = None
    fresh: str = ""
    prompt_file: Path | None = None
    prompt: str = ""
    skills: list[tuple[FoundSkill, Path]] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
    people: list[NewPerson] = field(default_factory=list)
    memories: list[FoundMemory] = field(default_factory=list)

    def left_more(self, item: Item, found: int, most: int) -> None:
        """Tell of what is beyond the number that is taken at once."""
        if found > most:
            self.add(item, f"{found - most:,} more", Action.LEAVE, f"at most {most:,} at once")

    def add(self, item: Item, name: str, action: Action, why: str = "", fix: str = "") -> None:
        self.steps.append(Step(item, name, action, why, fix))

    @property
    def changes_settings(self) -> bool:
        return self.settings is not None and self.fresh != self.settings.text

    @property
    def changes_anything(self) -> bool:
        return bool(self.changes_settings or self.prompt or self.skills or self.secrets or self.people or self.memories)

    def view(self, steps: Collection[Step] | None = None) -> list[dict[str, Any]]:
        """Rows for programs."""
        order = {item: number for number, item in enumerate(Item)}
        rows = sorted(self.steps if steps is None else steps, key=lambda one: order[one.item])
        return [
            {"item": one.item.value, "name": one.name, "what": one.action.value, "why": one.why, "fix": one.fix}
            for one in rows
        ]
