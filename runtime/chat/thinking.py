"""Answer to `/think`: what a model thought before its last answer here. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runtime.text.glyphs import bound
from runtime.text.words import marked, say

NO_THOUGHTS: Final = marked(
    "There's no thinking to show for my last answer here. Not every model thinks aloud, or shows it."
)
THOUGHT_TITLE: Final = marked("What I thought before my last answer here:")
SHOWN_MAX_CHARS: Final = 12_000


def told(thoughts: Sequence[str]) -> str:
    """The thinking before each step of one run, in order; empty where there is none."""
    return bound("\n\n".join(filter(None, (one.strip() for one in thoughts))), SHOWN_MAX_CHARS)


def foldable(thought: str) -> str:
    """`thought` as what is folded under its first line."""
    return f"**{say('Thinking')}**\n\n{thought}"
