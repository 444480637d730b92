"""A rig at play: the adapter connected, a sink that remembers, and what was shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final, TypeVar

from bot.testing.channel.listening import listening
from bot.testing.clocks import Clock
from runtime.contract import (
    AdapterContext,
    Address,
    Amended,
    Attempt,
    Button,
    ChannelAdapter,
    Clicked,
    Connection,
    Content,
    Delivery,
    DeliveryId,
    Kind,
    Outcome,
    Part,
    Receipt,
    Said,
    Seen,
    Settled,
    Signal,
    SignalId,
    Sink,
    Verdict,
)
from runtime.domain.ids import new_id
from runtime.errors import Retryable, StoreError, Trouble
from tests.contract.adapters.rig import OnScreen, Place, Rig
from tests.fakes.forms import FakeForms
from tests.faults.program import first
from tests.unit.web.stage import FakeHistory, FakeLinks, FakeNotifier, FakeWorkspaces

T = TypeVar("T")

GLANCE: Final = 0.01  # seconds between two looks
PATIENCE: Final = 15.0  # seconds on a busy machine; what is looked for is there within one
SETTLE_TRIES: Final = 12
STEP: Final = timedelta(seconds=5)
"""How far the clock moves between two looks for an uncertain message: real ones are 10 s and 25 s after the cut."""


class FakeSink:
    """Remembers each signal, and each key once. `away` counts the calls that fail first; `open` holds the others back."""

    def __init__(self) -> None:
        self.calls: list[Signal] = []
        self.taken: list[Signal] = []
        self.away = 0
        self.notice: str | None = None
        self.cards: tuple[Content, ...] = ()
        self.outcome = Outcome.ACCEPTED
        self.form_stays = False
        self.open = asyncio.Event()
        self.open.set()
        self._keys: set[tuple[str, str]] = set()

    async def __call__(self, signal: Signal) -> Verdict:
        self.calls.append(signal)
        await self.open.wait()
        if self.away:
            self.away -= 1
            raise StoreError("the database is away", trouble=Trouble.AWAY)
        keys = keys_of(signal)
        if keys & self._keys:
            return Verdict(Outcome.DUPLICATE, SignalId("s"))
        self._keys |= keys
        self.taken.append(signal)
        return Verdict(self.outcome, SignalId("s"), self.notice, self.cards, self.form_stays)

    @property
    def texts(self) -> list[str]:
        return [signal.body.text for signal in self.taken if isinstance(signal.body, Said)]

    @property
    def clicks(self) -> list[Clicked]:
        return [signal.body for signal in self.taken if isinstance(signal.body, Clicked)]

    @property
    def amended(self) -> list[Amended]:
        return [signal.body for signal in self.taken if isinstance(signal.body, Amended)]

    def said(self, text: str) -> Signal | None:
        return next((s for s in self.taken if isinstance(s.body, Said) and s.body.text == text), None)


def keys_of(signal: Signal) -> set[tuple[str, str]]:
    keys = {(signal.platform, signal.dedupe_key)}
    return keys | {(signal.platform, f"natural {signal.natural_key}")} if signal.natural_key else keys


@dataclass
class FakePlaces:
    """What the store would say about rooms: what the sink took in, and which receipts were recorded."""

    sink: FakeSink
    shown: dict[str, list[tuple[datetime, str]]] = field(default_factory=dict)
    in_doubt: list[Address] = field(default_factory=list)
    is_away: bool = False

    async def seen(self, channel: str, account: str, since: datetime) -> list[Seen]:
        said = (signal for signal in self._told(since) if isinstance(signal.body, Said))
        return list({s.address: Seen(s.address, s.message_id, s.received_at) for s in said}.values())

    def _told(self, since: datetime) -> list[Signal]:
        return [signal for signal in self.sink.taken if signal.received_at >= since]

    async def last_heard(self, channel: str, account: str) -> datetime | None:
        if self.is_away:
            raise StoreError("the database is away", trouble=Trouble.AWAY)
        return max((signal.received_at for signal in self.sink.taken), default=None)

    async def moved(self, channel: str, account: str) -> Mapping[str, str]:
        return {}

    async def receipts(self, address: Address, since: datetime) -> list[str]:
        return [message for at, message in self.shown.get(address.room, []) if at >= since]

    async def unsettled(self, channel: str, account: str) -> list[Address]:
        return list(self.in_doubt)


@dataclass
class Stage:
    """One rig with everything around an adapter. `place` is where the agent is alone with a person."""

    rig: Rig
    given: AdapterContext
    clock: Clock
    sink: FakeSink
    places: FakePlaces
    forms: FakeForms
    numbers: count[int] = field(default_factory=lambda: count(1))
    deliveries: dict[str, int] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        return self.rig.rooms().direct

    # ------------------------------------------------------------------------------------------------- connected

    @asynccontextmanager
    async def life(self, *, connected: bool = True, **changes: Any) -> AsyncIterator[ChannelAdapter]:
        """A life of the account, as a process has it: another one may follow."""
        adapter = self.rig.adapter(self.given, **changes)
        async with self.rig.reachable(adapter), at_work(adapter, self.sink):
            if connected:
                await until(lambda: adapter.standing().connection is Connection.CONNECTED, f"{adapter.standing()}")
            yield adapter

    async def taken(self, *texts: str) -> None:
        """Until these were said, by what the sink took in."""
        await until(lambda: set(texts) <= set(self.sink.texts), f"{texts}; taken in: {self.sink.texts}")

    # -------------------------------------------------------------------------------------------------- speaking

    def delivery(
        self, text: str, *buttons: Button, address: Address | None = None, kind: Kind = Kind.FINAL, reply_to: str = ""
    ) -> Delivery:
        number = DeliveryId(new_id()[-20:])
        content = Content(text, buttons)
        return Delivery(number, "run:1", 0, kind, address or self.place.address, content, reply_to=reply_to)

    def parts(self, adapter: ChannelAdapter, delivery: Delivery) -> list[Part]:
        wires = adapter.render(delivery)
        return [Part(delivery.id, n, delivery.address, wire.body) for n, wire in enumerate(wires, 1)]

    def part(self, adapter: ChannelAdapter, text: str = "hello", *buttons: Button) -> Part:
        """The one part of a short text."""
        [part] = self.parts(adapter, self.delivery(text, *buttons))
        return part

    async def show(self, adapter: ChannelAdapter, part: Part) -> Receipt:
        """Show it as the courier does, down to the checkpoint."""
        receipt = await adapter.show(part)
        await self.checkpoint(adapter, receipt, part)
        return receipt

    async def edit(self, adapter: ChannelAdapter, receipt: Receipt, part: Part) -> Receipt:
        changed = await adapter.edit(receipt, part)
        await self.checkpoint(adapter, receipt if adapter.features().stored else changed, part)
        return changed

    async def checkpoint(self, adapter: ChannelAdapter, receipt: Receipt, part: Part) -> None:
        self.places.shown.setdefault(part.address.room, []).append((self.clock(), receipt.message_id))
        if adapter.features().stored:
            keep = getattr(self.rig, "checkpoint")  # noqa: B009 - only a rig of such a channel has it
            await keep(Place(part.address, self.place.user), receipt.message_id, part.body)

    async def say(self, adapter: ChannelAdapter, text: str, *buttons: Button, address: Address | None = None) -> None:
        """A whole delivery, part after part."""
        for part in self.parts(adapter, self.delivery(text, *buttons, address=address)):
            await self.show(adapter, part)

    def attempt(self, adapter: ChannelAdapter, part: Part) -> Attempt:
        """What the marker of an attempt at `part` holds, made before the send."""
        return Attempt(
            1, self.clock(), floor(part.address) if (floor := adapter.features().floor) else "", self.clock()
        )

    async def settle(self, adapter: ChannelAdapter, part: Part, attempt: Attempt) -> Settled:
        """Look as the courier does: later and later, as long as the channel says that it cannot look yet."""
        for _ in range(SETTLE_TRIES):
            self.clock.ahead += STEP
            try:
                return await adapter.settle(part, attempt)
            except Retryable as error:
                reason = error
                await asyncio.sleep(0.05)
        raise AssertionError(f"never told: {reason}")

    async def visible(self, place: Place | None = None) -> Sequence[OnScreen]:
        return await self.rig.visible(place or self.place)


@asynccontextmanager
async def at_work(adapter: ChannelAdapter, sink: Sink) -> AsyncIterator[None]:
    """The adapter as the program runs it."""
    async with alone(), listening(adapter, sink):
        yield


@asynccontextmanager
async def alone() -> AsyncIterator[None]:
    """The first of several errors is told, without the group around it."""
    try:
        yield
    except BaseExceptionGroup as errors:
        raise first(errors) from None


def stage_for(rig: Rig, folder: Path) -> Stage:
    clock, sink = Clock(), FakeSink()
    places = FakePlaces(sink)
    fakes = (FakeHistory(), FakeLinks(), FakeWorkspaces(folder), places, FakeNotifier())
    forms = FakeForms()
    given = AdapterContext(*fakes, clock, new_id, forms=forms)
    return Stage(rig, given, clock, sink, places, forms)


async def until(holds: Callable[[], bool | Awaitable[bool]], what: str, seconds: float = PATIENCE) -> None:
    """Wait until `holds`. Errors: AssertionError names what did not come."""
    end = asyncio.get_running_loop().time() + seconds
    while not (now if isinstance(now := holds(), bool) else await now):
        if asyncio.get_running_loop().time() > end:
            raise AssertionError(f"within {seconds:g} s there was no {what}")
        await asyncio.sleep(GLANCE)
