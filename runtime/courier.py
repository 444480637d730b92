"""The courier of one account: shows what the outbox holds, each part exactly once while the platform lets us look.

    PENDING -mark-> MARKED -show-> SHOWN
                      |  certainly not shown: back to PENDING, later
                      |  perhaps shown: UNSETTLED -look-> SHOWN | two empty looks: PENDING | cannot tell: policy
                      |  refused: its plain twin, else DEAD

A room is served by one task at a time, so its order holds and nothing else goes there while a part is unsettled.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, TypeVar

import structlog

from runtime.contract import (
    Address,
    Attempt,
    Capability,
    ChannelAdapter,
    Delivery,
    DeliveryId,
    Look,
    Now,
    Part,
    Probe,
    Receipt,
    RunId,
    Shown,
    Wire,
    no_probe,
)
from runtime.deliveries import DeliveryState, PartState
from runtime.errors import ChannelError, Rejected, Retryable, StoreError, Uncertain
from runtime.store.protocol import Duty, NewDelivery, OpenDelivery, OpenPart, Outbox, Rendered

T = TypeVar("T")
log = structlog.get_logger("courier")

POLL: Final = timedelta(seconds=1)
"""How often to look without a nudge: another node may have put something into the outbox."""
LOOKS: Final = 2
"""Empty looks before a part counts as absent, since a platform may apply a request late."""
PATIENCE: Final = timedelta(seconds=1)


class Unknown(StrEnum):
    """What happens to a part of which nobody can tell whether it is on screen."""

    REPEAT = "repeat"  # once more, with a visible mark
    HOLD = "hold"  # until a person says


@dataclass(frozen=True, slots=True)
class Pace:
    """Waits of the courier; `settle_first` and `settle_second` count from the marker."""

    unknown: Unknown = Unknown.REPEAT
    settle_first: timedelta = timedelta(seconds=10)
    settle_second: timedelta = timedelta(seconds=25)
    backoff_first: timedelta = timedelta(seconds=1)
    backoff_most: timedelta = timedelta(seconds=60)
    send_timeout: timedelta = timedelta(seconds=30)

    def backoff(self, attempts: int, chance: float) -> timedelta:
        """The wait after the `attempts`-th failure: it doubles, and `chance` in [0, 1) spreads it by a quarter."""
        grown = self.backoff_first * 2 ** min(max(attempts - 1, 0), 20)
        return self._spread(grown, chance)

    def next_look(self, since: timedelta, chance: float) -> timedelta:
        """The wait after a look that told nothing, `since` the marker: it grows with that, spread likewise."""
        return self._spread(max(since / 2, self.backoff_first), chance)

    def _spread(self, wait: timedelta, chance: float) -> timedelta:
        spread: timedelta = min(wait, self.backoff_most) * (0.875 + chance / 4)
        return spread


class DutyLost(Exception):
    """Another node is this account's courier now."""


def choose(waiting: Sequence[OpenDelivery], now: datetime) -> OpenDelivery | datetime | None:
    """Of a room's open deliveries the one to go on with, or when to look again, or None when there is none.

    A delivery of which some part is or may be on screen has rank 0: it holds the room until it is settled.
    """
    if not waiting:
        return None
    first = min(waiting, key=lambda d: (d.rank, d.number))
    if first.rank == 0:
        return first if first.not_before <= now else first.not_before
    due = [d for d in waiting if d.not_before <= now]
    return min(due, key=lambda d: (d.rank, d.number)) if due else min(d.not_before for d in waiting)


def delivery_of(new: NewDelivery) -> Delivery:
    return Delivery(new.id, new.origin, new.ordinal, new.kind, new.address, new.content, new.edits)


def begun(new: NewDelivery, rendered: Rendered, run_id: RunId, now: datetime) -> OpenDelivery:
    """What a new delivery is in the store once its first part is marked."""
    parts = [
        OpenPart(n, PartState.MARKED if n == 1 else PartState.PENDING, wire.body, wire.fallback)
        for n, wire in enumerate(rendered.wires, 1)
    ]
    return OpenDelivery(delivery_of(new), DeliveryState.OPEN, new.kind.rank, 0, now, tuple(parts), run_id=run_id)


