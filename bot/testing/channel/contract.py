"""Promises of every channel, as tests of one adapter: subclass `ChannelContract` and give it a rig."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Protocol

import pytest

from bot.server.instruments import instruments_of
from bot.server.phases.store import store_phase
from bot.settings.settings import load
from bot.testing.channel.listening import listening
from runtime.contract import (
    AdapterContext,
    Address,
    Attempt,
    ChannelAdapter,
    Content,
    Delivery,
    DeliveryId,
    Kind,
    Outcome,
    Part,
    Receipt,
    Said,
    Settled,
    SettleResult,
    Shown,
    Signal,
    SignalId,
    Verdict,
    no_probe,
)
from runtime.domain.ids import new_id
from runtime.errors import Retryable, StoreError, Uncertain
from runtime.store.store import open_store

CONTRACT_PATIENCE: Final = timedelta(seconds=20)
CONTRACT_LOOK: Final = timedelta(seconds=0.02)
SETTLE_LOOKS: Final = 40
WORDS_COUNT: Final = 3_000
LONG_TEXT: Final = " ".join(f"word{number}" for number in range(WORDS_COUNT))


class Lacks(Exception):
    """This platform cannot do that, for the reason that the skipped test shows."""


class ChannelRig(Protocol):
    """One account on a platform of the test, and a person there who is alone with the agent."""

    def adapter(self, given: AdapterContext) -> ChannelAdapter:
        """A new life of the account, as after a restart."""

    async def say(self, text: str) -> None:
        """The person writes."""

    async def again(self) -> None:
        """The platform delivers the last message once more. Errors: Lacks."""

    async def shown(self) -> Sequence[str]:
        """Texts of the agent's messages, oldest first, as the person reads them."""

    async def cut(self) -> None:
        """The connection is cut after the next message of the agent is shown. Errors: Lacks."""


class NotedSignals:
    """A sink that remembers. `away` counts the signals that it refuses first, as a store does that is away."""

    def __init__(self) -> None:
        self.calls: list[Signal] = []
        self.taken: list[Signal] = []
        self.away = 0

    async def __call__(self, signal: Signal) -> Verdict:
        self.calls.append(signal)
        if self.away:
            self.away -= 1
            raise StoreError("the database is away")
        if key_of(signal) in {key_of(one) for one in self.taken}:
            return Verdict(Outcome.DUPLICATE, SignalId("s"))
        self.taken.append(signal)
        return Verdict(Outcome.ACCEPTED, SignalId("s"))

    @property
    def texts(self) -> list[str]:
        return [signal.body.text for signal in self.taken if isinstance(signal.body, Said)]

    async def heard(self, text: str) -> Signal:
        """The signal with these words, once it is taken in. Errors: AssertionError."""
        await until(lambda: text in self.texts, f"{text!r} was not heard; heard were {self.texts}")
        return next(one for one in self.taken if isinstance(one.body, Said) and one.body.text == text)


@dataclass(frozen=True, slots=True)
class AtWork:
    """A rig whose adapter listens; `address` is where the person is."""

    rig: ChannelRig
    adapter: ChannelAdapter
    sink: NotedSignals
    address: Address

    def parts(self, text: str) -> list[Part]:
        delivery = Delivery(DeliveryId(new_id()[-20:]), "run:1", 0, Kind.FINAL, self.address, Content(text))
        return [
            Part(delivery.id, number, self.address, wire.body)
            for number, wire in enumerate(self.adapter.render(delivery), 1)
        ]

    def part(self, text: str) -> Part:
        parts = self.parts(text)
        must(len(parts) == 1, f"a short text takes {len(parts)} messages")
        return parts[0]

    async def settled(self, part: Part, attempt: Attempt) -> Settled:
        """Look for it as the courier does, again and again while the channel cannot look yet."""
        for _ in range(SETTLE_LOOKS):
            try:
                return await self.adapter.settle(part, attempt)
            except Retryable:
                await asyncio.sleep(CONTRACT_LOOK.total_seconds())
        raise AssertionError("settle never told")


