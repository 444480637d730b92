"""Feedback: what people thought of the agent's messages. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Final

from runtime.contract import Address

FEEDBACK_WORDS_MAX_CHARS: Final = 1_000
SKIN_TONES: Final = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff\ufe0f")
"""Marks behind an emoji that change its colour, and no more."""


class Rating(IntEnum):
    """Value of a mark."""

    DOWN = -1
    UP = 1

    @property
    def word(self) -> str:
        return self.name.lower()

    @property
    def emoji(self) -> str:
        return "👍" if self is Rating.UP else "👎"


RATINGS: Final = {
    "👍": Rating.UP,
    "👎": Rating.DOWN,
    "+1": Rating.UP,
    "thumbsup": Rating.UP,
    "-1": Rating.DOWN,
    "thumbsdown": Rating.DOWN,
}
"""Emoji, and their names on Slack, that say whether something was good. Others say nothing here."""


def rating_of(emoji: str) -> Rating | None:
    """Value of an emoji, as its platform writes it; None for one that is no feedback."""
    bare = "".join(letter for letter in emoji if letter not in SKIN_TONES)
    return RATINGS.get(bare.partition("::")[0].strip(":"))


@dataclass(frozen=True, slots=True)
class Feedback:
    """Rating of one message by one person. `words` are theirs, empty where they left none; `said` begins what they rated."""

    delivery: str
    run: str
    room: Address
    person: str
    value: Rating
    words: str
    at: datetime
    said: str = ""
