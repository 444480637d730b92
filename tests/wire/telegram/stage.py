"""The adapter on a stage: a fake Telegram, and around the adapter the neighbours of the contract suite."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from adapters.telegram.adapter import TelegramAdapter
from runtime.contract import Address, Button, Content, Delivery, DeliveryId, FileRef, Kind, Part, Receipt, Signal
from runtime.domain.ids import new_id
from tests.contract.adapters.rigs.telegram import BOT, SHORT, TelegramRig
from tests.contract.adapters.stage import FakeSink, Stage, until
from tests.fakes.telegram import Telegram
from tests.fakes.telegram_driver import ADA, Driver
from tests.fakes.telegram_world import Raw

GROUP: Final = -501
SUPERGROUP: Final = -1_000_000_000_501
FORUM: Final = -1_000_000_000_502
OTHERS: Final = 12


def address(chat: int = ADA, topic: int = 0) -> Address:
    return Address("telegram", BOT, str(chat), str(topic) if topic else "")


@dataclass
class Bench:
    """A fake Telegram, its people (`driver`), and lives of one account there."""

    rig: TelegramRig
    fake: Telegram
    stage: Stage

    @property
    def driver(self) -> Driver:
        return self.rig.driver

    @property
    def sink(self) -> FakeSink:
        return self.stage.sink

    @asynccontextmanager
    async def life(
        self, *, connected: bool = True, waits: Raw | None = None, **changes: Any
    ) -> AsyncIterator[TelegramAdapter]:
        """The account at work. `waits` are seconds instead of those of the suite."""
        own = replace(SHORT, **{name: timedelta(seconds=seconds) for name, seconds in (waits or {}).items()})
        async with self.stage.life(connected=connected, waits=own, **changes) as adapter:
            assert isinstance(adapter, TelegramAdapter)
            yield adapter

    # ---------------------------------------------------------------------------------------------------- people

    async def hears(self, count: int = 1) -> list[Signal]:
        """The signals so far, once there are so many."""
        await until(lambda: len(self.sink.taken) >= count, f"{count} signals; there are {self.sink.taken}")
        return self.sink.taken

    async def signal_of(self, text: str, **more: Any) -> Signal:
        """What becomes of one message."""
        before = len(self.sink.taken)
        await self.driver.say(text, **more)
        return (await self.hears(before + 1))[before]

    async def hears_nothing_of(self, **asked: Any) -> None:
        """This makes no signal: what is said after it comes first."""
        before = len(self.sink.calls)
        await self.driver.inject(**asked)
        await self.driver.say("after it")
        await until(lambda: len(self.sink.calls) > before, "signal after it")
        assert [s.body for s in self.sink.calls[before:]] == [self.sink.taken[-1].body], "it made a signal"
        assert "after it" in str(self.sink.taken[-1].body)

    # --------------------------------------------------------------------------------------------------- showing

    def part(
        self, adapter: TelegramAdapter, text: str, *buttons: Button, at: Address | None = None, **more: Any
    ) -> Part:
        """The one part of a delivery."""
        [part] = self.parts(adapter, text, *buttons, at=at, **more)
        return part

    def parts(
        self,
        adapter: TelegramAdapter,
        text: str,
        *buttons: Button,
        at: Address | None = None,
        reply_to: str = "",
        files: tuple[FileRef, ...] = (),
        text_file: FileRef | None = None,
    ) -> list[Part]:
        content = Content(text, buttons, files, text_file)
        made = Delivery(DeliveryId(new_id()[-20:]), "run:1", 0, Kind.FINAL, at or address(), content, reply_to=reply_to)
        return self.stage.parts(adapter, made)

    async def show(self, adapter: TelegramAdapter, text: str, *buttons: Button, **more: Any) -> Receipt:
        return await self.stage.show(adapter, self.part(adapter, text, *buttons, **more))

    async def last(self, chat: int = ADA) -> Raw:
        """The newest message of ours in a chat."""
        return (await self.driver.shown(chat))[-1]


async def soon(holds: Callable[[], Awaitable[bool]], what: str) -> None:
    await until(holds, what)


async def a_while() -> None:
    """In which something would have happened that must not."""
    await asyncio.sleep(0.2)
