"""The life of one part: rendered, marked, shown, settled, or given up. The courier decides when.

PENDING -mark-> MARKED -show-> SHOWN
                  |  certainly not shown: back to PENDING, later
                  |  perhaps shown: UNSETTLED -look-> SHOWN | two empty looks: PENDING | cannot tell: policy
                  |  refused: its plain twin, else DEAD

What only tells of work under way is left out where another part would go back to PENDING or be DEAD.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog

from runtime.contract import (
    TOO_LATE,
    Address,
    Attempt,
    ChannelAdapter,
    Delivery,
    DeliveryId,
    Features,
    Kind,
    Part,
    Receipt,
    SettleResult,
    Shown,
    Wire,
    in_time,
)
from runtime.delivery.context import CourierContext
from runtime.delivery.rates import Rates
from runtime.delivery.retry_policy import RetryPolicy, Unknown
from runtime.delivery.streaming import Previews
from runtime.domain.deliveries import PartEvent, PartState
from runtime.errors import ChannelError, Rejected, Retryable, Scope, StoreError, Uncertain
from runtime.store.protocol import Duty, OpenDelivery, OpenPart, Outbox

log = structlog.get_logger("courier")

EMPTY_LOOKS: Final = 2
"""Empty looks before a part counts as absent, since a platform may apply a request late."""
STORE_RETRY_DELAY: Final = timedelta(seconds=1)


def passing(open_: OpenDelivery) -> bool:
    """True if it only tells of work under way, and nothing of it is on screen: soon it is worth nothing."""
    return (
        open_.delivery.kind is Kind.PROGRESS
        and open_.edit_of is None
        and all(part.state is not PartState.SHOWN for part in open_.parts)
    )


def under_of(open_: OpenDelivery, ordinal: int) -> str:
    """The message that a part stands under; of a delivery with a thread of its own that is its first part."""
    content = open_.delivery.content
    if content.threaded and not content.under and ordinal > 1:
        first = open_.parts[0].receipt
        return first.message_id if first else ""
    return content.under


class DutyLost(Exception):
    """Another node is this account's courier now."""


