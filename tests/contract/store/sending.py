"""A delivery on its way, at each point of it, for tests of the outbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from runtime.contract import DeliveryId, Receipt, Wire
from runtime.domain.deliveries import PartState
from runtime.store.protocol import DeliveryRow, Duty, OpenPart
from tests.contract.store.stage import Stage

WIRES = [Wire("one", "plain one"), Wire("two", "plain two"), Wire("three")]
SLIP = Receipt("m1")
SOON = timedelta(seconds=10)


class Sending:
    """One delivery on its way, and the duty under which it goes."""

    def __init__(self, stage: Stage, duty: Duty, delivery: DeliveryId) -> None:
        self.stage = stage
        self.store = stage.store
        self.duty = duty
        self.id = delivery

    @property
    def later(self) -> datetime:
        return self.stage.clock() + SOON

    async def row(self) -> DeliveryRow:
        row = await self.store.operations.delivery(self.id)
        assert row is not None
        return row

    async def part(self, ordinal: int = 1) -> OpenPart:
        return (await self.row()).parts[ordinal - 1]

    async def states(self) -> list[PartState]:
        return [part.state for part in (await self.row()).parts]

    async def show(self, ordinal: int = 1) -> None:
        await self.store.outbox.mark(self.duty, self.id, ordinal)
        await self.store.outbox.checkpoint(self.duty, self.id, ordinal, Receipt(f"m{ordinal}"))

    async def give_up(self) -> None:
        await self.store.outbox.mark(self.duty, self.id, 1)
        await self.store.outbox.give_up(self.duty, self.id, 1, "channel closed")

    async def hold(self) -> None:
        await self.store.outbox.mark(self.duty, self.id, 1)
        await self.store.outbox.doubt(self.duty, self.id, 1, self.later, "cut")
        await self.store.outbox.hold(self.duty, self.id, 1, "nobody can tell")


async def queued(stage: Stage) -> Sending:
    return Sending(stage, await stage.duty(), await stage.enqueue())


async def rendered(stage: Stage, wires: Sequence[Wire] = WIRES) -> Sending:
    sending = await queued(stage)
    assert await stage.store.outbox.render(sending.duty, sending.id, wires, mark=False)
    return sending


async def marked(stage: Stage) -> Sending:
    sending = await rendered(stage)
    assert await stage.store.outbox.mark(sending.duty, sending.id, 1)
    return sending


async def unsettled(stage: Stage) -> Sending:
    sending = await marked(stage)
    assert await stage.store.outbox.doubt(sending.duty, sending.id, 1, sending.later, "cut")
    return sending


Act = Callable[[Sending, Duty], Awaitable[bool]]
ACTS: dict[str, Act] = {
    "adopt": lambda s, d: s.store.outbox.adopt(d, "web", "main", SOON),
    "render": lambda s, d: s.store.outbox.render(d, s.id, WIRES, mark=True),
    "render_shown": lambda s, d: s.store.outbox.render_shown(d, s.id, WIRES, [SLIP] * 3),
    "mark": lambda s, d: s.store.outbox.mark(d, s.id, 1),
    "checkpoint": lambda s, d: s.store.outbox.checkpoint(d, s.id, 1, SLIP),
    "retry": lambda s, d: s.store.outbox.retry(d, s.id, 1, s.later, "x"),
    "doubt": lambda s, d: s.store.outbox.doubt(d, s.id, 1, s.later, "x"),
    "look_again": lambda s, d: s.store.outbox.look_again(d, s.id, 1, s.later, counted=True),
    "absent": lambda s, d: s.store.outbox.absent(d, s.id, 1),
    "repeat": lambda s, d: s.store.outbox.repeat(d, s.id, 1),
    "hold": lambda s, d: s.store.outbox.hold(d, s.id, 1, "x"),
    "plain": lambda s, d: s.store.outbox.plain(d, s.id, 1),
    "give_up": lambda s, d: s.store.outbox.give_up(d, s.id, 1, "x"),
    "pause": lambda s, d: s.store.outbox.pause(d, "web", "main", "r1", s.later),
}
