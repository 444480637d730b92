"""Phrases about skills that the demo model understands: to read one, to run a script of one, and to propose one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from runtime.contract import AssistantTurn, Json, ToolTurn, Turn

Phrase = tuple[str, str, Mapping[str, Json]]

# As `demo_phrases.PHRASES` has them.
SKILLS: Final[Sequence[Phrase]] = (
    (r"(?:read|use) the skill (?P<name>[\w-]+)(?:,? file (?P<file>\S+))?", "skill_read", {}),
    (
        r"propose (?:the |a )?skill (?P<name>[\w./-]+)(?: \((?P<description>[^)]+)\))?: ?(?P<steps>.+)",
        "skill_propose",
        {},
    ),
    (r"run the skill (?P<skill>[\w-]+): ?(?P<script>\S+)(?: (?P<args>.+))?", "skill_run", {}),
)
WHAT_I_CAN_USE: Final = """\
- `use the skill NAME`, `run the skill NAME: SCRIPT ARGUMENTS`
- `propose the skill NAME: STEP; STEP; …` (or `propose the skill NAME (WHAT IT IS FOR): …`): an owner decides. After `use the skill NAME` it's a change of that one"""
FORM_TOLD_AS: Final = re.compile(r"^Form (?P<form>[0-9a-f]{12,64})\.$", re.MULTILINE)
WHY_PROPOSED: Final = "You told me how it is done here."
REQUEST_HEAD: Final = re.compile(r"[/!]skill\s+\S+\s+", re.IGNORECASE)
"""How a line begins that asks for a skill: the words behind it are what is wanted."""


def without_skill(line: str) -> str:
    """A line without the skill that it asks for.

    >>> without_skill("/skill notes list the files")
    'list the files'
    """
    return REQUEST_HEAD.sub("", line, count=1) if REQUEST_HEAD.match(line) else line


def proposed(groups: Mapping[str, str]) -> dict[str, Json]:
    """Arguments of a proposal: a SKILL.md with a step a line.

    >>> proposed({"name": "tea", "steps": "Warm the pot; pour"})["text"].splitlines()[4:]
    ['1. Warm the pot', '2. pour']
    """
    name, steps = groups["name"], [one.strip() for one in groups["steps"].split(";") if one.strip()]
    words = name.replace("-", " ")
    told = groups.get("description") or f"Says how {words} is done here. Use when people ask for {words}."
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return {"name": name, "why": WHY_PROPOSED, "text": f"---\nname: {name}\ndescription: {told}\n---\n{numbered}\n"}


def form_read(name: str, turns: Sequence[Turn]) -> str:
    """The form of the skill that was read last, if that is the one of this name; else nothing."""
    calls = {call.id: call for turn in turns if isinstance(turn, AssistantTurn) for call in turn.calls}
    read = [turn for turn in turns if isinstance(turn, ToolTurn) and turn.tool == "skill_read"]
    found = FORM_TOLD_AS.search(read[-1].text) if read else None
    asked = calls[read[-1].call_id].arguments if read and read[-1].call_id in calls else ""
    return found["form"] if found and f'"name": "{name}"' in asked else ""
