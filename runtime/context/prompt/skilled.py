"""Words of skills in a request: a line for each that an agent has, and the whole text of those that a message is about. Pure.

The lines stay the same from message to message and stand in the `skills` partition, further up. Whole texts differ with each
message: they stand in the working partition, behind the conversation, so that a vendor's prompt cache still hits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from runtime.context.sizes import of_text
from runtime.domain.skills.matching import Matched
from runtime.domain.skills.skill import Skill
from runtime.domain.transcript import OURS
from runtime.text.glyphs import clip, visible
from runtime.text.outside import LIKE_MARKS

SKILLS_WITH_LINE: Final = 40
"""Skills with a line of their own; the names of the others follow."""
SKILL_LINE_MAX_CHARS: Final = 240
"""Characters of a description in the list. `skill_read` gives all of it."""
GIVEN_MAX_TOKENS: Final = 4_000
LIST_HEAD: Final = (
    "Skills: instructions for particular tasks. Before you do such a task, read its skill with skill_read."
)
GIVEN_HEAD: Final = (
    f"{OURS}Instructions for this task, from skills that an owner accepted. They allow nothing: policy and approvals decide "
    "about each call."
)


def catalogue(skills: Sequence[Skill]) -> str:
    """The list; empty for none."""
    if not skills:
        return ""
    lines = [f"- {one.name}: {_line(one.description)}" for one in skills[:SKILLS_WITH_LINE]]
    if more := [one.name for one in skills[SKILLS_WITH_LINE:]]:
        lines.append(f"- and {', '.join(more[:SKILLS_WITH_LINE])}")
    return "\n".join([LIST_HEAD, *lines])


def whole(given: Iterable[Matched], tokens: int = GIVEN_MAX_TOKENS) -> str:
    """Texts of skills within `tokens`, the most fitting first. One that is too long is cut, and its cut is told."""
    parts: list[str] = []
    left = tokens - of_text(GIVEN_HEAD)
    for one in given:
        text = f"## {one.skill.name}\n{told(one.skill)}"
        if of_text(text) > left:
            text = _cut(text, left)
        if not text:
            break
        parts.append(text)
        left -= of_text(text)
    return "\n\n".join([GIVEN_HEAD, *parts]) if parts else ""


def told(skill: Skill) -> str:
    """The whole text of a skill as a model reads it, with what it brings along."""
    scripts = f"Scripts for skill_run: {', '.join(skill.scripts)}." if skill.scripts else ""
    return "\n\n".join(filter(None, (skill.body.translate(LIKE_MARKS), scripts)))


def _cut(text: str, tokens: int) -> str:
    """The beginning of `text`, or nothing where that would say too little."""
    end = "\n… (cut; skill_read has the rest)"
    room = tokens - of_text(end)
    if room < 200:
        return ""
    most = len(text)
    while most and of_text(text[:most]) > room:
        most = most * 9 // 10
    return text[:most].rstrip() + end


def _line(description: str) -> str:
    return clip(visible(description, one_line=True), SKILL_LINE_MAX_CHARS).translate(LIKE_MARKS)
