"""Lost messages by the dozen in a world of values: the real looks, on a clock that runs as fast as it can.

The world gives ids as Telegram does, applies what was cut at once, late or never, and plays the courier. Whoever is sent
again although it is there, or taken for another, breaks a promise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from adapters.telegram.rooms import Rooms, message_name
from adapters.telegram.settings import Waits
from adapters.telegram.settling import pacer, search, send_queue, settle, stored_ids
from adapters.telegram.settling.known_ids import KnownIds, space_of
from adapters.telegram.settling.send_queue import SendQueues
from adapters.telegram.settling.settle import Found, Settling
from adapters.telegram.settling.stored_ids import StoredIds
from runtime.contract import Address, Attempt, DeliveryId, Part, Seen, SettleResult, Shown
from runtime.errors import Retryable, Uncertain
from tests.fakes.jumping import JumpingLoop as Loop

NOON: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)
FIRST, SECOND = 10.0, 25.0  # seconds from the marker to the first and the second look
WIDTH: Final = 32  # rooms that the courier serves at once
TOKEN: Final = 0.05  # seconds between two of its calls
MODULES: Final = (send_queue, stored_ids, pacer, search, settle)


def play(scene: Callable[[Loop], Awaitable[None]]) -> None:
    """Run `scene` in a loop whose time is the time of the modules."""
    loop = Loop()
    with pytest.MonkeyPatch.context() as patch:
        for module in MODULES:
            patch.setattr(module, "monotonic", loop.time)
        try:
            loop.run_until_complete(asyncio.wait_for(scene(loop), 600))
        finally:
            loop.close()


@dataclass
class Lost:
    """A message whose send is cut `sent` seconds after the begin, and applied `applied` later; None for never."""

    chat: int
    sent: float = 0.0
    applied: float | None = 0.0
    marked: float = 0.0
    floor: str = ""
    looks: int = 0
    due: float = 0.0
    number: int = 0  # the id it got by the send that was cut
    shown_at: float = 0.0
    unknown: bool = False
    again: int = 0

    @property
    def address(self) -> Address:
        return Address("telegram", "7000", str(self.chat))

    @property
    def part(self) -> Part:
        return Part(DeliveryId(f"d{self.chat}"), 1, self.address, "{}")

    @property
    def is_done(self) -> bool:
        return bool(self.shown_at) or self.unknown


@dataclass
class Ocean:
    """`slow`: seconds that a probe takes; every `refuse`-th probe is answered 429; `others` are ids of somebody's messages.

    `heard_here`: the process that looks is told what people write, else another one. `patience`: seconds that the courier
    gives a look.
    """

    loop: Loop
    lost: Sequence[Lost]
    slow: float = 0.02
    refuse: int = 0
    heard_here: bool = True
    patience: float = 30.0
    others: set[int] = field(default_factory=set)
    counters: dict[str, int] = field(default_factory=dict)
    ours: dict[tuple[int, int], str] = field(default_factory=dict)
    seen_at: list[Seen] = field(default_factory=list)
    probes: int = 0
    token: float = 0.0
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.begin = self.loop.time()
        self.live()

    # ------------------------------------------------------------------------------------------------------- lives

    def live(self) -> None:
        """A process begins."""
        born = self.now()
        self.known, self.rooms = KnownIds(), Rooms()
        self.lines = SendQueues(born=int(born.timestamp() * 1_000_000))
        self.memory = StoredIds(
            channel="telegram",
            identity="7000",
            places=self,
            known=self.known,
            rooms=self.rooms,
            born=born,
            idle=self._idle,
            heard_here=lambda: self.heard_here,
        )
        self.settling = Settling(
            probe=self.probe, known=self.known, lines=self.lines, memory=self.memory, waits=Waits(), now=self.now
        )
        self.width = asyncio.Semaphore(WIDTH)

    def kill(self) -> None:
        for task in self.tasks:
            task.cancel()
        self.tasks.clear()

    async def _idle(self) -> None:
        """What is told here is taken in at once; who isn't told anything waits in vain."""
        if not self.heard_here:
            await asyncio.Event().wait()

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.loop.time())

    # --------------------------------------------------------------------------------------------------- the platform

    def give(self, chat: int) -> int:
        space = space_of(chat)
        self.counters[space] = self.counters.get(space, 100) + 1
        return self.counters[space]

    def skip(self, chat: int) -> None:
        """An id goes to something that nobody tells us of."""
        self.give(chat)

    def hear(self, chat: int) -> None:
        """Somebody writes, and we are told."""
        number = self.give(chat)
        self.known.note(chat, number, dated=self.now())
        self.seen_at.append(Seen(Address("telegram", "7000", str(chat)), message_name(chat, number), self.now()))

    def show(self, chat: int) -> None:
        """A message of ours that is not lost."""
        begun = self.now()
        self.known.note(chat, self.give(chat), begun=begun)

    def apply(self, one: Lost) -> None:
        one.number = self.give(one.chat)
        self.ours[one.chat, one.number] = one.part.id

    async def probe(self, part: Part, chat: int, number: int) -> Found:
        self.probes += 1
        count = self.probes
        await asyncio.sleep(self.slow / 2)
        if self.refuse and count % self.refuse == 0:
            raise Retryable("wait", retry_after=timedelta(seconds=2))
        if self.refuse and count % self.refuse == 1:
            raise Uncertain("cut")
        found = Found.OURS if (chat, number) in self.ours else Found.OTHERS if number in self.others else Found.NOTHING
        await asyncio.sleep(self.slow / 2)
        return found

    # ------------------------------------------------------------------------------------------------------ the store

    async def seen(self, channel: str, account: str, since: datetime) -> list[Seen]:
        return list({seen.address: seen for seen in self.seen_at}.values())

    async def last_heard(self, channel: str, account: str) -> datetime | None:
        return None

    async def moved(self, channel: str, account: str) -> dict[str, str]:
        return {}

    async def receipts(self, address: Address, since: datetime) -> list[str]:
        chat = int(address.room)
        return [message_name(chat, one.number) for one in self.lost if one.chat == chat and one.shown_at]

    async def unsettled(self, channel: str, account: str) -> list[Address]:
        return [one.address for one in self.lost if one.due and not one.is_done]

    # ---------------------------------------------------------------------------------------------------- the courier

    async def send(self, one: Lost) -> None:
        await asyncio.sleep(max(0.0, self.begin + one.sent - self.loop.time()))
        top = self.known.space(one.chat).top
        one.floor, one.marked = str(self.lines.stand(one.chat, one.address, top)), self.loop.time()
        one.due = one.marked + FIRST
        async with self.lines.turn(one.chat, one.address, one.part.id):
            if one.applied == 0.0:
                self.apply(one)
            elif one.applied:
                self.loop.call_later(one.applied, self.apply, one)

    async def serve(self, one: Lost) -> None:
        """Send it unless it was, and look for it until it is shown."""
        if not one.due:
            await self.send(one)
        while not one.is_done:
            await asyncio.sleep(max(0.0, one.due - self.loop.time()))
            async with self.width:
                await self._take()
                await self._look(one)

    async def _take(self) -> None:
        self.token = max(self.token + TOKEN, self.loop.time())
        await asyncio.sleep(self.token - self.loop.time())

    async def _look(self, one: Lost) -> None:
        marked = NOON + timedelta(seconds=one.marked)
        attempt = Attempt(1, marked, one.floor, marked, one.looks)
        try:
            async with asyncio.timeout(self.patience):
                found = await self.settling.settle(one.part, attempt)
        except (Retryable, TimeoutError) as error:
            wait = error.retry_after if isinstance(error, Retryable) else None
            one.due = self.loop.time() + (wait or timedelta(seconds=5)).total_seconds()
            return
        match found:
            case Shown(receipt):
                assert receipt.message_id == message_name(one.chat, one.number), "taken for another"
                one.shown_at = self.loop.time()
            case SettleResult.UNKNOWN:
                one.unknown = True
            case SettleResult.ABSENT:
                one.looks += 1
                one.due = max(one.marked + SECOND, self.loop.time() + FIRST)
                if one.looks >= 2:
                    await self._again(one)

    async def _again(self, one: Lost) -> None:
        assert one.number == 0, f"{one} is there and is sent again"
        await self._take()
        begun = self.now()
        async with self.lines.turn(one.chat, one.address, one.part.id):
            await asyncio.sleep(self.slow)
            self.apply(one)
            self.known.note(one.chat, one.number, begun=begun)
            self.lines.surely(one.chat, one.part.id)
        one.shown_at, one.again = self.loop.time(), one.again + 1

    def start(self) -> None:
        self.tasks = [asyncio.ensure_future(self.serve(one)) for one in self.lost if not one.is_done]

    async def all_shown(self) -> float:
        """Seconds from the last cut until all are shown."""
        await asyncio.gather(*self.tasks)
        return max(one.shown_at for one in self.lost) - max(one.marked for one in self.lost)
