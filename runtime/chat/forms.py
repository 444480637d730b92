"""Forms behind the buttons of a card, made from its question. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from runtime.chat import grant_views
from runtime.contract import REASON, REASON_MAX_CHARS, Choice, Field, Form
from runtime.domain.approvals import Approval

NO_FORM: Final = "There is nothing to fill in here."


def denial(approval: Approval) -> Form:
    """The reason for a denial."""
    hint = "What should I do instead?"
    field = Field(REASON, "Why not? The agent is told.", hint=hint, lines=True, most=REASON_MAX_CHARS)
    return Form(approval.id, Choice.DENY, "Deny", (field,), send="Deny with this reason")


FORMS: Final[Mapping[Choice, Callable[[Approval], Form]]] = {
    Choice.DENY: denial,
    Choice.ALWAYS: grant_views.form,
}
"""The form of each choice that has one."""


def form_of(approval: Approval, choice: Choice) -> Form | str:
    """The form behind a button; words where there is none."""
    make = FORMS.get(choice)
    return make(approval) if make else NO_FORM
