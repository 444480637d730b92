"""A house whose answers are seen growing: the runtime over a real store and a fake platform behind a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Final

from bot.testing.channel.adapter import FakeAdapter
from bot.testing.channel.server import Channel, ChannelKind
from bot.testing.scripted import USAGE
from bot.testing.serve import serving
from runtime.contract import Address, Call, ModelReply, ModelRequest, NodeId, OnText
from runtime.delivery.retry_policy import RetryPolicy
from runtime.delivery.streaming import shortened
from runtime.domain.deliveries import DeliveryState
from runtime.domain.ids import new_id
from runtime.store.protocol import DeliveryRow
from tests.contract.runtime.stage import LEASE, PATIENCE, FakeTool, Process, Setting, Stage

TELLING: Final = [ChannelKind.KEY, ChannelKind.LOOKUP, ChannelKind.PROBE]
MILLISECOND: Final = timedelta(milliseconds=1)
QUICK: Final = RetryPolicy(
    typing_after=5 * MILLISECOND,
    preview_after=5 * MILLISECOND,
    preview_every=8 * MILLISECOND,
    glance=300 * MILLISECOND,
)
ANSWER: Final = "The answer is forty-two."
HALF: Final = "The answer"
MORE: Final = "The answer is forty"


@dataclass
class House:
    """Processes on one store, one after another, and the one platform they all speak to."""

    stage: Stage
    channel: Channel
    url: str
    pace: RetryPolicy = QUICK
    lives: list[Process] = field(default_factory=list)

    def adapter(self) -> FakeAdapter:
        return FakeAdapter(
            base_url=self.url,
            kind=self.channel.kind,
            channel="page",
            account="main",
            identity="main",
            now=self.stage.clock,
            known_ids=self._known_ids,
        )

    async def process(self, model: Any, tools: Iterable[FakeTool] = (), *, alone: bool = True, **more: Any) -> Process:
        """A new life; every earlier one is dead from now on."""
        lease = await self.stage.store.cluster.join(NodeId(new_id()), "test", LEASE, alone=alone)
        given: dict[str, Any] = {"adapter": self.adapter(), "pace": self.pace, "previews": True} | more
        self.lives.append(Process(self.stage, model, tools, lease, Setting(**given)))
        return self.lives[-1]

    async def next_life(self, model: Any, tools: Iterable[FakeTool] = (), **more: Any) -> Process:
        self.stage.clock.advance(LEASE)
        return await self.process(model, tools, **more)

    async def _known_ids(self, room: Address) -> list[str]:
        rows = await self.stage.rows(
            "SELECT p.receipt FROM parts p JOIN deliveries d ON d.id = p.delivery_id "
            "WHERE d.address = :room AND p.receipt IS NOT NULL",
            room=str(room),
        )
        return [row[0] for row in rows]

    # --------------------------------------------------------------------------------------------------- the screen

    def seen(self, room: str = "r1") -> list[str]:
        return [post.body.text for post in self.channel.board.room(room)]

    def was_tried(self, bit: str) -> bool:
        """Whether something was sent by now, whatever became of it."""
        return self.channel.sends > 0

    def versions(self) -> list[int]:
        return [post.version for post in self.channel.board.posts.values()]

    def fault(self, do: str, *, count: int = 1, seconds: float = 0, on: str = "send") -> None:
        self.channel.faults.add({"do": do, "count": count, "seconds": seconds, "on": on})

    async def previews(self) -> list[DeliveryRow]:
        return [
            row for row in (await self.stage.store.operations.deliveries())[::-1] if row.origin.endswith(":preview")
        ]

    async def states(self) -> list[DeliveryState]:
        return [row.state for row in await self.previews()]

    # ----------------------------------------------------------------------------------------------------- the time

    async def settle(self, process: Process) -> None:
        """Let the process work, and time pass once its runs have ended, until nothing is left to do."""
        async with process.running():
            await self.rest()

    async def rest(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while not await self.stage.at_rest():
                counts = await self.stage.store.operations.counts()
                if not counts.get("runs.running") and not counts.get("signals.waiting"):
                    self.stage.clock.advance(timedelta(seconds=1))
                    self.lives[-1].courier.look_anew()  # it sleeps by the machine's clock
                await asyncio.sleep(0.004)


@asynccontextmanager
async def house(stage: Stage, kind: ChannelKind = ChannelKind.LOOKUP) -> AsyncIterator[House]:
    channel = Channel(kind=kind)
    async with serving(channel.app()) as at:
        yield House(stage, channel, at)


async def until(holds: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """Whether it comes to hold within so many seconds."""
    end = asyncio.get_running_loop().time() + seconds
    while not holds():
        if asyncio.get_running_loop().time() > end:
            return False
        await asyncio.sleep(0.002)
    return True


@dataclass
class Speaker:
    """A model that says its answer bit by bit, and waits for people to see each bit, or for what `goes_on` says of it; with
    `settled` until that is recorded too. Where nobody will see one, a test gives it little patience."""

    house: House
    bits: tuple[str, ...] = (HALF, MORE)
    answer: str = ANSWER
    calls: tuple[Call, ...] = ()
    patience: float = PATIENCE
    goes_on: Callable[[str], object] | None = None
    settled: bool = False
    requests: list[ModelRequest] = field(default_factory=list)
    said: int = 0
    name: str = "speaker"

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        self.requests.append(request)
        goes_on = self.goes_on or (lambda bit: shortened(bit) in self.house.seen())
        for bit in self.bits:
            on_text(bit)
            self.said += 1
            await until(partial(goes_on, bit), self.patience)
        while self.settled and any(state is not DeliveryState.SHOWN for state in await self.house.states()):  # noqa: ASYNC110 - rows set no event
            await asyncio.sleep(0.01)
        if self.settled:
            await self.house.lives[-1].courier.quiet()  # it looks whether more waits there
        calls, self.calls = self.calls, ()
        return ModelReply("" if calls else self.answer, calls, USAGE)