class PartSender:
    """Shows parts on one account's channel. Everything is written under the courier's duty."""

    def __init__(
        self,
        *,
        outbox: Outbox,
        adapter: ChannelAdapter,
        pace: RetryPolicy,
        context: CourierContext,
        rates: Rates,
        features: Features,
        previews: Previews,
    ) -> None:
        self._outbox = outbox
        self._rates = rates
        self._previews = previews
        self._features = features
        self._adapter = adapter
        self._pace = pace
        self._context = context

    async def advance(self, duty: Duty, open_: OpenDelivery, wires: Sequence[Wire] = ()) -> None:
        """Do what is next for it; `wires` are its messages where they are rendered already."""
        part = next((part for part in open_.parts if part.state is not PartState.SHOWN), None)
        if part is None:
            await self._render(duty, open_, wires)
        elif part.state is PartState.UNSETTLED:
            await self._settle(duty, open_, part)
        elif part.state is PartState.MARKED:
            await self._doubt(duty, open_, part, "its last attempt ended without a result")
        else:
            floor = self.floor(open_.delivery.address)
            self._held(await self._outbox.mark(duty, open_.delivery.id, part.ordinal, floor=floor))
            await self.send(duty, open_, part)

    async def _render(self, duty: Duty, open_: OpenDelivery, wires: Sequence[Wire]) -> None:
        try:
            wires = wires or self.rendered(open_.delivery)
        except Exception as error:
            # A bug of ours or a file that is gone: the payload is kept, and the operator sees it.
            log.exception("cannot render")
            reason = self._context.clean(f"can't be rendered: {type(error).__name__}: {error}")
            self._held(await self._outbox.give_up(duty, open_.delivery.id, None, reason))
            self._context.on_dead()
            return
        if self._features.stored:
            await self._show_stored(duty, open_, wires)
        elif open_.in_doubt:  # looked for before it is sent
            self._held(await self._outbox.render(duty, open_.delivery.id, wires, mark=False))
        elif len(wires) == 1 and self._is_edit(open_, 1) and not open_.over_preview:
            change = OpenPart(1, PartState.MARKED, wires[0].body, wires[0].fallback)
            await self.send(duty, open_, change, unstored=wires)
        else:
            floor = self.floor(open_.delivery.address)
            self._held(await self._outbox.render(duty, open_.delivery.id, wires, mark=True, floor=floor))
            await self.send(duty, open_, OpenPart(1, PartState.MARKED, wires[0].body, wires[0].fallback))

    def floor(self, address: Address) -> str:
        """The floor there, empty for a channel that settles without one."""
        return self._features.floor(address) if self._features.floor else ""

    def rendered(self, delivery: Delivery) -> tuple[Wire, ...]:
        """Its wire messages. Errors: whatever an adapter raises; ValueError when it broke its word."""
        wires = tuple(self._adapter.render(delivery))
        if not wires:
            raise ValueError("the adapter made no message from it")
        if any(wire.more for wire in wires[:-1]):
            raise ValueError("only the last message may take several without its form")
        return wires

    async def _show_stored(self, duty: Duty, open_: OpenDelivery, wires: Sequence[Wire]) -> None:
        """On this channel our own commit is what people see."""
        receipts = await self.receipts(open_.delivery.id, open_.delivery.address, wires)
        self._held(await self._outbox.render_shown(duty, open_.delivery.id, wires, receipts))
        self.tell(open_, len(wires))

    async def receipts(self, delivery: DeliveryId, address: Address, wires: Sequence[Wire]) -> tuple[Receipt, ...]:
        """On a channel where our own commit is what people see, the receipts are known before."""
        if not self._features.stored:
            return ()
        parts = [Part(delivery, n, address, wire.body) for n, wire in enumerate(wires, 1)]
        return tuple([await self._adapter.show(part) for part in parts])

    async def send(self, duty: Duty, open_: OpenDelivery, known: OpenPart, *, unstored: Sequence[Wire] = ()) -> None:
        """One attempt. Its marker is committed, or it is the change of a message whose id is recorded: that may be made again,
        so until it is known to be on screen it waits as it is, and its messages are `unstored`."""
        self._context.probe("part-marked")
        delivery = open_.delivery
        if not self._context.lease_is_fresh():  # frozen since the marker: others may have looked for it, and sent it
            await self._late(duty, open_, known, unstored)
            return
        under = under_of(open_, known.ordinal)
        part = Part(delivery.id, known.ordinal, delivery.address, known.body, known.repeat_mark, under)
        try:
            async with asyncio.timeout(self._pace.send_timeout.total_seconds()):
                with in_time(self._context.lease_is_fresh):
                    receipt = await self._put(open_, part)
        except Exception as error:  # noqa: BLE001 - told apart where it is recorded
            if unstored:
                await self._surely(lambda: self._outbox.render(duty, delivery.id, unstored, mark=True))
            await self._failed(duty, open_, known, error)
            return
        self._context.probe("part-shown")
        if unstored:
            await self._surely(lambda: self._outbox.render_shown(duty, delivery.id, unstored, [receipt]))
            self.tell(open_, known.ordinal)
        elif wait := self._unsure_for(open_, known):
            await self._once_more(duty, open_, known, wait)
        else:
            await self._checkpoint(duty, open_, known, receipt)

    async def _late(self, duty: Duty, open_: OpenDelivery, known: OpenPart, unstored: Sequence[Wire]) -> None:
        """Our lease may be over, so nothing is sent. If the duty is ours still, it is tried again."""
        if unstored:
            raise DutyLost
        await self._again(duty, open_, known, TOO_LATE)

    async def _failed(self, duty: Duty, open_: OpenDelivery, known: OpenPart, error: Exception) -> None:
        """Record an attempt that did not show it, or perhaps did."""
        why = self._context.clean(str(error) or type(error).__name__)
        match error:
            case Retryable():
                await self.heed(duty, open_.delivery.address, error)
                await self._again(duty, open_, known, why, error.retry_after)
            case Rejected():
                await self._refused(duty, open_, known, error, why)
            case _:
                # Uncertain, a time-out, or a bug in an adapter: in each case it may be on screen.
                if not isinstance(error, (Uncertain, TimeoutError)):
                    log.error("adapter broke", exc_info=error)
                await self._unclear(duty, open_, known, why)

    async def _checkpoint(self, duty: Duty, open_: OpenDelivery, known: OpenPart, receipt: Receipt) -> None:
        await self._surely(lambda: self._outbox.checkpoint(duty, open_.delivery.id, known.ordinal, receipt))
        if open_.delivery.kind is Kind.PROGRESS:
            self._previews.shown(open_.delivery.id, receipt)
        self.tell(open_, known.ordinal)

    def _unsure_for(self, open_: OpenDelivery, known: OpenPart) -> timedelta:
        """Time in which an interrupted edit may still change the preview that this delivery replaces."""
        if not open_.over_preview or not self._is_edit(open_, known.ordinal) or open_.delivery.edits is None:
            return timedelta()
        return self._previews.unsure_for(open_.delivery.edits)

    async def _once_more(self, duty: Duty, open_: OpenDelivery, known: OpenPart, wait: timedelta) -> None:
        """It is on screen, where something older may still come over it: an edit may be made as often as one likes."""
        delivery, at = open_.delivery.id, self._context.now() + wait
        reason = "it's on screen; it is sent once more in case a late change to its preview covers it"
        await self._surely(lambda: self._outbox.retry(duty, delivery, known.ordinal, at, reason))
        self._context.on_shown(open_.delivery.address)

    def tell(self, open_: OpenDelivery, part: int) -> None:
        """It is on screen, and recorded."""
        self._context.probe("part-checkpointed")
        log.info("shown", kind=open_.delivery.kind, address=str(open_.delivery.address), part=part)
        self._context.on_shown(open_.delivery.address)

    async def _again(
        self, duty: Duty, open_: OpenDelivery, known: OpenPart, reason: str, wait: timedelta | None = None
    ) -> None:
        """Certainly not shown, or repeatable: later, and not before the platform's own wait is over."""
        if passing(open_):
            await self._drop(duty, open_, known, PartEvent.RETRY, reason)
            return
        backoff = self._pace.backoff(known.attempts + 1, self._context.chance())
        at = self._context.now() + max(backoff, wait or timedelta())
        log.info("not shown yet", part=known.ordinal, again_at=str(at), reason=reason)
        await self._surely(lambda: self._outbox.retry(duty, open_.delivery.id, known.ordinal, at, reason))

    async def heed(self, duty: Duty, address: Address, error: Retryable) -> None:
        """A wait that the platform named holds for all that goes the same way, also after a restart."""
        if error.retry_after and self._rates.bound:
            room = "" if error.scope is Scope.ACCOUNT else address.room
            until = self._context.now() + error.retry_after
            self._rates.shut(room, error.retry_after)
            log.info("the platform says to wait", room=room or "every room", until=str(until))
            await self._surely(lambda: self._outbox.pause(duty, address.channel, address.account, room, until))

    async def _put(self, open_: OpenDelivery, part: Part) -> Receipt:
        """Edit the message that this one replaces where the channel can, else show a new one."""
        if self._is_edit(open_, part.ordinal) and open_.edit_of:
            if open_.over_preview and open_.delivery.edits:
                await self._previews.still(open_.delivery.edits)
            return await self._adapter.edit(open_.edit_of, part)
        return await self._adapter.show(part)

    def _is_edit(self, open_: OpenDelivery, ordinal: int) -> bool:
        return ordinal == 1 and open_.edit_of is not None and self._features.edits

    async def _refused(self, duty: Duty, open_: OpenDelivery, known: OpenPart, error: Rejected, reason: str) -> None:
        delivery, ordinal = open_.delivery.id, known.ordinal
        log.warning("refused by the platform", part=ordinal, reason=reason)
        if passing(open_):
            await self._drop(duty, open_, known, PartEvent.GIVE_UP, reason)
        elif error.form and known.fallback is not None:
            await self._surely(lambda: self._outbox.plain(duty, delivery, ordinal, reason))
        elif open_.over_preview and self._is_edit(open_, ordinal):
            await self._surely(lambda: self._outbox.detach(duty, delivery, ordinal, reason))
        else:
            await self._surely(lambda: self._outbox.give_up(duty, delivery, ordinal, reason))
            self._context.on_dead()

    async def _unclear(self, duty: Duty, open_: OpenDelivery, known: OpenPart, reason: str) -> None:
        """Perhaps shown. An edit is repeatable and just goes again; anything else must be looked for."""
        if self._is_edit(open_, known.ordinal):
            await self._again(duty, open_, known, reason)
            return
        delivery, ordinal = open_.delivery.id, known.ordinal
        log.warning("perhaps shown", part=ordinal, reason=reason)
        at = self._pace.first_look(self._context.now(), at_once=self._features.looks_at_once)
        await self._surely(lambda: self._outbox.doubt(duty, delivery, ordinal, at, reason))

    async def _doubt(self, duty: Duty, open_: OpenDelivery, part: OpenPart, reason: str) -> None:
        at = self._pace.first_look(part.marked_at or self._context.now(), at_once=self._features.looks_at_once)
        self._held(await self._outbox.doubt(duty, open_.delivery.id, part.ordinal, at, reason))

    # -------------------------------------------------------------------------------------------------- settling

    async def _settle(self, duty: Duty, open_: OpenDelivery, known: OpenPart) -> None:
        """Look whether it is on screen."""
        delivery = open_.delivery.id
        under = under_of(open_, known.ordinal)
        part = Part(delivery, known.ordinal, open_.delivery.address, known.body, known.repeat_mark, under)
        marked = known.marked_at or self._context.now()
        if self._features.stored:
            self._held(await self._outbox.absent(duty, delivery, known.ordinal))  # our own store would know of it
            return
        if not self._features.settles or self._is_edit(open_, known.ordinal):
            await self._cannot_tell(duty, open_, known)
            return
        try:
            async with asyncio.timeout(self._pace.send_timeout.total_seconds()):
                attempt = Attempt(known.attempts, marked, known.floor, known.first_at or marked, known.looks)
                found = await self._adapter.settle(part, attempt)
        except Exception as error:
            # Away, too slow, or a bug in an adapter: in each case nothing is known yet.
            if not isinstance(error, (ChannelError, TimeoutError)):
                log.exception("adapter cannot look", delivery=delivery)
            named = None
            if isinstance(error, Retryable):
                named = error.retry_after
                await self.heed(duty, open_.delivery.address, error)
            at = self._context.now() + (
                named or self._pace.next_look(self._context.now() - marked, self._context.chance())
            )
            self._held(await self._outbox.look_again(duty, delivery, known.ordinal, at, counted=False))
            return
        match found:
            case Shown(receipt):
                await self._checkpoint(duty, open_, known, receipt)
            case SettleResult.ABSENT:
                await self._absent(duty, open_, known, marked)
            case SettleResult.UNKNOWN:
                await self._cannot_tell(duty, open_, known)

    async def _absent(self, duty: Duty, open_: OpenDelivery, known: OpenPart, marked: datetime) -> None:
        delivery = open_.delivery.id
        if known.looks + 1 >= EMPTY_LOOKS and passing(open_):
            await self._drop(duty, open_, known, PartEvent.ABSENT, "it is certainly not on screen")
        elif known.looks + 1 >= EMPTY_LOOKS:
            self._held(await self._outbox.absent(duty, delivery, known.ordinal))
        else:
            at = self._pace.second_look(marked, self._context.now(), at_once=self._features.looks_at_once)
            self._held(await self._outbox.look_again(duty, delivery, known.ordinal, at, counted=True))

    async def _cannot_tell(self, duty: Duty, open_: OpenDelivery, known: OpenPart) -> None:
        delivery, ordinal = open_.delivery.id, known.ordinal
        if self._is_edit(open_, ordinal):
            self._held(await self._outbox.absent(duty, delivery, ordinal))  # an edit may be made twice
            return
        if passing(open_):
            await self._drop(duty, open_, known, PartEvent.HOLD, "nobody can tell whether it is on screen")
            return
        log.warning("nobody can tell whether it was shown", part=ordinal, policy=self._pace.unknown)
        match self._pace.unknown:
            case Unknown.REPEAT:
                self._held(await self._outbox.repeat(duty, delivery, ordinal))
            case Unknown.HOLD:
                reason = "nobody can tell whether it was shown"
                self._held(await self._outbox.hold(duty, delivery, ordinal, reason))

    async def _drop(self, duty: Duty, open_: OpenDelivery, known: OpenPart, event: PartEvent, reason: str) -> None:
        """Progress is worth showing now or never."""
        log.info("not shown, so left out", part=known.ordinal, reason=reason)
        await self._surely(lambda: self._outbox.drop(duty, open_.delivery.id, known.ordinal, event, reason))

    # -------------------------------------------------------------------------------------------------- the store

    def _held(self, written: bool) -> None:
        if not written:
            raise DutyLost

    async def _surely(self, write: Callable[[], Awaitable[bool]]) -> None:
        """Record an outcome that only we know, as often as it takes. Errors: DutyLost."""
        while True:
            try:
                return self._held(await write())
            except StoreError as error:
                log.debug("an outcome is not recorded yet", reason=str(error))
                await asyncio.sleep(STORE_RETRY_DELAY.total_seconds())
