"""A choice in words: mail has no buttons, so whoever decides writes the word of a choice, and the code of the question."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from signalbox.channels import ApprovalId, Choice

LINE: Final = re.compile(
    rf"(?P<choice>{'|'.join(re.escape(one.value) for one in Choice)})(?:\s+(?P<code>[A-Za-z0-9~_-]{{20,64}}))?"
    r"(?:\s*[:,.!]?\s*|\s*:\s*(?P<words>.*))",
    re.IGNORECASE,
)
WORDY: Final = frozenset({Choice.DENY, Choice.WHY, Choice.TEXT, Choice.ALWAYS})
"""Choices that may have words: below others stands what people write under each mail."""
LINE_MOST_CHARS: Final = 1_200
WORDS_MOST_CHARS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Chosen:
    """`by_code`: its sender named the question; else it is the one of the mail that theirs answers."""

    approval: ApprovalId
    choice: Choice
    words: str
    by_code: bool


def chosen_in(text: str, asked: ApprovalId | None) -> Chosen | None:
    """The choice that the first line is, and all that follows as its reason. `asked` is the question of the mail that this one answers.

    A line without a code only counts as an answer to a question's own mail.
    """
    first, _, below = text.strip().partition("\n")
    found = LINE.fullmatch(first.strip().strip("`*")) if len(first) <= LINE_MOST_CHARS else None
    if found is None:
        return None
    code = found["code"] or asked
    if not code:
        return None
    choice = Choice(found["choice"].lower())
    words = "\n".join(filter(None, [(found["words"] or "").strip(), below.strip()])) if choice in WORDY else ""
    return Chosen(ApprovalId(code), choice, words[:WORDS_MOST_CHARS], bool(found["code"]))
