"""Outbox: deliveries to be shown, part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from runtime.contract import (
    Address,
    Content,
    Delivery,
    DeliveryId,
    Receipt,
    RunId,
    SessionKey,
    Wire,
)
from runtime.contract.deliveries import PostStanding
from runtime.domain.deliveries import DeliveryState, PartEvent, PartState
from runtime.store.protocol.leases import Duty, Lane
from runtime.store.protocol.running.deliveries import NewDelivery, Previewed


@dataclass(frozen=True, slots=True)
class OpenPart:
    """A part as the courier needs it.

    `floor` came with the newest marker. `first_at` is the first marker since it was last certain that the part is not
    on screen: after a repeat because nobody could tell it stays that of the attempt before, and a platform may still
    know the part by the key of then.
    """

    ordinal: int
    state: PartState
    body: str
    fallback: str | None
    attempts: int = 0
    marked_at: datetime | None = None
    looks: int = 0
    receipt: Receipt | None = None
    repeat_mark: bool = False
    floor: str = ""
    first_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OpenDelivery:
    """A delivery that is not settled. `rank` 0: some part is or may be on screen, so this one goes on first.

    `edit_of` is the receipt of the message this one replaces, None when there is none (yet); `over_preview` tells that
    it is a preview, whose text may still change under way. `in_doubt`: it may have been shown already, after the backup
    was taken from which it comes.
    """

    delivery: Delivery
    state: DeliveryState
    rank: int
    number: int
    not_before: datetime
    parts: tuple[OpenPart, ...]
    edit_of: Receipt | None = None
    run_id: RunId | None = None
    in_doubt: bool = False
    over_preview: bool = False


@dataclass(frozen=True, slots=True)
class KeptRoom:
    """A room that its courier keeps free for a change which the next commit may make there.

    `foreseen` is told of that change before the commit, in any thread: what it does is thrown away if that fails. `go_on` is
    told after it, or in place of it, which change there is: None where there is none that could be made at once.
    """

    room: Address
    foreseen: Callable[[OpenDelivery], object]
    go_on: Callable[[OpenDelivery | None], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class ChangeTarget:
    """A message as something that may be changed: a delivery with its `content`, or a signal, which has none.

    `receipts` are the wire's ids of its parts on screen; a channel that needs none for people's messages may have given none.
    """

    id: str
    receipts: tuple[str, ...]
    content: Content | None = None
    state: DeliveryState = DeliveryState.SHOWN


class Outbox(Protocol):
    """All writes return False when the duty was lost, or when a person discarded the delivery meanwhile."""

    async def enqueue(self, delivery: NewDelivery) -> bool:
        """Add a delivery; False when its (origin, ordinal) is there already."""

    async def standing(self, origin: str) -> PostStanding | None:
        """State of the first delivery of an origin."""

    async def asked_in(self, run: RunId, room: Address) -> ChangeTarget | None:
        """The message of a person that `run` answers in this room; None where nobody said anything there."""

    async def posted_as(self, origin: str, room: Address) -> ChangeTarget | None:
        """The first delivery of an origin, if it is one of this room."""

    async def last_answer(self, session: SessionKey, room: Address) -> ChangeTarget | None:
        """The last answer that was shown there in this conversation."""

    async def put_change(self, delivery: NewDelivery, *, most: int) -> bool:
        """Add a change of what it `edits`; again for the same origin it adds nothing. False once there are `most` of its run.

        Changes of one run have origins that begin alike, up to the last colon.
        """

    async def open_rooms(self, channel: str, account: str) -> list[Address]:
        """Addresses of the account with deliveries that are not settled."""

    async def open_deliveries(self, address: Address, *, limit: int = 20) -> list[OpenDelivery]:
        """Unsettled deliveries of one address by rank, then age. Later ones of one origin stay behind earlier ones."""

    async def adopt(self, duty: Duty, channel: str, account: str, look_after: timedelta) -> bool:
        """After taking the duty: parts whose marker has no outcome are unsettled; looked for `look_after` the marker."""

    async def render(
        self, duty: Duty, delivery: DeliveryId, wires: Sequence[Wire], *, mark: bool, floor: str = ""
    ) -> bool:
        """Store the parts of a queued delivery and, if `mark`, the marker of the first with `floor`. Parts of one that is
        in doubt are unsettled from the start: leave `mark` then."""

    async def render_shown(
        self, duty: Duty, delivery: DeliveryId, wires: Sequence[Wire], receipts: Sequence[Receipt]
    ) -> bool:
        """Store the parts of a queued delivery as shown at once: for channels whose screen is our store."""

    async def mark(self, duty: Duty, delivery: DeliveryId, ordinal: int, *, floor: str = "") -> bool: ...

    async def checkpoint(self, duty: Duty, delivery: DeliveryId, ordinal: int, receipt: Receipt) -> bool:
        """It is on screen. The last part settles the delivery, and a final one answers its signals."""

    async def retry(self, duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, reason: str) -> bool: ...

    async def doubt(self, duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, reason: str) -> bool:
        """Perhaps shown: look at `at`."""

    async def look_again(self, duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, *, counted: bool) -> bool:
        """Still unsettled; look again at `at`. `counted`: this look was made and found nothing."""

    async def absent(self, duty: Duty, delivery: DeliveryId, ordinal: int) -> bool: ...

    async def repeat(self, duty: Duty, delivery: DeliveryId, ordinal: int) -> bool: ...

    async def hold(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str) -> bool: ...

    async def plain(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str = "") -> bool:
        """Refused for its form: its fall-back takes its place, and what more that takes becomes parts behind the last."""

    async def give_up(self, duty: Duty, delivery: DeliveryId, ordinal: int | None, reason: str) -> bool: ...

    async def preview(self, lane: Lane, run: RunId, new: NewDelivery) -> Previewed | None:
        """Begin to show how far the run is that has the lane, with `new.rendered` marked.

        Shape:  the preview that is there already, if nothing was said in its place since. None when the lane is not
                ours any more or something waits for the room: nothing is stored then.
        """

    async def drop(self, duty: Duty, delivery: DeliveryId, ordinal: int, event: PartEvent, reason: str) -> bool:
        """Something that is not worth another try is thrown away; `event` is what became of its part."""

    async def detach(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str) -> bool:
        """Detach a delivery whose predecessor cannot be changed: it goes as a message of its own."""

    async def pause(self, duty: Duty, channel: str, account: str, room: str, until: datetime) -> bool:
        """The platform said to wait: for `room`, or with "" for the whole account."""

    async def paused(self, channel: str, account: str) -> Mapping[str, datetime]:
        """Places of the account that must still be quiet, and until when."""
