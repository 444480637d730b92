"""Answers to `/docs`: passages with their places. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runtime.contract.memory.knowledge import Passage
from runtime.domain.memory.chunks import HEADING
from runtime.text.glyphs import clip, plainly
from runtime.text.words import marked, say

PASSAGES_MAX: Final = 5
PASSAGE_CHARS: Final = 400
"""Characters of a passage; its place tells where the rest is."""
NO_PACKS: Final = marked("There are no documents to search in this room.")
HOW_TO_ASK: Final = marked("Ask something: `{mark}docs how many days of leave do we have`. I search {packs}.")
NONE_FITS: Final = marked("No document here has anything on that. Try other words, or ask me.")


def how_to(packs: Sequence[str], mark: str) -> str:
    return say(HOW_TO_ASK, mark=mark, packs=", ".join(packs))


def passages(found: Sequence[Passage]) -> str:
    """Passages, best first, each under its place.

    >>> print(passages([Passage("handbook", "leave.md", "Leave", "Leave", 1, 3, "# Leave\\n\\nThirty days.", 1.0)]))
    1. **leave.md, lines 1-3** (Leave)
       Thirty days.
    """
    return "\n".join(_line(number, one) for number, one in enumerate(found[:PASSAGES_MAX], 1)) or say(NONE_FITS)


def _line(number: int, one: Passage) -> str:
    heading = f" ({plainly(one.heading)})" if one.heading else ""
    lines = (line for line in one.text.split("\n") if not HEADING.fullmatch(line))
    words = clip(plainly(" ".join(" ".join(lines).split())), PASSAGE_CHARS)
    return f"{number}. **{plainly(one.cited)}**{heading}\n   {words}"
