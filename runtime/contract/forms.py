"""Forms behind buttons, which a person fills in before a choice counts; and questions that the agent asks a person."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from runtime.contract.people import ApprovalId, Identity, Json
from runtime.contract.signals import Choice, Clicked

FORM_CHOICES: Final = frozenset({Choice.ALWAYS, Choice.EDIT, Choice.WHY, Choice.TEXT})
"""Choices that count only with what was typed into their form. A denial may have one, for its reason."""
WITH_REASON: Final = "reason"
"""Stands in a button for "deny, and say why": it opens a form, and nothing is decided by it."""
FORM_BEHIND: Final[Mapping[str, Choice]] = {**{one.value: one for one in FORM_CHOICES}, WITH_REASON: Choice.DENY}
"""The choice whose form a button opens, by its word; a button with another word decides."""

REASON: Final = "reason"
"""The field whose words are the reason of a click."""
REASON_MAX_CHARS: Final = 1_000
TOO_LONG: Final = "This is too long to change here. Use the page or the command line."


@dataclass(frozen=True, slots=True)
class Field:
    """One input. `text` is what stands in it at first, `most` the characters it may hold.

    With `options` one of them is picked; else it is typed, in several lines where `lines` is true.
    """

    name: str
    label: str
    text: str = ""
    hint: str = ""
    options: tuple[str, ...] = ()
    lines: bool = False
    optional: bool = False
    most: int = 3000


@dataclass(frozen=True, slots=True)
class Form:
    """A form of at most five fields. Sent, it is `Clicked(approval_id, choice, values=…)`."""

    approval_id: ApprovalId
    choice: Choice
    title: str
    fields: tuple[Field, ...]
    note: str = ""
    send: str = "Send"


OpenForm = Callable[[ApprovalId, Choice, Identity], Awaitable[Form | str]]
"""Makes the form behind a button for whoever pressed it, or tells in words why there is none."""


def fitting(form: Form | str, most: int) -> Form | str:
    """The form, where no field is longer than `most` characters, since what is cut must not be sent back; else words."""
    is_cut = isinstance(form, Form) and any(len(field.text) > most for field in form.fields)
    return TOO_LONG if is_cut else form


async def no_form(approval: ApprovalId, choice: Choice, actor: Identity) -> Form | str:
    """Answer where no forms are made."""
    return "There's no form for this here."


def filled(approval: str, choice: Choice, values: Mapping[str, str]) -> Clicked:
    """The click that a sent form is, with `values` by the names of its fields."""
    typed = {name: value for name, value in values.items() if name != REASON}
    return Clicked(ApprovalId(approval), choice, values.get(REASON, "").strip()[:REASON_MAX_CHARS], typed)


ANYBODY: Final = "room"
"""In place of a name: whoever may speak in the room."""


@dataclass(frozen=True, slots=True)
class Asking:
    """A question to a person. `options` are answers to choose from; without any it is answered in words.

    `to` is a name, `ANYBODY`, or empty: then the run's requester is asked.
    """

    question: str
    options: tuple[str, ...] = ()
    to: str = ""

    def to_json(self) -> dict[str, Json]:
        return {"question": self.question, "options": list(self.options), "to": self.to}

    @classmethod
    def from_json(cls, text: str) -> Asking:
        """Read it out of a card, which holds more."""
        raw = json.loads(text) if text else {}
        return cls(raw.get("question", ""), tuple(raw.get("options", ())), raw.get("to", ""))


Asks = Callable[[Mapping[str, Json]], Asking]
"""Question that a call with these arguments asks. Errors: ToolError for arguments that make none."""
