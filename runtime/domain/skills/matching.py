"""Skills that a message is about: named in it, or by their keywords and descriptions. Pure.

A match may be missed, since the agent has the list of all and can read any; it must not be found everywhere, since each takes
room in the request. So a keyword counts at once, a word of a description only beside two others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from runtime.domain.agents.manifest import MAIN, Manifest
from runtime.domain.skills.skill import Skill, Source

GIVEN_SKILLS_MAX: Final = 3
"""Skills that a run is given whole at once."""
KEYWORD_POINTS: Final = 3
NAME_POINTS: Final = 3
"""All words of its name stand in the message."""
ENOUGH_POINTS: Final = 3
MESSAGE_MAX_CHARS: Final = 4_000
"""Of a longer message only its beginning is looked at."""
SKILL_REQUEST_FORM: Final = re.compile(
    r"[/!]skill[ \t]+(?P<name>[^\s]{1,64})(?:\s+(?P<words>\S.*))?", re.IGNORECASE | re.DOTALL
)
MESSAGE_WORD: Final = re.compile(r"[^\W_]+")
SHORTEST_WORD: Final = 4
WORD_ENDINGS: Final = ("ing", "es", "ed", "s")
COMMON_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        "about after also asks before both from have into just like make makes more most need needs only other over people"
        " please should some such than that their them then there these they this through used user users using want wants"
        " well what when where which while with work your someone something team turn file files",
    )
)
"""Words of four letters and more that say nothing of a task."""


@dataclass(frozen=True, slots=True)
class Matched:
    """A skill that a run is given, and why. `asked`: somebody named it, as `/skill NAME …` does."""

    skill: Skill
    why: str
    asked: bool = False


def uses(skill: Skill, manifest: Manifest) -> bool:
    """True if an agent has that skill. Without a list the main agent has those that were put here, and any other none."""
    if skill.agent:
        return skill.agent == manifest.name
    if manifest.skills is None:
        return manifest.name == MAIN and skill.source is not Source.SHIPPED
    return any(fnmatchcase(skill.name, glob) for glob in manifest.skills)


def asked_for(text: str) -> tuple[str, str] | None:
    """The skill that a message asks for, and its words behind that.

    >>> asked_for("/skill release-notes for 2.1"), asked_for("hello")
    (('release-notes', 'for 2.1'), None)
    """
    found = SKILL_REQUEST_FORM.fullmatch(text.strip())
    return (found["name"].lower(), (found["words"] or "").strip()) if found else None


def matched(skills: Iterable[Skill], text: str) -> list[Matched]:
    """Skills for a message, the most fitting first; the one that it asks for alone, where it asks for one."""
    known = list(skills)
    if wanted := asked_for(text):
        return [Matched(skill, f"/skill {skill.name}", asked=True) for skill in known if skill.name == wanted[0]]
    said = text[:MESSAGE_MAX_CHARS].casefold()
    words = frozenset(map(_stem, MESSAGE_WORD.findall(said)))
    ranked = sorted(
        ((_points(skill, said, words), skill) for skill in known), key=lambda one: (-one[0][0], one[1].name)
    )
    return [Matched(skill, why) for (points, why), skill in ranked if points >= ENOUGH_POINTS][:GIVEN_SKILLS_MAX]


def _points(skill: Skill, said: str, words: Collection[str]) -> tuple[int, str]:
    hits = [one for one in skill.keywords if _stands_in(one.casefold(), said)]
    name, telling = _words_of(skill)
    points, why = KEYWORD_POINTS * len(hits), list(hits[:2])
    if name and all(word in words for word in name):
        points, why = points + NAME_POINTS, [*why, skill.name]
    shared = sorted(telling & frozenset(words))
    return points + len(shared), f"the message has {', '.join((why or shared)[:4])}"


def _stands_in(keyword: str, said: str) -> bool:
    """True if the keyword stands there between other letters than its own kind."""
    return re.search(rf"(?<!\w){re.escape(keyword)}(?!\w)", said) is not None


@lru_cache(maxsize=256)
def _words(name: str, description: str) -> tuple[tuple[str, ...], frozenset[str]]:
    telling = {
        _stem(one)
        for one in MESSAGE_WORD.findall(description.casefold())
        if len(one) >= SHORTEST_WORD and one not in COMMON_WORDS
    }
    return tuple(_stem(one) for one in name.split("-") if one), frozenset(telling)


def _words_of(skill: Skill) -> tuple[Sequence[str], frozenset[str]]:
    return _words(skill.name, skill.description)


def _stem(word: str) -> str:
    """A word without a common ending, so that `notes` and `note` are one."""
    ending = next((one for one in WORD_ENDINGS if word.endswith(one) and len(word) - len(one) >= SHORTEST_WORD - 1), "")
    return word.removesuffix(ending) if ending else word
