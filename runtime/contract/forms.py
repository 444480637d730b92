"""Forms behind buttons: what a person fills in before a choice counts; and the questions that wait for one person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runtime.contract.deliveries import ApprovalKind, Content
from runtime.contract.models import Effect
from runtime.contract.people import Address, ApprovalId, Identity
from runtime.contract.signals import Choice, Clicked

FORM_CHOICES: Final = frozenset({Choice.ALWAYS, Choice.EDIT, Choice.WHY, Choice.TEXT})
"""Choices that count only with what was typed into their form. A denial may have one, for its reason."""

REASON: Final = "reason"
"""The field whose words are the reason of a click."""
REASON_MAX_CHARS: Final = 1_000
TOO_LONG: Final = "This is too long to be changed here. The page and the command line take it."


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

    def fits(self, most: int) -> bool:
        """True if no field is longer than `most` characters: what is cut must not be sent back."""
        return all(len(field.text) <= most for field in self.fields)


OpenForm = Callable[[ApprovalId, Choice, Identity], Awaitable[Form | str]]
"""Makes the form behind a button for whoever pressed it, or tells in words why there is none."""


async def no_form(approval: ApprovalId, choice: Choice, actor: Identity) -> Form | str:
    """Answer where no forms are made."""
    return "This has no form here."


def filled(approval: str, choice: Choice, values: Mapping[str, str]) -> Clicked:
    """The click that a sent form is, with `values` by the names of its fields."""
    typed = {name: value for name, value in values.items() if name != REASON}
    return Clicked(ApprovalId(approval), choice, values.get(REASON, "").strip()[:REASON_MAX_CHARS], typed)


# ---------------------------------------------------------------------------------------- what waits for one person


@dataclass(frozen=True, slots=True)
class Waiting:
    """An open question. Without a `card` its rule keeps it in `room`: there it is answered, and nothing of the call is told.

    `address` is where the request was made, `room` what people call that, where they call it something; `requester` who
    asked for the call, where somebody did.
    """

    id: ApprovalId
    kind: ApprovalKind
    tool: str
    effect: Effect
    address: Address
    room: str
    requester: str
    asked_at: datetime
    expires_at: datetime
    card: Content | None


ReadInbox = Callable[[Identity], Awaitable[Sequence[Waiting]]]
"""Questions that wait for the person behind an identity, oldest first. Errors: StoreError."""


async def empty_inbox(who: Identity) -> Sequence[Waiting]:
    """Answer where nobody is asked anything."""
    return ()