class Courier:
    """Serves the rooms of one adapter while it holds the account's duty."""

    def __init__(
        self,
        *,
        outbox: Outbox,
        adapter: ChannelAdapter,
        take: Callable[[str], Awaitable[Duty | None]],
        pace: Pace,
        now: Now,
        on_shown: Callable[[Address], None],
        lease_is_fresh: Callable[[], bool] = lambda: True,
        chance: Callable[[], float] = random.random,
        width: int = 32,
        probe: Probe = no_probe,
    ) -> None:
        self.adapter = adapter
        self._outbox = outbox
        self._take = take
        self._pace = pace
        self._now = now
        self._on_shown = on_shown
        self._lease_is_fresh = lease_is_fresh
        self._chance = chance
        self._width = asyncio.Semaphore(width)
        self._probe = probe
        self._wanted: set[Address] = set()
        self._active: set[Address] = set()
        self._later: dict[Address, datetime] = {}
        self._wake = asyncio.Event()
        self._calm = asyncio.Event()
        self._calm.set()
        self._duty: Duty | None = None
        self._group: asyncio.TaskGroup | None = None

    @property
    def role(self) -> str:
        return f"courier:{self.adapter.channel}:{self.adapter.identity}"

    def nudge(self, address: Address) -> None:
        """Something is waiting for this room."""
        self._wanted.add(address)
        self._calm.clear()
        self._wake.set()

    async def prepare(self, new: NewDelivery) -> Rendered | None:
        """Render a delivery that is about to be committed, and keep its room for it; None where it must wait its turn.

        Whoever asked says what became of it, by `begin` or `let_go`. Edits wait: what they replace is read first.
        """
        if self._duty is None or new.edits or self._is_busy(new.address) or not self._lease_is_fresh():
            return None
        try:
            wires = tuple(self.adapter.render(delivery_of(new)))
        except Exception:  # noqa: BLE001 - it is rendered once more in its turn, which keeps the payload and tells
            return None
        self._active.add(new.address)
        self._calm.clear()
        return Rendered(self._duty, wires, await self._receipts(new.id, new.address, wires))

    def _is_busy(self, address: Address) -> bool:
        return address in self._active or address in self._wanted or address in self._later or self._width.locked()

    async def _receipts(self, delivery: DeliveryId, address: Address, wires: Sequence[Wire]) -> tuple[Receipt, ...]:
        """On a channel where our own commit is what people see, the receipts are known before."""
        if Capability.STORED not in self.adapter.capabilities:
            return ()
        parts = [Part(delivery, n, address, wire.body) for n, wire in enumerate(wires, 1)]
        return tuple([await self.adapter.show(part) for part in parts])

    def begin(self, new: NewDelivery, run_id: RunId) -> None:
        """It is committed, with the marker of its first part or as shown: go on from there."""
        rendered = new.rendered
        if rendered is None or rendered.duty != self._duty or self._group is None:
            self.let_go(new.address)  # the duty changed hands since: whoever has it finds the marker
            return
        open_ = begun(new, rendered, run_id, self._now())
        if rendered.receipts:
            self._tell(open_, len(rendered.wires))
            self._leave(new.address)
        else:
            self._group.create_task(self._room(rendered.duty, new.address, open_))

    def let_go(self, address: Address) -> None:
        """Nothing is known to have come of it: the room is served as any other."""
        self._active.discard(address)
        self.nudge(address)

    def _leave(self, address: Address) -> None:
        self._active.discard(address)
        if not self._active and not self._wanted:
            self._calm.set()

    def look_anew(self) -> None:
        """The clock was set: rooms that were to be served later are looked at now."""
        for address in list(self._later):
            self.nudge(address)

    async def run(self) -> None:
        """Take the duty, serve until it is lost, and again, until cancelled."""
        while True:
            duty = await self._taken()
            if duty is None:
                self._rest()  # whoever has the duty serves our rooms
                await asyncio.sleep(POLL.total_seconds())
                continue
            try:
                await self._serve(duty)
            except* DutyLost:
                log.info("courier replaced", role=self.role)
            finally:
                self._duty = self._group = None
                self._active.clear()
                self._rest()

    async def drain(self) -> None:
        """Show what may be shown now, then return: for tests that move the clock by hand."""
        duty = await self._taken()
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

    async def _taken(self) -> Duty | None:
        try:
            duty = await self._take(self.role)
            if duty and await self._outbox.adopt(
                duty, self.adapter.channel, self.adapter.identity, self._pace.settle_first
            ):
                return duty
        except StoreError as error:
            log.debug("cannot take the courier's duty", role=self.role, reason=str(error))
        return None

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
        now = self._now()
        self._wanted |= {address for address, at in self._later.items() if at <= now}
        ready = [address for address in self._wanted if address not in self._active]
        self._wanted.difference_update(ready)
        for address in ready:
            self._later.pop(address, None)
        return ready

    async def _next(self) -> None:
        """Wait for a nudge or the next appointment; look at all rooms now and then."""
        soonest = min((at - self._now() for at in self._later.values()), default=POLL)
        try:
            async with asyncio.timeout(min(max(soonest, timedelta()), POLL).total_seconds()):
                await self._wake.wait()
            self._wake.clear()
        except TimeoutError:
            if soonest >= POLL:
                await self._scan()

    async def _scan(self) -> None:
        try:
            rooms = await self._outbox.open_rooms(self.adapter.channel, self.adapter.identity)
        except StoreError as error:
            log.debug("cannot read the outbox", role=self.role, reason=str(error))
            return
        self._wanted |= {room for room in rooms if room not in self._later}

    async def _room(self, duty: Duty, address: Address, marked: OpenDelivery | None = None) -> None:
        """Serve a room, first what was `marked` for it already."""
        try:
            async with self._width:
                if marked:
                    await self._told(duty, marked, self._send(duty, marked, marked.parts[0]))
                later = await self.serve_room(duty, address)
        except StoreError as error:
            log.debug("cannot serve the room", address=str(address), reason=str(error))
            later = self._now() + PATIENCE
        except DutyLost:
            raise
        except Exception:
            # A bug of ours stops this room alone, and not for good.
            log.exception("room not served", address=str(address))
            later = self._now() + PATIENCE
        self._active.discard(address)
        if later is not None:
            self._later[address] = later
        self._wake.set()

    async def serve_room(self, duty: Duty, address: Address) -> datetime | None:
        """Show what this room may be shown; when to come back, None when nothing is left."""
        while self._lease_is_fresh():
            match choose(await self._outbox.open_deliveries(address), self._now()):
                case OpenDelivery() as open_:
                    await self._told(duty, open_, self._advance(duty, open_))
                case later:
                    return later
        return self._now() + PATIENCE

    async def _told(self, duty: Duty, open_: OpenDelivery, work: Awaitable[None]) -> None:
        """Do `work` under the delivery's name in the log. Errors: DutyLost only if it is lost indeed."""
        trace = open_.run_id or open_.delivery.id
        try:
            with structlog.contextvars.bound_contextvars(trace=trace, delivery=open_.delivery.id):
                await work
        except DutyLost:
            if await self._take(self.role) != duty:
                raise
            # Still ours: a person discarded this delivery meanwhile.

    # --------------------------------------------------------------------------------------------------- a part

    async def _advance(self, duty: Duty, open_: OpenDelivery) -> None:
        part = next((part for part in open_.parts if part.state is not PartState.SHOWN), None)
        if part is None:
            await self._render(duty, open_)
        elif part.state is PartState.UNSETTLED:
            await self._settle(duty, open_, part)
        elif part.state is PartState.MARKED:
            await self._doubt(duty, open_, part, "its attempt left no outcome")
        else:
            self._held(await self._outbox.mark(duty, open_.delivery.id, part.ordinal))
            await self._send(duty, open_, part)

    async def _render(self, duty: Duty, open_: OpenDelivery) -> None:
        try:
            wires = self.adapter.render(open_.delivery)
            first = wires[0]
        except Exception as error:
            # A bug of ours or a file that is gone: the payload is kept, and the operator sees it.
            log.exception("cannot render")
            reason = f"cannot be rendered: {type(error).__name__}: {error}"
            self._held(await self._outbox.give_up(duty, open_.delivery.id, None, reason))
            return
        if Capability.STORED in self.adapter.capabilities:
            await self._show_stored(duty, open_, wires)
        elif open_.in_doubt:  # looked for before it is sent
            self._held(await self._outbox.render(duty, open_.delivery.id, wires, mark=False))
        else:
            self._held(await self._outbox.render(duty, open_.delivery.id, wires, mark=True))
            await self._send(duty, open_, OpenPart(1, PartState.MARKED, first.body, first.fallback))

    async def _show_stored(self, duty: Duty, open_: OpenDelivery, wires: Sequence[Wire]) -> None:
        """On this channel our own commit is what people see."""
        receipts = await self._receipts(open_.delivery.id, open_.delivery.address, wires)
        self._held(await self._outbox.render_shown(duty, open_.delivery.id, wires, receipts))
        self._tell(open_, len(wires))

    async def _send(self, duty: Duty, open_: OpenDelivery, known: OpenPart) -> None:
        """One attempt; its marker is committed."""
        self._probe("part-marked")
        delivery = open_.delivery
        part = Part(delivery.id, known.ordinal, delivery.address, known.body, known.repeat_mark)
        try:
            async with asyncio.timeout(self._pace.send_timeout.total_seconds()):
                receipt = await self._put(open_, part)
        except Retryable as error:
            await self._again(duty, open_, known, str(error), error.retry_after)
        except Rejected as error:
            await self._refused(duty, open_, known, error)
        except Exception as error:
            # Uncertain, a time-out, or a bug in an adapter: in each case it may be on screen.
            if not isinstance(error, (Uncertain, TimeoutError)):
                log.exception("adapter broke")
            await self._unclear(duty, open_, known, str(error) or type(error).__name__)
        else:
            self._probe("part-shown")
            await self._checkpoint(duty, open_, known, receipt)

    async def _checkpoint(self, duty: Duty, open_: OpenDelivery, known: OpenPart, receipt: Receipt) -> None:
        await self._surely(lambda: self._outbox.checkpoint(duty, open_.delivery.id, known.ordinal, receipt))
        self._probe("part-checkpointed")
        self._tell(open_, known.ordinal)

    def _tell(self, open_: OpenDelivery, part: int) -> None:
        log.info("shown", kind=open_.delivery.kind, address=str(open_.delivery.address), part=part)
        self._on_shown(open_.delivery.address)

    async def _again(
        self, duty: Duty, open_: OpenDelivery, known: OpenPart, reason: str, wait: timedelta | None = None
    ) -> None:
        """Certainly not shown, or repeatable: later, and not before the platform's own wait is over."""
        backoff = self._pace.backoff(known.attempts + 1, self._chance())
        at = self._now() + max(backoff, wait or timedelta())
        log.info("not shown yet", part=known.ordinal, again_at=str(at), reason=reason)
        await self._surely(lambda: self._outbox.retry(duty, open_.delivery.id, known.ordinal, at, reason))

    async def _put(self, open_: OpenDelivery, part: Part) -> Receipt:
        """Edit the message that this one replaces where the channel can, else show a new one."""
        if self._is_edit(open_, part.ordinal) and open_.edit_of:
            return await self.adapter.edit(open_.edit_of, part)
        return await self.adapter.show(part)

    def _is_edit(self, open_: OpenDelivery, ordinal: int) -> bool:
        return ordinal == 1 and open_.edit_of is not None and Capability.EDIT in self.adapter.capabilities

    async def _refused(self, duty: Duty, open_: OpenDelivery, known: OpenPart, error: Rejected) -> None:
        delivery, ordinal, reason = open_.delivery.id, known.ordinal, str(error)
        log.warning("refused by the platform", part=ordinal, reason=reason)
        if error.form and known.fallback is not None:
            await self._surely(lambda: self._outbox.plain(duty, delivery, ordinal))
        else:
            await self._surely(lambda: self._outbox.give_up(duty, delivery, ordinal, reason))

    async def _unclear(self, duty: Duty, open_: OpenDelivery, known: OpenPart, reason: str) -> None:
        """Perhaps shown. An edit is repeatable and just goes again; anything else must be looked for."""
        if self._is_edit(open_, known.ordinal):
            await self._again(duty, open_, known, reason)
            return
        delivery, ordinal = open_.delivery.id, known.ordinal
        log.warning("perhaps shown", part=ordinal, reason=reason)
        at = self._now() + self._pace.settle_first
        await self._surely(lambda: self._outbox.doubt(duty, delivery, ordinal, at, reason))

    async def _doubt(self, duty: Duty, open_: OpenDelivery, part: OpenPart, reason: str) -> None:
        at = (part.marked_at or self._now()) + self._pace.settle_first
        self._held(await self._outbox.doubt(duty, open_.delivery.id, part.ordinal, at, reason))

    # -------------------------------------------------------------------------------------------------- settling

    async def _settle(self, duty: Duty, open_: OpenDelivery, known: OpenPart) -> None:
        """Look whether it is on screen."""
        delivery = open_.delivery.id
        part = Part(delivery, known.ordinal, open_.delivery.address, known.body, known.repeat_mark)
        marked = known.marked_at or self._now()
        if Capability.STORED in self.adapter.capabilities:
            self._held(await self._outbox.absent(duty, delivery, known.ordinal))  # our own store would know of it
            return
        if Capability.SETTLE not in self.adapter.capabilities or self._is_edit(open_, known.ordinal):
            await self._cannot_tell(duty, open_, known)
            return
        try:
            async with asyncio.timeout(self._pace.send_timeout.total_seconds()):
                found = await self.adapter.settle(part, Attempt(known.attempts, marked))
        except Exception as error:
            # Away, too slow, or a bug in an adapter: in each case nothing is known yet.
            if not isinstance(error, (ChannelError, TimeoutError)):
                log.exception("adapter cannot look", delivery=delivery)
            named = getattr(error, "retry_after", None)
            at = self._now() + (named or self._pace.next_look(self._now() - marked, self._chance()))
            self._held(await self._outbox.look_again(duty, delivery, known.ordinal, at, counted=False))
            return
        match found:
            case Shown(receipt):
                await self._checkpoint(duty, open_, known, receipt)
            case Look.ABSENT:
                await self._absent(duty, open_, known, marked)
            case Look.UNKNOWN:
                await self._cannot_tell(duty, open_, known)

    async def _absent(self, duty: Duty, open_: OpenDelivery, known: OpenPart, marked: datetime) -> None:
        delivery = open_.delivery.id
        if known.looks + 1 >= LOOKS:
            self._held(await self._outbox.absent(duty, delivery, known.ordinal))
        else:
            at = max(marked + self._pace.settle_second, self._now() + self._pace.settle_first)
            self._held(await self._outbox.look_again(duty, delivery, known.ordinal, at, counted=True))

    async def _cannot_tell(self, duty: Duty, open_: OpenDelivery, known: OpenPart) -> None:
        delivery, ordinal = open_.delivery.id, known.ordinal
        if self._is_edit(open_, ordinal):
            self._held(await self._outbox.absent(duty, delivery, ordinal))  # an edit may be made twice
            return
        log.warning("nobody can tell whether it was shown", part=ordinal, policy=self._pace.unknown)
        match self._pace.unknown:
            case Unknown.REPEAT:
                self._held(await self._outbox.repeat(duty, delivery, ordinal))
            case Unknown.HOLD:
                reason = "nobody can tell whether it was shown"
                self._held(await self._outbox.hold(duty, delivery, ordinal, reason))

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
                log.debug("an outcome is not recorded yet", role=self.role, reason=str(error))
                await asyncio.sleep(PATIENCE.total_seconds())
