"""Scans a skill before somebody accepts it: for words that want more than a task, and for what it can do. Pure.

A scan only warns. It stops nobody who writes in other words; that is why every form is accepted by a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.domain.skills.skill import Skill
from runtime.text.glyphs import clip, visible
from runtime.text.outside import stripped

EXCERPT_MAX_CHARS: Final = 120
WARNINGS_MAX: Final = 20
HOSTS_MAX: Final = 20
INSTALLING: Final[Mapping[str, re.Pattern[str]]] = {
    "runs what it downloads": re.compile(
        r"\b(?:curl|wget)\b[^\n|;]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b"
        r"|\b(?:ba)?sh\s+(?:-c\s+)?[\"']?[<$]\(\s*(?:curl|wget)\b|\bi(?:wr|rm)\b[^\n|]{0,200}\|\s*iex\b",
        re.IGNORECASE,
    ),
    "runs a package from a registry": re.compile(r"\b(?:npx|bunx|pipx run|uvx|dlx)\s+[@\w-]", re.IGNORECASE),
    "installs packages": re.compile(
        r"\b(?:pip3?|uv pip|npm|pnpm|yarn|gem|cargo|brew|apt(?:-get)?|dnf|apk)\s+(?:install|add|i)\b", re.IGNORECASE
    ),
    "asks for root": re.compile(r"\bsudo\s+\S|\bsu\s+-c\b", re.IGNORECASE),
    "decodes and runs text": re.compile(
        r"base64\s+(?:-d|--decode)[^\n]{0,100}\|\s*(?:ba)?sh\b|\beval\s*[\"'(]?\$\(", re.IGNORECASE
    ),
    "wants to be set up first": re.compile(
        r"\b(?:before (?:you )?(?:us|start)\w*|first|prerequisites?)\b[^\n.]{0,60}\b(?:install|download|run|execute|paste)\b"
        r"[^\n]{0,120}(?:https?://|\.(?:sh|exe|zip|dmg|msi)\b|\bterminal\b)",
        re.IGNORECASE,
    ),
    "tells the agent to forget its rules": re.compile(
        r"\b(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:previous|prior|above|earlier|system|other)\b"
        r"[^\n]{0,40}\b(?:instructions?|rules?|prompts?|messages?|polic(?:y|ies))\b",
        re.IGNORECASE,
    ),
    "tells the agent to hide something": re.compile(
        r"\b(?:do not|don't|never)\s+(?:tell|inform|mention|show|reveal)\b[^\n]{0,40}\b(?:user|person|people|owner|operator|anyone)\b",
        re.IGNORECASE,
    ),
}
HOST_NAMED: Final = re.compile(
    r"https?://(?:[^\s/@\"'<>()\[\]`]*@)?(?P<host>\[[0-9a-f:]+\]|[^\s/:\"'<>()\[\]`?#,]+)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Warned:
    """One thing that stands out, with where it stands."""

    what: str
    path: str
    line: int
    excerpt: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.what}: {self.excerpt}"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Abilities of a skill, for whoever is asked about it."""

    scripts: Sequence[str]
    tools: Sequence[str] | None
    bins: Sequence[str]
    variables: Sequence[str]
    secrets: Sequence[str]
    hosts: Sequence[str]


def warnings(texts: Mapping[str, str]) -> list[Warned]:
    """Of all its texts by path, in their order; at most `WARNINGS_MAX`."""
    found = [warned for path, text in sorted(texts.items()) for warned in _in(path, text)]
    return found[:WARNINGS_MAX]


def _in(path: str, text: str) -> Iterator[Warned]:
    for what, form in INSTALLING.items():
        for hit in form.finditer(text):
            yield Warned(what, path, text.count("\n", 0, hit.start()) + 1, _excerpt(hit[0]))
    if count := _unseen(path, text):
        yield Warned("has text that nobody sees", path, 1, f"{count:,} times")


def _unseen(path: str, text: str) -> int:
    """Characters that no reader sees, and of a page what it would hide."""
    return sum(stripped(text, markup=path.endswith(".md")).hidden.values())


def _excerpt(text: str) -> str:
    return clip(visible(" ".join(text.split()), one_line=True), EXCERPT_MAX_CHARS)


def hosts_in(texts: Mapping[str, str]) -> list[str]:
    """Hosts that its texts name, each once."""
    found = {hit["host"].lower().rstrip(".") for text in texts.values() for hit in HOST_NAMED.finditer(text)}
    return sorted(found)[:HOSTS_MAX]


def capabilities(skill: Skill, texts: Mapping[str, str]) -> Capabilities:
    needs = skill.needs
    return Capabilities(skill.scripts, skill.allowed, needs.bins, needs.variables, needs.secrets, hosts_in(texts))


def in_words(able: Capabilities) -> list[str]:
    """Lines for people, one a kind; what there is none of is said where it matters."""
    lines = [f"Scripts: {', '.join(able.scripts)}" if able.scripts else "No scripts"]
    if able.tools is not None:
        lines.append(f"Tools: only {', '.join(able.tools) or 'none'}")
    for word, names in (
        ("Programs", able.bins),
        ("Variables", able.variables),
        ("Secrets", able.secrets),
        ("Hosts it names", able.hosts),
    ):
        if names:
            lines.append(f"{word}: {', '.join(names)}")
    return lines
