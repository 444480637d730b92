"""Questions that approvers ask the agent about a call that waits, and its answers: kept in `Approval.card`. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from runtime.text.glyphs import bound
from runtime.text.words import marked, say

ASKED_BACK: Final = "asked_back"
"""In `Approval.card`: what was asked, and the answers."""
QUESTIONS_MAX: Final = 5
"""Questions about one call. Those that the model could not answer don't count."""
QUESTION_MAX_CHARS: Final = 500
ANSWER_MAX_CHARS: Final = 4_000
PLAIN_QUESTION: Final = marked("Why do you want to do this?")
"""Asked by a form that holds no words."""
USED_UP: Final = marked("This call has had its {number} questions. Please decide with what you know.")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question, by whom, and its answer. `failed` says why there is none; without either the agent is at it."""

    number: int
    by: str
    question: str
    answer: str = ""
    failed: str = ""

    @property
    def is_open(self) -> bool:
        return not (self.answer or self.failed)


def exchanges(card: str) -> list[Exchange]:
    """All that was asked, the oldest first."""
    if ASKED_BACK not in card:
        return []
    return [Exchange(**one) for one in json.loads(card).get(ASKED_BACK, ())]


def used_up(card: str) -> str | None:
    """The reason not to ask any more, in words for the one who asks; None while there is none."""
    return (
        say(USED_UP, number=QUESTIONS_MAX) if sum(not one.failed for one in exchanges(card)) >= QUESTIONS_MAX else None
    )


def question_of(values: Mapping[str, str], name: str) -> str:
    """The words of a form; the plain question where there are none, or a sign alone."""
    words = " ".join(values.get(name, "").split())[:QUESTION_MAX_CHARS]
    return words if any(map(str.isalnum, words)) else PLAIN_QUESTION


def open_like(card: str, by: str, question: str) -> bool:
    """True if the same person asked the same, and the agent is at it."""
    return any(one.is_open and (one.by, one.question) == (by, question) for one in exchanges(card))


def with_question(card: str, by: str, question: str) -> tuple[str, Exchange]:
    """`card` with one more question, which takes the place of those that could not be answered."""
    known = exchanges(card)
    made = Exchange(known[-1].number + 1 if known else 1, by, question)
    return _with(card, [*(one for one in known if not one.failed), made]), made


def with_answer(card: str, number: int, answer: str, failed: str = "") -> str:
    """`card` with the end of the question `number`."""
    ended = (
        replace(one, answer=bound(answer, ANSWER_MAX_CHARS), failed=failed) if one.number == number else one
        for one in exchanges(card)
    )
    return _with(card, list(ended))


def without_open(card: str) -> str:
    """Card facts for a question that is asked anew, without unfinished exchanges."""
    known = exchanges(card)
    return _with(card, [one for one in known if not one.is_open]) if known else card


def _with(card: str, all_of_them: Sequence[Exchange]) -> str:
    known: dict[str, Any] = json.loads(card) if card else {}
    return json.dumps(known | {ASKED_BACK: list(map(asdict, all_of_them))}, ensure_ascii=False)
