"""Deliveries that runs hand to the outbox, and questions that they ask with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from runtime.contract import Address, ApprovalId, ApprovalKind, Content, DeliveryId, Kind, Receipt, Wire
from runtime.policy.terms import PLAIN, Terms
from runtime.store.protocol.leases import Duty


@dataclass(frozen=True, slots=True)
class Rendered:
    """Parts that a courier hands along with a new delivery, so that the first attempt needs no commit of its own.

    `receipts`, one a part, where the channel's screen is our store: then the commit is the showing, which no other node can
    repeat, and `duty` is None. Else it must still be held. `floor` is stored with the marker of the first part.
    """

    duty: Duty | None
    wires: tuple[Wire, ...]
    receipts: tuple[Receipt, ...] = ()
    floor: str = ""


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """Something to show. `rendered` is taken up only if nothing else waits for its address.

    `replaces` is an origin of previews: the commit looks which of them it takes the place of, and sets `edits`. What
    stands there before is what its courier knows; if that is wrong, `rendered` is not taken up. `ranks_as` is the kind
    whose place in the room it takes, where that isn't its own.
    """

    id: DeliveryId
    origin: str
    ordinal: int
    kind: Kind
    address: Address
    content: Content
    edits: DeliveryId | None = None
    rendered: Rendered | None = None
    reply_to: str = ""
    replaces: str = ""
    ranks_as: Kind | None = None


@dataclass(frozen=True, slots=True)
class Previewed:
    """The preview of a run: `begun` by this very commit, or there before, with its receipt if it is on screen."""

    id: DeliveryId
    begun: bool = False
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class Further:
    """One more call that the card of a `Question` asks about, on its terms."""

    id: ApprovalId
    step: int
    caution: str
    shown: str


@dataclass(frozen=True, slots=True)
class Question:
    """An approval to be asked, with its card and `copies` of it for other rooms.

    `request` is a line of what led to it, `shown` (JSON) how the call is shown. `further` are the other calls on its card.
    `private` are private chats of those asked, each with the mark before a command there.
    """

    id: ApprovalId
    kind: ApprovalKind
    step: int
    expires_at: datetime
    policy_version: str
    caution: str
    card: NewDelivery
    terms: Terms = PLAIN
    requester_name: str = ""
    request: str = ""
    shown: str = ""
    copies: tuple[NewDelivery, ...] = ()
    next_call_at: datetime | None = None
    further: tuple[Further, ...] = ()
    private: Mapping[Address, str] = field(default_factory=dict)
