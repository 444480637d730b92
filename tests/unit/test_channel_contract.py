"""The suite that others run over their channels: ours pass it, and an adapter that breaks a promise does not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from bot.testing.channel import contract
from bot.testing.channel.adapter import FakeAdapter
from bot.testing.channel.contract import ChannelContract, ChannelRig
from bot.testing.channel.driver import Driver
from bot.testing.channel.faults import Do
from bot.testing.channel.server import Channel, ChannelKind
from bot.testing.serve import serving
from runtime.contract import (
    AdapterContext,
    Attempt,
    ChannelAdapter,
    Delivery,
    Outcome,
    Part,
    Settled,
    SettleResult,
    Signal,
    SignalId,
    Sink,
    Verdict,
    Wire,
)
from runtime.errors import StoreError


class Hasty(FakeAdapter):
    """Takes what was not stored for taken in."""

    async def listen(self, sink: Sink) -> None:
        async def hasty(signal: Signal) -> Verdict:
            try:
                return await sink(signal)
            except StoreError:
                return Verdict(Outcome.ACCEPTED, SignalId("s"))

        await super().listen(hasty)


class Curt(FakeAdapter):
    """Shows how a long text begins."""

    def render(self, delivery: Delivery) -> list[Wire]:
        return super().render(delivery)[:1]


class Sure(FakeAdapter):
    """Takes whatever was cut for lost."""

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        return SettleResult.ABSENT


class Fickle(FakeAdapter):
    """Gives one message a key of its own each time."""

    async def listen(self, sink: Sink) -> None:
        keys = count()

        async def renamed(signal: Signal) -> Verdict:
            return await sink(replace(signal, dedupe_key=f"{signal.dedupe_key}-{next(keys)}"))

        await super().listen(renamed)


@dataclass(frozen=True, slots=True)
class FakeRig:
    """The fake channel as a rig."""

    driver: Driver
    kind: ChannelKind
    make: type[FakeAdapter] = FakeAdapter

    def adapter(self, given: AdapterContext) -> ChannelAdapter:
        return self.make(base_url=self.driver.url, kind=self.kind, pause=timedelta(seconds=0.01), now=given.now)

    async def say(self, text: str) -> None:
        await self.driver.say(text)

    async def again(self) -> None:
        await self.driver.say("hello", id="e1")

    async def shown(self) -> Sequence[str]:
        return (await self.driver.screen()).texts()

    async def cut(self) -> None:
        await self.driver.fault(Do.CUT_AFTER)


@asynccontextmanager
async def rig_of(kind: ChannelKind, make: type[FakeAdapter] = FakeAdapter) -> AsyncIterator[ChannelRig]:
    async with serving(Channel(kind=kind).app()) as url:
        yield FakeRig(Driver(url), kind, make)


class TestOfTheFakeChannel(ChannelContract):
    @asynccontextmanager
    async def rig(self, folder: Path) -> AsyncIterator[ChannelRig]:
        async with rig_of(ChannelKind.LOOKUP) as rig:
            yield rig


@pytest.mark.soak  # the same, but for how it settles
class TestOfTheFakeChannelWithKeys(ChannelContract):
    @asynccontextmanager
    async def rig(self, folder: Path) -> AsyncIterator[ChannelRig]:
        async with rig_of(ChannelKind.KEY) as rig:
            yield rig


BROKEN: Final = [
    (Hasty, "test_nothing_is_acknowledged_before_it_is_stored"),
    (Curt, "test_of_a_long_text_nothing_is_lost"),
    (Sure, "test_what_was_cut_after_it_was_shown_is_uncertain_and_found"),
    (Fickle, "test_what_comes_again_is_the_same_signal"),
]


@pytest.mark.parametrize(("make", "promise"), BROKEN, ids=[make.__name__ for make, _ in BROKEN])
async def test_a_broken_promise_is_found(
    make: type[FakeAdapter], promise: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(ChannelContract):
        @asynccontextmanager
        async def rig(self, folder: Path) -> AsyncIterator[ChannelRig]:
            async with rig_of(ChannelKind.LOOKUP, make) as rig:
                yield rig

    monkeypatch.setattr(contract, "CONTRACT_PATIENCE", timedelta(seconds=0.3))
    with pytest.raises(AssertionError):
        await getattr(Broken(), promise)(tmp_path)
