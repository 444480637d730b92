"""Phrases about skills that the demo model understands: to read one, and to run a script of one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from runtime.contract import Json

Phrase = tuple[str, str, Mapping[str, Json]]

# As `demo_phrases.PHRASES` has them.
SKILLS: Final[Sequence[Phrase]] = (
    (r"(?:read|use) the skill (?P<name>[\w-]+)(?:,? file (?P<file>\S+))?", "skill_read", {}),
    (r"run the skill (?P<skill>[\w-]+): ?(?P<script>\S+)(?: (?P<args>.+))?", "skill_run", {}),
)
WHAT_I_CAN_USE: Final = "- `use the skill NAME`, `run the skill NAME: SCRIPT ARGUMENTS`"
REQUEST_HEAD: Final = re.compile(r"[/!]skill\s+\S+\s+", re.IGNORECASE)
"""How a line begins that asks for a skill: the words behind it are what is wanted."""


def without_skill(line: str) -> str:
    """A line without the skill that it asks for.

    >>> without_skill("/skill notes list the files")
    'list the files'
    """
    return REQUEST_HEAD.sub("", line, count=1) if REQUEST_HEAD.match(line) else line
