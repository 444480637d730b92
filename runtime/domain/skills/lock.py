"""The lock of a skill: its form that an owner accepted, every file by its hash. Pure.

A skill is words that the agent will follow and programs that it may run. So one that nobody accepted, or that is another
one by now, is not there for any agent. The decision is a row, and no file beside the skill: all nodes of a database go by
it, and whoever may change the skill's folder can't change the decision with it.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from runtime.domain.skills.skill import Skill, Source
from runtime.text.glyphs import clip, visible

DIFF_MAX_LINES: Final = 60
DIFF_LINE_MAX_CHARS: Final = 200
FILES_NAMED: Final = 12
SKILL_TEXT_MAX_CHARS: Final = 64_000
"""Characters of a SKILL.md as it was accepted, which are kept for the next comparison."""


class Standing(StrEnum):
    """Standing of a skill before its lock."""

    TRUSTED = "trusted"  # it came with the package
    ACCEPTED = "accepted"  # an owner accepted this very form
    NEW = "new"  # nobody was asked yet, or nobody answered
    CHANGED = "changed"  # it is another one than was accepted

    @property
    def is_open(self) -> bool:
        """True if agents may have it."""
        return self in (Standing.TRUSTED, Standing.ACCEPTED)


@dataclass(frozen=True, slots=True)
class Locked:
    """A decision: the form of a skill that an owner accepted. `told` is the last form that operators were told of."""

    name: str
    digest: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    by: str = ""
    at: datetime | None = None
    told: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """Changes of a skill since it was accepted. `lines` compare its SKILL.md."""

    added: Sequence[str] = ()
    removed: Sequence[str] = ()
    changed: Sequence[str] = ()
    lines: Sequence[str] = ()


def digest_of(files: Mapping[str, str]) -> str:
    """Hash of all files by path and hash; so a file that is new, gone or renamed counts as well."""
    return hashlib.sha256(json.dumps(sorted(files.items())).encode()).hexdigest()


def lock_of(skill: Skill, locks: Mapping[str, Locked]) -> Locked | None:
    """The decision about a skill. An agent's own goes by one under the bare name too, if that is about this very form."""
    own, bare = locks.get(skill.locked_as), locks.get(skill.name)
    is_older = skill.agent and bare is not None and bare.digest == skill.digest
    return bare if is_older else own


def standing(skill: Skill, locks: Mapping[str, Locked]) -> Standing:
    if skill.source is Source.SHIPPED:
        return Standing.TRUSTED
    known = lock_of(skill, locks)
    if known is None or not known.digest:
        return Standing.NEW
    return Standing.ACCEPTED if known.digest == skill.digest else Standing.CHANGED


def difference(skill: Skill, text: str, before: Locked | None) -> Difference:
    """From what was accepted to `skill`, whose SKILL.md is `text`."""
    old = before.files if before else {}
    both = old.keys() & skill.files.keys()
    return Difference(
        added=sorted(skill.files.keys() - old.keys()),
        removed=sorted(old.keys() - skill.files.keys()),
        changed=sorted(path for path in both if old[path] != skill.files[path]),
        lines=_lines(before.text if before else "", text),
    )


def _lines(before: str, now: str) -> list[str]:
    """A unified diff without its head, bounded, in letters that can be seen."""
    if before == now:
        return []
    found = list(difflib.unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=1))[2:]
    shown = [clip(visible(line, one_line=True), DIFF_LINE_MAX_CHARS) for line in found[:DIFF_MAX_LINES]]
    if len(found) > DIFF_MAX_LINES:
        shown.append(f"… {len(found) - DIFF_MAX_LINES:,} more lines")
    return shown


def in_words(found: Difference) -> list[str]:
    """Lines on the files that differ, for people."""
    kinds = (("New", found.added), ("Gone", found.removed), ("Changed", found.changed))
    return [f"{word}: {_named(paths)}" for word, paths in kinds if paths]


def _named(paths: Sequence[str]) -> str:
    shown = ", ".join(
        f"`{clip(visible(path, one_line=True), 80).replace('`', chr(39))}`" for path in paths[:FILES_NAMED]
    )
    return f"{shown} and {len(paths) - FILES_NAMED:,} more" if len(paths) > FILES_NAMED else shown
