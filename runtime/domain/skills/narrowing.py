"""Bounds that skills set to a run: tools, shell commands and words. Pure; nothing here can allow anything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from runtime.contract import FIND_TOOLS, Json
from runtime.domain.skills.matching import Matched

KEPT_TOOLS: Final = frozenset({"skill_read", "skill_run", "ask_person", FIND_TOOLS})
"""Tools that no list of a skill takes away: they reach nothing that the others don't."""
COMMAND_ARGUMENTS: Final = ("command", "args", "script")
"""Arguments in which a tool takes a command line."""
BETWEEN_COMMANDS: Final = re.compile(r"&&|\|\||[;|&\n(){}`]|\$\(")
"""Between the commands of a line."""


@dataclass(frozen=True, slots=True)
class Denied:
    """Something that a skill forbids, and that skill."""

    skill: str
    what: str


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Bounds of a run by its skills. `only` are the tools left to a request that asked for a skill; None for all."""

    only: frozenset[str] | None = None
    whose: str = ""
    tools: Sequence[Denied] = ()
    commands: Sequence[Denied] = ()
    output: Sequence[Denied] = ()

    def __bool__(self) -> bool:
        return self.only is not None or bool(self.tools or self.commands or self.output)


def narrowing_of(given: Iterable[Matched]) -> Narrowing:
    """Bounds of all of them together. A list of tools counts where people asked for the skill: a match by words only guesses."""
    skills = list(given)
    lists = [one.skill for one in skills if one.asked and one.skill.allowed is not None]
    only = frozenset[str].intersection(*(frozenset(one.allowed or ()) for one in lists)) if lists else None
    return Narrowing(
        only,
        ", ".join(one.name for one in lists),
        [Denied(one.skill.name, glob) for one in skills for glob in one.skill.guardrails.tools],
        [Denied(one.skill.name, command) for one in skills for command in one.skill.guardrails.commands],
        [Denied(one.skill.name, words) for one in skills for words in one.skill.guardrails.output],
    )


def withholds(bounds: Narrowing, tool: str) -> str:
    """The reason for which a tool isn't there; empty where it is."""
    if denied := next((one for one in bounds.tools if fnmatchcase(tool, one.what)), None):
        return f"the skill {denied.skill} forbids it"
    if bounds.only is None or tool in KEPT_TOOLS or any(fnmatchcase(tool, glob) for glob in bounds.only):
        return ""
    return f"the skill {bounds.whose} works without it"


def forbids(bounds: Narrowing, arguments: Mapping[str, Json]) -> str:
    """The reason for which a call must not run; empty where no skill forbids it.

    Commands are compared word by word with each part of a line. Whoever hides one well gets by: what must never run is
    forbidden by the policy.
    """
    said = [str(arguments[name]) for name in COMMAND_ARGUMENTS if isinstance(arguments.get(name), str)]
    parts = [_plain(part) for text in said for part in BETWEEN_COMMANDS.split(text)]
    for denied in bounds.commands:
        wanted = _plain(denied.what)
        if any(part == wanted or f" {part} ".find(f" {wanted} ") >= 0 for part in parts):
            return f"The skill {denied.skill} forbids the command {denied.what!r}. Nothing was called."
    return ""


def tells(bounds: Narrowing, text: str) -> str:
    """The reason for which a reply must not be shown; empty where it may."""
    said = " ".join(text.casefold().split())
    found = next((one for one in bounds.output if " ".join(one.what.casefold().split()) in said), None)
    return f"The skill {found.skill} forbids {found.what!r} in a reply." if found else ""


def _plain(command: str) -> str:
    """Words of a command without quotes, parted by single blanks."""
    return " ".join(command.replace('"', "").replace("'", "").replace("\\", "").split())
