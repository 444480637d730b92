"""A pack: what operators gave agents to read, and where it may be used. No I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

TEXTS: Final = (
    "*.md",
    "*.markdown",
    "*.txt",
    "*.rst",
    "*.html",
    "*.htm",
    "*.csv",
    "*.json",
    "*.yaml",
    "*.yml",
    "*.toml",
)
DOCUMENTS: Final = ("*.pdf", "*.docx", "*.xlsx", "*.pptx", "*.epub", "*.eml")
INCLUDED: Final = (*TEXTS, *DOCUMENTS)
"""Files that are read where a pack doesn't say which."""
TEXT_MAX_BYTES: Final = 2_000_000
DOCUMENT_MAX_BYTES: Final = 20_000_000
"""Of a file with pictures and fonts beside its text."""
EVERY: Final = timedelta(minutes=15)
PACKS_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Pack:
    """Documents below a folder, and pages. `agents` and `rooms` are globs of those that may use them."""

    name: str
    folder: Path | None = None
    urls: tuple[str, ...] = ()
    include: tuple[str, ...] = INCLUDED
    every: timedelta = EVERY
    agents: tuple[str, ...] = ("*",)
    rooms: tuple[str, ...] = ("*",)

    def is_open_to(self, agent: str, room: str) -> bool:
        return _fits(agent, self.agents) and _fits(room, self.rooms)

    def has(self, path: str) -> bool:
        """True for a file of the pack, by its path below the folder or its name."""
        return _fits(path, self.include) or _fits(path.rpartition("/")[2], self.include)


Packs = Mapping[str, Pack]


def open_to(packs: Packs, agent: str, room: str) -> Sequence[str]:
    """Names of packs that an agent may use in a room, which is written as in the settings."""
    return [name for name, pack in packs.items() if pack.is_open_to(agent, room)]


def is_outside(place: str) -> bool:
    """True for a page, whose words are somebody else's; files of a folder are the operator's own."""
    return "://" in place


def most_of(place: str) -> int:
    """Bytes that are read of a file or a page.

    >>> most_of("leave.md"), most_of("https://example.org/Handbook.PDF")
    (2000000, 20000000)
    """
    return DOCUMENT_MAX_BYTES if _fits(place.lower(), DOCUMENTS) else TEXT_MAX_BYTES


def _fits(text: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(text, glob) for glob in globs)
