"""Forms behind the buttons of a card, made from its question. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from runtime.contract import REASON, REASON_MAX_CHARS, Asking, Choice, Field, Form
from runtime.domain.approvals import Approval
from runtime.text.glyphs import clip

QUESTION_MAX_CHARS: Final = 300
"""Of the agent's question, above the field for its answer; the card has all of it."""
NO_FORM: Final = "There is nothing to fill in here."


def denial(approval: Approval) -> Form:
    """The reason for a denial."""
    hint = "What should I do instead?"
    field = Field(REASON, "Why not? The agent is told.", hint=hint, lines=True, most=REASON_MAX_CHARS)
    return Form(approval.id, Choice.DENY, "Deny", (field,), send="Deny with this reason")


def answer(approval: Approval) -> Form:
    """Words in answer to a question of the agent's."""
    question = clip(" ".join(Asking.from_json(approval.card).question.split()), QUESTION_MAX_CHARS)
    field = Field(REASON, question, hint="The agent reads what you write.", lines=True, most=REASON_MAX_CHARS)
    return Form(approval.id, Choice.TEXT, "Answer", (field,))


FORMS: Final[Mapping[Choice, Callable[[Approval], Form]]] = {
    Choice.DENY: denial,
    Choice.TEXT: answer,
}
"""The form of each choice that has one."""


def form_of(approval: Approval, choice: Choice) -> Form | str:
    """The form behind a button; words where there is none."""
    make = FORMS.get(choice)
    return make(approval) if make else NO_FORM
