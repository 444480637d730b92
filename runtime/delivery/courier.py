"""The courier of one account: shows what the outbox holds, each part exactly once while the platform lets us look.

It decides which room and which delivery is next; `runtime.delivery.sender` has what then happens to a part. A room is served by
one task at a time, so its order holds and nothing else goes there while a part is unsettled.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import structlog

from runtime.cancellation import cancellable
from runtime.cluster.notifier import REST
from runtime.cluster.pause import Pause
from runtime.contract import (
    Address,
    ChannelAdapter,
    Delivery,
    Features,
    Kind,
    Receipt,
    RunId,
    Wire,
)
from runtime.delivery.context import CourierContext, soon
from runtime.delivery.live_status import LiveStatus
from runtime.delivery.rates import Rates
from runtime.delivery.retry_policy import RetryPolicy
from runtime.delivery.sender import DutyLost, PartSender
from runtime.delivery.streaming import Previews
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.errors import Retryable, StoreError
from runtime.store.protocol import Duty, KeptRoom, NewDelivery, OpenDelivery, OpenPart, Outbox, Rendered
from runtime.store.protocol.leases import COURIER_ROLE

log = structlog.get_logger("courier")

STORE_RETRY_DELAY: Final = timedelta(seconds=1)
OVERTAKEN: Final = 10
"""Attempts, about six minutes, after which a delivery lets later ones of its kind in the room pass."""


GoOn = Callable[[Duty, OpenDelivery], Coroutine[Any, Any, None]]
"""Does what is next for a delivery."""


def choose(waiting: Sequence[OpenDelivery], now: datetime) -> OpenDelivery | datetime | None:
    """Of a room's open deliveries the one to go on with, or when to look again, or None when there is none.

    A delivery of which some part is or may be on screen has rank 0: it holds the room until it is settled.
    """
    if not waiting:
        return None
    first = min(waiting, key=lambda d: (d.rank, d.number))
    if first.rank == 0:
        return first if first.not_before <= now else first.not_before
    holding = [d for d in waiting if d.not_before > now]
    due = [d for d in waiting if d.not_before <= now and not any(holds_back(other, d) for other in holding)]
    return min(due, key=lambda d: (d.rank, d.number)) if due else min(d.not_before for d in holding)


def holds_back(earlier: OpenDelivery, later: OpenDelivery) -> bool:
    """True if `earlier`, which has to wait, keeps its place before `later`: while the platform is away all fail alike.

    After so many attempts it may be this one alone that fails, and a room must not be silent for one delivery's sake.
    """
    attempts = max((part.attempts for part in earlier.parts), default=0)
    return earlier.rank == later.rank and earlier.number < later.number and attempts < OVERTAKEN


def delivery_of(new: NewDelivery) -> Delivery:
    return Delivery(new.id, new.origin, new.ordinal, new.kind, new.address, new.content, new.edits, new.reply_to)


def begun(
    new: NewDelivery, rendered: Rendered, run_id: RunId, now: datetime, over: Receipt | None = None
) -> OpenDelivery:
    """New delivery as it is in the store once its first part is marked; `over` is the preview that it replaces."""
    parts = [
        OpenPart(n, PartState.MARKED if n == 1 else PartState.PENDING, wire.body, wire.fallback)
        for n, wire in enumerate(rendered.wires, 1)
    ]
    return OpenDelivery(
        delivery_of(new),
        DeliveryState.OPEN,
        (new.ranks_as or new.kind).rank,
        0,
        now,
        tuple(parts),
        over,
        run_id,
        over_preview=over is not None,
    )


class Courier:
    """Serves the rooms of one adapter while it holds the account's duty."""

    def __init__(
        self,
        *,
        outbox: Outbox,
        adapter: ChannelAdapter,
        pace: RetryPolicy,
        context: CourierContext,
        features: Features,
        previews: bool = False,
        width: int = 32,
    ) -> None:
        self.adapter = adapter
        self._outbox, self._pace, self._context = outbox, pace, context
        self._width = asyncio.Semaphore(width)
        self.features = features
        self._look_after = timedelta() if features.looks_at_once else pace.settle_first
        self._rates = Rates(features.buckets, context.ticks)
        self._previews = Previews(
            adapter=adapter, pace=pace, ticks=context.ticks, new_id=context.new_id, heed=self._heed
        )
        self.live_status = LiveStatus(
            post=self,
            outbox=outbox,
            previews=self._previews,
            rates=self._rates,
            pace=pace,
            features=features,
            posts=previews and features.previews,
            heed=self._heed,
        )
        self._sender = PartSender(
            outbox=outbox,
            adapter=adapter,
            pace=pace,
            context=context,
            rates=self._rates,
            features=features,
            previews=self._previews,
        )
        self.pause = Pause()
        self._wanted: set[Address] = set()
        self._active: set[Address] = set()
        self._foreseen: dict[Address, tuple[OpenDelivery, tuple[Wire, ...]]] = {}
        self._later: dict[Address, datetime] = {}
        self._wake, self._calm = asyncio.Event(), asyncio.Event()
        self._calm.set()
        self._unseen = False
        self._duty: Duty | None = None
        self._last_duty: Duty | None = None
        self._group: asyncio.TaskGroup | None = None

    @property
    def role(self) -> str:
        return f"{COURIER_ROLE}:{self.adapter.channel}:{self.adapter.identity}"

    def nudge(self, address: Address) -> bool:
        """Something is waiting for this room; whether this one serves the account. One that does not sees it with the duty."""
        if self._duty is None:
            return False
        self._wanted.add(address)
        self._calm.clear()
        self._wake.set()
        return True

    @property
    def on_duty(self) -> bool:
        """True if this one serves the account, and not another node's."""
        return self._duty is not None

    def look_around(self) -> None:
        """Something may be waiting for any room."""
        self._unseen = True
        self._wake.set()

    async def prepare(self, new: NewDelivery) -> Rendered | None:
        """Render a delivery that is about to be committed, and keep its room for it; None where it must wait its turn.

        Whoever asked says what became of it, by `begin` or `let_go`. Edits wait: what they replace is read first. Where our
        store is the screen, a courier without the duty does it as well: that commit is all there is, and is made once.
        """
        room, duty = new.address, None if self.features.stored else self._duty
        if not (duty or self.features.stored) or not self._is_free(room):
            return None
        if new.edits and self._previews.receipt(new.edits) is None:
            return None
        try:
            floor = self._sender.floor(room)
            wires: tuple[Wire, ...]
            if new.kind is Kind.PROGRESS:
                wires, has_token = (self._previews.rendered(delivery_of(new)),), self._rates.spare(room)
            else:
                wires, has_token = self._sender.rendered(delivery_of(new)), self._rates.take_now(room, new.kind.rank)
        except Exception:  # noqa: BLE001 - it is rendered once more in its turn, which keeps the payload and tells
            return None
        if not has_token:
            return None
        self._active.add(room)
        self._calm.clear()
        return Rendered(duty, wires, await self._sender.receipts(new.id, room, wires), floor)

    def begin(self, new: NewDelivery, run_id: RunId) -> None:
        """It is committed, with the marker of its first part or as shown: go on from there."""
        match new.rendered:
            case Rendered(duty=None) as rendered:
                self._sender.tell(begun(new, rendered, run_id, self._context.now()), len(rendered.wires))
                self._leave(new.address)
            case Rendered(duty=Duty() as duty) as rendered if duty == self._duty and self._group:
                over = self._previews.receipt(new.edits) if new.edits else None
                open_ = begun(new, rendered, run_id, self._context.now(), over)
                send = partial(self._sender.send, known=open_.parts[0])
                self._group.create_task(self._room(duty, new.address, open_, send))
            case _:
                self.let_go(new.address)  # the duty changed hands since: whoever has it finds the marker

    def keep(self, room: Address) -> KeptRoom | None:
        """Keep a room for the change of a card that is about to be committed; None where that must wait its turn."""
        if self._duty is None or not self._is_free(room):
            return None
        if self._rates.take(room, Kind.APPROVAL.rank):
            self._rates.leave(room)
            return None
        self._active.add(room)
        self._calm.clear()
        loop = asyncio.get_running_loop()
        return KeptRoom(
            room, lambda change: loop.call_soon_threadsafe(partial(self._foresee, change)), partial(self._go_on, room)
        )

    def _foresee(self, change: OpenDelivery) -> None:
        """Render a change while its commit goes to the disk. Errors are for when it is looked at in its turn."""
        with suppress(Exception):
            self._foreseen[change.delivery.address] = change, self._sender.rendered(change.delivery)

    def _go_on(self, room: Address, change: OpenDelivery | None) -> None:
        """The commit made this change in a kept room, or none that could be made at once."""
        foreseen, wires = self._foreseen.pop(room, (None, ()))
        if change is None:
            self._rates.give_back(room)
        if change is None or self._duty is None or self._group is None:
            self.let_go(room)
        else:
            known = wires if foreseen == change else ()
            self._group.create_task(self._room(self._duty, room, change, partial(self._sender.advance, wires=known)))

    def _is_free(self, room: Address) -> bool:
        """True if something could go there at once. Without the duty, the commit alone sees what waits there for another."""
        waits = self._duty is not None and (room in self._wanted or room in self._later)
        return not (waits or room in self._active or self._width.locked()) and self._context.lease_is_fresh()

    def let_go(self, address: Address) -> bool:
        """Nothing is known to have come of it: the room is served as any other; whether by this one."""
        self._active.discard(address)
        if self.nudge(address):
            return True
        self._leave(address)
        return False

    def _leave(self, address: Address) -> None:
        self._active.discard(address)
        if address in self._wanted:  # by somebody who found it kept
            self._wake.set()
        elif not self._active and not self._wanted:
            self._calm.set()

    def look_anew(self) -> None:
        """The clock was set: rooms that were to be served later are looked at now."""
        for address in list(self._later):
            self.nudge(address)

    async def _heed(self, address: Address, error: Retryable) -> None:
        """The platform says to wait, to something that is not sent again."""
        if self._duty:
            with suppress(DutyLost):
                await self._sender.heed(self._duty, address, error)

    @property
    def may_send(self) -> bool:
        """True if this process sends for the account at this moment."""
        return self._group is not None and self._context.lease_is_fresh()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside, as long as this one serves the account."""
        if self._group is None:
            work.close()
        else:
            self._group.create_task(work)

    async def run(self) -> None:
        """Take the duty, serve until it is lost, and again, until cancelled."""
        while True:
            await self.pause.over()
            duty = await self._awaited()
            try:
                await cancellable(self.pause.interrupt(partial(self._serve, duty)))
            except* DutyLost:
                log.info("courier replaced", role=self.role)
            finally:
                self._duty = self._group = None
                self._active.clear()
                self.live_status.stop()
                self._rest()

    async def drain(self) -> None:
        """Show what may be shown now, then return: for tests that move the clock by hand."""
        duty = await self._take_duty()
        if duty is None:
            return
        for address in await self._outbox.open_rooms(self.adapter.channel, self.adapter.identity):
            await self.serve_room(duty, address)

    async def quiet(self) -> None:
        """Wait until no room is being served and none is wanted: what still waits, waits for its time."""
        await self._calm.wait()

    # ---------------------------------------------------------------------------------------------------- rooms

    def _rest(self) -> None:
        """Nothing is being served: the next one to serve looks at all rooms first."""
        self._wanted.clear()
        self._later.clear()
        self._calm.set()

    async def _awaited(self) -> Duty:
        """The duty, as soon as it can be had. Whoever has it until then serves our rooms."""
        while True:
            wait = self._context.vacancy if self.adapter.identity else soon  # which its platform may not have told yet
            try:
                if duty := await self._take_duty():
                    return duty
            except StoreError as error:
                log.debug("cannot take the courier's duty", role=self.role, reason=str(error))
                wait = soon
            self._rest()
            await wait()

    async def _take_duty(self) -> Duty | None:
        """Errors: StoreError."""
        channel, account = self.adapter.channel, self.adapter.identity
        duty = await self._context.take(self.role) if account else None
        if duty is None or not await self._outbox.adopt(duty, channel, account, self._look_after):
            return None
        if duty != self._last_duty:
            await self._take_over()
            self._last_duty = duty
        return duty

    async def _take_over(self) -> None:
        """Take over from an unknown sender: only what the platform said to wait for is known."""
        if self.features.took_over:
            self.features.took_over()
        self._previews.start()
        if not self._rates.bound:
            return
        self._rates.start()
        for room, until in (await self._outbox.paused(self.adapter.channel, self.adapter.identity)).items():
            self._rates.shut(room, until - self._context.now())

    async def _serve(self, duty: Duty) -> None:
        async with asyncio.TaskGroup() as group:
            self._duty, self._group = duty, group
            await self._scan()
            while True:
                for address in self._due_rooms():
                    self._active.add(address)
                    group.create_task(self._room(duty, address))
                if not self._active and not self._wanted:
                    self._calm.set()
                await self._next()

    def _due_rooms(self) -> list[Address]:
        now = self._context.now()
        self._wanted |= {address for address, at in self._later.items() if at <= now}
        ready = [address for address in self._wanted if address not in self._active]
        self._wanted.difference_update(ready)
        for address in ready:
            self._later.pop(address, None)
        return ready

    async def _next(self) -> None:
        """Wait for a nudge or the next appointment; look at all rooms now and then."""
        soonest = min((at - self._context.now() for at in self._later.values()), default=REST)
        try:
            async with asyncio.timeout(min(max(soonest, timedelta()), REST).total_seconds()):
                await self._wake.wait()
            self._wake.clear()
        except TimeoutError:
            self._unseen |= soonest >= REST
        if self._unseen:
            await self._scan()

    async def _scan(self) -> None:
        self._unseen = False
        try:
            rooms = await self._outbox.open_rooms(self.adapter.channel, self.adapter.identity)
        except StoreError as error:
            log.debug("cannot read the outbox", role=self.role, reason=str(error))
            return
        # Whoever serves a room looks there by himself until nothing waits.
        self._wanted |= {room for room in rooms if room not in self._later and room not in self._active}

    async def _room(
        self, duty: Duty, address: Address, begun: OpenDelivery | None = None, go_on: GoOn | None = None
    ) -> None:
        """Serve a room, first what was `begun` for it already."""
        try:
            async with self._width:
                if begun and go_on:
                    await self._told(duty, begun, go_on(duty, begun))
                later = await self.serve_room(duty, address)
        except StoreError as error:
            log.debug("cannot serve the room", address=str(address), reason=str(error))
            later = self._context.now() + STORE_RETRY_DELAY
        except DutyLost:
            raise
        except Exception:
            # A bug of ours stops this room alone, and not for good.
            log.exception("room not served", address=str(address))
            later = self._context.now() + STORE_RETRY_DELAY
        self._active.discard(address)
        if later is not None:
            self._later[address] = later
        self._wake.set()

    async def serve_room(self, duty: Duty, address: Address) -> datetime | None:
        """Show what this room may be shown; when to come back, None when nothing is left."""
        while self._context.lease_is_fresh():
            match choose(await self._outbox.open_deliveries(address), self._context.now()):
                case OpenDelivery() as open_:
                    if wait := self._rates.take(address, open_.delivery.kind.rank):
                        return self._context.now() + wait
                    await self._told(duty, open_, self._sender.advance(duty, open_))
                case later:
                    self._rates.leave(address)
                    return later
        return self._context.now() + STORE_RETRY_DELAY

    async def _told(self, duty: Duty, open_: OpenDelivery, work: Awaitable[None]) -> None:
        """Do `work` under the delivery's name in the log. Errors: DutyLost only if it is lost indeed."""
        trace = open_.run_id or open_.delivery.id
        try:
            with structlog.contextvars.bound_contextvars(trace=trace, delivery=open_.delivery.id):
                await work
        except DutyLost:
            if await self._context.take(self.role) != duty:
                raise
            # Still ours: a person discarded this delivery meanwhile.
