"""A courier over a real store, a real fake platform behind a real socket, and a clock moved by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any, Final

from bot.testing.channel.adapter import FakeAdapter
from bot.testing.channel.server import Channel, ChannelKind
from bot.testing.clocks import HandClock
from runtime.contract import (
    Address,
    ApprovalId,
    Button,
    ChannelAdapter,
    Choice,
    Content,
    DeliveryId,
    Features,
    Kind,
    NodeId,
    Probe,
    RunId,
    SessionKey,
    no_probe,
)
from runtime.delivery.context import CourierContext, soon
from runtime.delivery.courier import Courier, choose
from runtime.delivery.retry_policy import RetryPolicy
from runtime.domain.deliveries import DeliveryState
from runtime.domain.ids import new_id
from runtime.store.protocol import Claim, DeliveryRow, Duty, Lane, Lease, NewDelivery, OpenDelivery, Outbox
from runtime.store.sql.driver import Op
from runtime.store.store import Store
from tests.contract.runtime.stage import LEASE, START
from tests.contract.statements import statement

ACCOUNT: Final = "main"
TELLING: Final = [ChannelKind.KEY, ChannelKind.LOOKUP, ChannelKind.PROBE]
EVER: Final = timedelta(days=1)
CARD: Final = (Button(ApprovalId("a1"), Choice.APPROVE, "Approve"), Button(ApprovalId("a1"), Choice.DENY, "Deny"))
LONG: Final = "".join(f"line {n:03} of a text that needs three messages\n" for n in range(12))


def address(room: str = "r1") -> Address:
    return Address("fake", ACCOUNT, room)


def a_claim() -> Claim:
    """Of a run that began here."""
    lane = Lane(SessionKey("s"), NodeId("n"), 1)
    return Claim(lane, "main", RunId("r"), address(), None, resumed=False, iterations=0, next_step=1, stop=False)


@dataclass
class Stage:
    """One store, one platform, and couriers that live one after another or side by side."""

    store: Store
    clock: HandClock
    channel: Channel
    url: str
    pace: RetryPolicy = field(default_factory=RetryPolicy)
    numbers: Iterable[int] = field(default_factory=lambda: count(1))

    # ------------------------------------------------------------------------------------------------- couriers

    def adapter(self) -> FakeAdapter:
        return FakeAdapter(
            base_url=self.url,
            kind=self.channel.kind,
            account=ACCOUNT,
            identity=ACCOUNT,
            now=self.clock,
            known_ids=self._known_ids,
        )

    async def lease(self, *, alone: bool = True) -> Lease:
        return await self.store.cluster.join(NodeId(new_id()), "test", LEASE, alone=alone)

    async def courier(
        self,
        *,
        probe: Probe = no_probe,
        adapter: ChannelAdapter | None = None,
        lease: Lease | None = None,
        outbox: Outbox | None = None,
        features: Features | None = None,
        vacancy: Callable[[], Awaitable[object]] = soon,
        asked: list[str] | None = None,
    ) -> Courier:
        """A courier of a new process; the one before it is dead, unless it is given a `lease` beside it.

        What it asks for goes into `asked`.
        """
        held = lease or await self.lease()

        async def take(role: str) -> Duty | None:
            if asked is not None:
                asked.append(role)
            return await self.store.cluster.take(held, role)

        adapter = adapter or self.adapter()
        return Courier(
            outbox=outbox or self.store.outbox,
            adapter=adapter,
            pace=self.pace,
            context=CourierContext(
                take=take,
                vacancy=vacancy,
                now=self.clock,
                on_shown=lambda address: None,
                chance=lambda: 0.5,
                ticks=lambda: self.clock() - START,
                probe=probe,
            ),
            features=features or adapter.features(),
        )

    async def settle(self, courier: Courier, within: timedelta = EVER) -> None:
        """Drain and move the clock to the next appointment, until nothing is left that leaves by itself."""
        until = self.clock.at + within
        for _ in range(1000):
            await courier.drain()
            soonest = await self.next_appointment()
            if soonest is None or soonest > until:
                return
            self.clock.at = max(self.clock.at, soonest)
        raise AssertionError(f"this does not end: {await self.outbox()}")

    async def next_appointment(self) -> datetime | None:
        """When the first room with something open may be gone on with."""
        rooms = await self.store.outbox.open_rooms("fake", ACCOUNT)
        chosen = [choose(await self.store.outbox.open_deliveries(room), self.clock.at) for room in rooms]
        return min((c.not_before if isinstance(c, OpenDelivery) else c for c in chosen if c), default=None)

    async def _known_ids(self, room: Address) -> list[str]:
        rows = await self.rows(
            "SELECT p.receipt FROM parts p JOIN deliveries d ON d.id = p.delivery_id "
            "WHERE d.address = :room AND p.receipt IS NOT NULL",
            room=str(room),
        )
        return [row[0] for row in rows]

    # --------------------------------------------------------------------------------------------------- outbox

    def new(
        self,
        words: str = "hello",
        *,
        room: str = "r1",
        kind: Kind = Kind.FINAL,
        origin: str = "",
        ordinal: int = 0,
        edits: DeliveryId | None = None,
        buttons: tuple[Button, ...] = (),
    ) -> NewDelivery:
        """A delivery of an origin of its own, unless one is named."""
        own = origin or f"o{next(iter(self.numbers))}"
        content = Content(words, buttons)
        return NewDelivery(DeliveryId(new_id()), own, ordinal, kind, address(room), content, edits)

    async def put(self, words: str = "hello", **more: Any) -> DeliveryId:
        """Enqueue what `new` makes."""
        new = self.new(words, **more)
        assert await self.store.outbox.enqueue(new)
        return new.id

    async def outbox(self, state: DeliveryState | None = None) -> list[DeliveryRow]:
        """Oldest first."""
        return (await self.store.operations.deliveries(state=state, limit=20_000))[::-1]

    async def state(self, delivery: DeliveryId) -> DeliveryState:
        return (await self.row(delivery)).state

    async def row(self, delivery: DeliveryId) -> DeliveryRow:
        row = await self.store.operations.delivery(delivery)
        assert row is not None
        return row

    async def audit(self, kind: str) -> list[tuple[str, str]]:
        """(subject, detail) of each fact of a kind."""
        return await self.rows("SELECT subject, detail FROM audit WHERE kind = :kind ORDER BY entry", kind=kind)

    async def rows(self, sql: str, **given: object) -> list[tuple[Any, ...]]:
        """What the database itself says."""

        def read() -> Op[list[tuple[Any, ...]]]:
            return (yield statement(sql), given)

        return await self.store.driver.read(read)

    # --------------------------------------------------------------------------------------------------- screen

    def seen(self, room: str | None = None) -> list[str]:
        """What people see, in the order shown."""
        return [post.body.text for post in self.channel.board.posts.values() if room in (None, post.room)]

    def fault(self, do: str, *, count: int = 1, seconds: float = 0, on: str = "send") -> None:
        """The next `count` requests meet this fault."""
        self.channel.faults.add({"do": do, "count": count, "seconds": seconds, "on": on})
