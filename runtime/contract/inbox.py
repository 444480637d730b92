"""Questions that wait for one person, as a surface shows them to that person alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from runtime.contract.deliveries import ApprovalKind, Content
from runtime.contract.models import Effect
from runtime.contract.people import Address, ApprovalId, Identity


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


@dataclass(frozen=True, slots=True)
class Closed:
    """A question that waited for somebody and does no longer: in `state`, by `by`, who may be nobody, at `at`.

    One in the state "pending" has their yes, and waits for others'.
    """

    id: ApprovalId
    tool: str
    room: str
    state: str
    by: str
    at: datetime | None
    reason: str


ReadClosed = Callable[[Identity, Sequence[ApprovalId]], Awaitable[Sequence[Closed]]]
"""Of these questions those that no longer wait for the person behind an identity. Errors: StoreError."""


async def none_closed(who: Identity, questions: Sequence[ApprovalId]) -> Sequence[Closed]:
    """Answer where nobody was asked anything."""
    return ()
