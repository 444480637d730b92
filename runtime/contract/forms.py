"""Forms behind buttons: what a person fills in before a choice counts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from runtime.contract.people import ApprovalId, Identity
from runtime.contract.signals import Choice

FORM_CHOICES: Final = frozenset({Choice.ALWAYS, Choice.EDIT, Choice.WHY, Choice.TEXT})
"""Choices that count only with what was typed into their form. A denial may have one, for its reason."""


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


async def no_form(approval: ApprovalId, choice: Choice, actor: Identity) -> Form | str:
    """Answer where no forms are made."""
    return "This has no form here."
