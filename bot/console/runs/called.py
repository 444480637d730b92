"""The work of a run as people call it: by the message they wrote, or by the name of what began it without one."""

from __future__ import annotations

import ast
import re
from typing import Final

from bot.operator.views import View
from runtime.contract import Trigger
from runtime.text.words import marked, say

OPENINGS: Final = (
    (re.compile(r"\[Scheduled (?:work|report) (.+?), planned for [^\n]*\]"), marked("Schedule “{name}”")),
    (re.compile(r"\[Workflow (.+?), begun on [^\n]*\]"), marked("Workflow “{name}”")),
    (re.compile(r"\[Goal (.+?), begun on [^\n]*\]"), marked("Goal “{name}”")),
    (re.compile(r"\[The trigger (.+?) fired on [^\n]*\]"), marked("Trigger “{name}”")),
    (re.compile(r"\[Task (.+?), done in the background\]"), marked("Task “{name}”")),
)
"""First lines of what an agent reads, each with the name as Python writes it."""
HANDED: Final = re.compile(r"\[from Signalbox\] [^\n]+ handed this (?:to you|conversation over to you)\. [^\n]*\n\n")
FROM_PROGRAM: Final = re.compile(r"⟦From [^\n]+⟧\n")
BY_PEOPLE: Final = frozenset({Trigger.MESSAGE, Trigger.UNKNOWN})
"""Whoever writes such a line themselves is shown as they wrote it."""


def called(row: View) -> str:
    """One line for a run of a list. What only its model reads around the words of a task is left out."""
    if row["trigger"] in BY_PEOPLE:
        return " / ".join(row["signals"])
    return " / ".join(map(_called, row["signals"]))


def _called(text: str) -> str:
    opening, _, _ = text.partition("\n")
    for pattern, words in OPENINGS:
        if found := pattern.fullmatch(opening):
            return say(words, name=_name(found[1]))
    for pattern in (HANDED, FROM_PROGRAM):
        if handed := pattern.match(text):
            return text[handed.end() :]
    return text


def _name(written: str) -> str:
    try:
        name = ast.literal_eval(written)
    except (SyntaxError, ValueError):
        return written
    return name if isinstance(name, str) else written