class ChannelContract:
    """The promises. A subclass has `rig`; its name begins with `Test`, as pytest wants it.

    Each test has a platform of its own. Those of what a platform lacks are skipped, with its reason.
    """

    def rig(self, folder: Path) -> AbstractAsyncContextManager[ChannelRig]:
        """The platform inside the block, which may keep files in `folder`."""
        raise NotImplementedError

    @asynccontextmanager
    async def at_work(self, folder: Path) -> AsyncIterator[AtWork]:
        async with given_in(folder) as given, self.rig(folder) as rig:
            adapter, sink = rig.adapter(given), NotedSignals()
            async with listening(adapter, sink, again=True):
                await rig.say("hello")
                yield AtWork(rig, adapter, sink, (await sink.heard("hello")).address)

    async def test_what_a_person_says_is_a_signal(self, tmp_path: Path) -> None:
        async with self.at_work(tmp_path) as work:
            (signal,) = work.sink.taken
            must(signal.address.channel == work.adapter.channel, "its address names another channel")
            must(
                signal.actor.startswith(f"{work.adapter.channel}:"), f"the identity {signal.actor} isn't the channel's"
            )
            must(signal.received_at.tzinfo is not None, "its time has no zone")
            must(bool(work.adapter.identity), "the account doesn't know who it is")

    async def test_what_comes_again_is_the_same_signal(self, tmp_path: Path) -> None:
        async with self.at_work(tmp_path) as work:
            with lacking():
                await work.rig.again()
            await until(lambda: len(work.sink.calls) > 1, "it did not come again")
            must(len(work.sink.taken) == 1, "it came under another key")

    async def test_nothing_is_acknowledged_before_it_is_stored(self, tmp_path: Path) -> None:
        async with self.at_work(tmp_path) as work:
            work.sink.away = 2
            await work.rig.say("while the store is away")
            await work.sink.heard("while the store is away")

    async def test_another_life_hears_what_was_said_meanwhile_and_nothing_twice(self, tmp_path: Path) -> None:
        async with given_in(tmp_path) as given, self.rig(tmp_path) as rig:
            sink = NotedSignals()
            async with listening(rig.adapter(given), sink, again=True):
                await rig.say("before")
                await sink.heard("before")
            await rig.say("meanwhile")
            async with listening(rig.adapter(given), sink, again=True):
                await sink.heard("meanwhile")
            must(sink.texts == ["before", "meanwhile"], f"heard were {sink.texts}")

    async def test_an_answer_is_shown_once_and_is_not_heard_as_somebodys_words(self, tmp_path: Path) -> None:
        async with self.at_work(tmp_path) as work:
            receipt = await work.adapter.show(work.part("an answer"))
            must(bool(receipt.message_id), "its receipt names no message")
            must(list(await work.rig.shown()) == ["an answer"], f"shown is {await work.rig.shown()}")
            await work.rig.say("later")
            await work.sink.heard("later")
            must(work.sink.texts == ["hello", "later"], f"heard were {work.sink.texts}")

    async def test_of_a_long_text_nothing_is_lost(self, tmp_path: Path) -> None:
        async with self.at_work(tmp_path) as work:
            for part in work.parts(LONG_TEXT):
                await work.adapter.show(part)
            shown = [word for text in await work.rig.shown() for word in text.split()]
            must(shown == LONG_TEXT.split(), f"of {WORDS_COUNT} words {len(shown)} are shown, or in another order")

    async def test_what_is_on_screen_is_found_and_what_is_not_is_absent(self, tmp_path: Path) -> None:
        async with self.at_work(tmp_path) as work:
            if not work.adapter.features().settles:
                pytest.skip("it says that it cannot tell")
            part, missing = work.part("is it there?"), work.part("it is not")
            attempt = attempt_of(work.adapter, part)
            receipt = await work.adapter.show(part)
            found = await work.settled(part, attempt)
            must(found == Shown(receipt), f"settle says {found}, and show said {receipt}")
            found = await work.settled(missing, attempt_of(work.adapter, missing))
            # Where sending again with its key is the way to look, it is there now: once, which is as good.
            count = list(await work.rig.shown()).count("it is not")
            must(
                count == (0 if found is SettleResult.ABSENT else 1),
                f"settle says {found}, and it is shown {count} times",
            )

    async def test_what_was_cut_after_it_was_shown_is_uncertain_and_found(self, tmp_path: Path) -> None:
        async with self.at_work(tmp_path) as work:
            with lacking():
                await work.rig.cut()
            part = work.part("cut off")
            attempt = attempt_of(work.adapter, part)
            with pytest.raises(Uncertain):
                await work.adapter.show(part)
            found = await work.settled(part, attempt) if work.adapter.features().settles else SettleResult.UNKNOWN
            must(found is not SettleResult.ABSENT, "it is shown, and settle says that it is absent")
            must(list(await work.rig.shown()).count("cut off") == 1, f"shown is {await work.rig.shown()}")

    async def test_a_shown_message_is_changed_in_its_place(self, tmp_path: Path) -> None:
        async with self.at_work(tmp_path) as work:
            if not work.adapter.features().edits:
                pytest.skip("its messages cannot be changed")
            receipt: Receipt = await work.adapter.show(work.part("first words"))
            await work.adapter.edit(receipt, work.part("other words"))
            must(list(await work.rig.shown()) == ["other words"], f"shown is {await work.rig.shown()}")

    async def test_nothing_of_it_goes_on_once_it_is_cancelled(self, tmp_path: Path) -> None:
        async with given_in(tmp_path) as given, self.rig(tmp_path) as rig:
            before, sink = asyncio.all_tasks(), NotedSignals()
            async with listening(rig.adapter(given), sink, again=True):
                await rig.say("hello")
                await sink.heard("hello")
            await until(lambda: not any(map(is_ours, asyncio.all_tasks() - before)), "tasks of it go on")


