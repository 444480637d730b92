"""All skills that there are, by where they come from: each read once, and again when its files are others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from runtime.domain.skills.skill import Source
from runtime.skills.reading import FoundSkill, read_skill, stamp_of, without_files

SKILLS_MAX: Final = 200
"""Folders that are looked at in one place."""
HIDDEN_MARK: Final = "."


@dataclass(frozen=True, slots=True)
class ShelfPlace:
    """A folder of skills. `agent`: they are that agent's alone."""

    folder: Path
    source: Source
    agent: str = ""


@dataclass(slots=True)
class _Kept:
    stamp: tuple[object, ...]
    found: FoundSkill


@dataclass(slots=True)
class Shelf:
    """Looks at its places. All of it blocks; one caller at a time."""

    places: Callable[[], Sequence[ShelfPlace]]
    _kept: dict[Path, _Kept] = field(default_factory=dict)

    def is_empty(self) -> bool:
        """True if there is no folder with a skill at any place, without reading one."""
        return not any(True for place in self.places() for _ in _folders(place.folder))

    def look(self) -> Mapping[tuple[str, str], FoundSkill]:
        """Skills by agent and name; the agent is empty for those that anybody may have. A later source's hides an earlier one's."""
        found: dict[tuple[str, str], FoundSkill] = {}
        seen: set[Path] = set()
        for place in sorted(self.places(), key=lambda one: one.source):
            for folder in _folders(place.folder):
                seen.add(folder)
                one = self._read(folder, place)
                found[place.agent, one.name] = one
        for gone in self._kept.keys() - seen:
            del self._kept[gone]
        return found

    def _read(self, folder: Path, place: ShelfPlace) -> FoundSkill:
        stamp, kept = stamp_of(folder), self._kept.get(folder)
        if kept is None or kept.stamp != stamp:
            kept = self._kept[folder] = _Kept(stamp, without_files(read_skill(folder, place.source, place.agent)))
        return kept.found


def _folders(place: Path) -> Iterator[Path]:
    """Folders at a place that may hold a skill. What is a link there is a fault of its own, found when it is read."""
    try:
        with os.scandir(place) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith(HIDDEN_MARK) and _is_one(entry))
    except OSError:
        return
    for name in names[:SKILLS_MAX]:
        yield place / name


def _is_one(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) or (entry.is_symlink() and entry.is_dir())