@asynccontextmanager
async def given_in(folder: Path) -> AsyncIterator[AdapterContext]:
    """Parts that the program gives an adapter, over a database in `folder`."""
    settings = load(None, {"data_dir": str(folder / "var")}, environ={}, folder=folder, demand=())
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    store = await open_store(settings.database_url)
    try:
        yield store_phase(settings, store, instruments_of(settings), probe=no_probe, new_id=new_id).context()
    finally:
        await store.close()


@contextmanager
def lacking() -> Iterator[None]:
    """Skip the test where the platform lacks what is asked of it inside the block."""
    try:
        yield
    except Lacks as error:
        pytest.skip(str(error))


def attempt_of(adapter: ChannelAdapter, part: Part) -> Attempt:
    """The marker of a first attempt, as it is made before the send."""
    floor, now = adapter.features().floor, datetime.now(UTC)
    return Attempt(1, now, floor(part.address) if floor else "", now)


def is_ours(task: asyncio.Task[object]) -> bool:
    """True for a task of the adapter: a server of the test may still hold requests that nobody waits for."""
    return not task.done() and not getattr(task.get_coro(), "__qualname__", "").startswith("RequestHandler.")


def key_of(signal: Signal) -> tuple[str, str]:
    return signal.platform, signal.dedupe_key


def must(holds: object, words: str) -> None:
    """Errors: AssertionError."""
    if not holds:
        raise AssertionError(words)


async def until(holds: Callable[[], bool], words: str) -> None:
    """Wait until it holds. Errors: AssertionError."""
    end = asyncio.get_running_loop().time() + CONTRACT_PATIENCE.total_seconds()
    while not holds():
        must(asyncio.get_running_loop().time() < end, words)
        await asyncio.sleep(CONTRACT_LOOK.total_seconds())
