"""When people see the agent at work: after a second, renewed before it lapses, with words, and only if nobody minds."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from runtime.contract import (
    Address,
    Advancing,
    Bucket,
    Features,
    NodeId,
    Progress,
    RunId,
    SessionKey,
    Speaking,
    Thinking,
    Turn,
    Working,
)
from runtime.delivery.rates import Rates
from runtime.delivery.retry_policy import RetryPolicy
from runtime.delivery.streaming import shortened
from runtime.delivery.typing import LINGERS, TYPING_MAX_RUNS, Life, Typing
from runtime.errors import Retryable, Uncertain
from runtime.store.protocol import Claim, Lane
from tests.fakes.jumping import JumpingLoop

ROOM = Address("fake", "main", "r1")
MS = timedelta(milliseconds=1)
QUICK = RetryPolicy(typing_after=10 * MS, preview_after=20 * MS, preview_every=20 * MS, glance=30 * MS)
SHORT, LONG = 25 * MS, 2 * LINGERS
BEGUN = Working("shell", "{}")


@pytest.fixture
def _asyncio_loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Where pytest-asyncio has the loop of a test from: all of this waits by its clock, which is never late here."""
    return JumpingLoop


def claim(run: str = "run") -> Claim:
    lane = Lane(SessionKey("s"), NodeId("n"), 1)
    return Claim(lane, "main", RunId(run), ROOM, None, resumed=False, iterations=0, next_step=1, stop=False)


@dataclass
class Channel:
    """Notes what it is asked to show; `trouble` is what comes of it, `slow` how long it takes."""

    typing_lasts: timedelta = SHORT
    has_drafts: bool = True
    trouble: Exception | None = None
    slow: float = 0
    typed: list[str] = field(default_factory=list)
    drafted: list[str] = field(default_factory=list)
    at_once: int = 0

    async def typing(self, address: Address, status: str) -> None:
        self.typed.append(status)
        await self._end()

    def drafts(self, address: Address) -> bool:
        return self.has_drafts

    async def draft(self, address: Address, text: str) -> None:
        self.drafted.append(text)
        await self._end()

    async def _end(self) -> None:
        await asyncio.sleep(self.slow)
        if self.trouble:
            raise self.trouble


@dataclass
class Watching:
    """A liveness whose tasks run in a group of the test."""

    channel: Channel
    group: asyncio.TaskGroup
    rates: Rates = field(default_factory=Rates)
    said: list[str] = field(default_factory=list)
    heeded: list[Retryable] = field(default_factory=list)
    serves: bool = True
    tasks: int = 0

    def __post_init__(self) -> None:
        self.liveness = Typing(
            features=Features(types=self.channel, drafts=self.channel),
            rates=self.rates,
            pace=QUICK,
            may=lambda: self.serves,
            spawn=self._spawn,
            heed=self._heed,
            say=self._say,
        )

    def _spawn(self, work: object) -> None:
        self.tasks += 1
        self.group.create_task(work)  # type: ignore[arg-type]  # a coroutine

    async def _heed(self, address: Address, error: Retryable) -> None:
        self.heeded.append(error)

    async def _say(self, claim: Claim, text: str) -> bool:
        self.said.append(text)
        return True

    async def hear(self, *events: Progress, wait: float = 0) -> None:
        for event in events:
            self.liveness.note(claim(), event)
        await asyncio.sleep(wait)


@asynccontextmanager
async def watching(channel: Channel, **more: object) -> AsyncIterator[Watching]:
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        seen = Watching(channel, group, **more)  # type: ignore[arg-type]  # as given
        try:
            yield seen
        finally:
            seen.liveness.stop()


async def test_a_quick_answer_shows_nothing_and_begins_no_task() -> None:
    async with watching(channel := Channel()) as seen:
        await seen.hear(Thinking(), Speaking("an answer"))
        seen.liveness.hush(RunId("run"))
        await asyncio.sleep(0.05)
        assert (channel.typed, channel.drafted, seen.tasks) == ([], [], 0)


class Turns(Sequence[Turn]):
    """A conversation that can be watched: of a tuple nobody is told that it is gone."""

    def __len__(self) -> int:
        return 0

    def __getitem__(self, number: Any) -> Any:
        raise IndexError(number)


async def test_of_an_answer_that_is_given_nobody_holds_the_conversation() -> None:
    """A timer held it until the time for a sign had come: at 100 answers a second, 70 conversations."""
    async with watching(Channel()) as seen:
        turns = Turns()
        seen.liveness.note(replace(claim(), turns=turns), Thinking())  # type: ignore[arg-type]  # no tuple
        held = weakref.ref(turns)
        del turns
        assert held() is not None
        seen.liveness.hush(RunId("run"))
        assert held() is None


async def test_typing_is_shown_after_a_while_and_renewed_before_it_lapses() -> None:
    async with watching(channel := Channel()) as seen:
        await seen.hear(Thinking(), wait=0.005)
        assert channel.typed == []
        await asyncio.sleep(0.15)
        assert len(channel.typed) >= 3
        assert set(channel.typed) == {"thinking"}


async def test_a_status_that_stays_says_what_is_going_on_and_is_taken_away() -> None:
    async with watching(channel := Channel(typing_lasts=LONG)) as seen:
        for event in (Thinking(), BEGUN, Working("shell", "{}", ended=True)):
            await seen.hear(event, wait=0.06)
    assert channel.typed == ["thinking", "running `shell`", "thinking", ""]


async def test_one_that_lapses_is_not_taken_away() -> None:
    async with watching(channel := Channel()) as seen:
        await seen.hear(Thinking(), wait=0.03)
    assert "" not in channel.typed


async def test_a_text_grows_in_drafts_where_there_are_some() -> None:
    async with watching(channel := Channel()) as seen:
        for text in ("a", "ab", "abc"):
            await seen.hear(Speaking(text), wait=0.07)
        assert channel.drafted == [shortened(text) for text in ("a", "ab", "abc")]
        assert seen.said == []


async def test_and_in_a_message_where_there_are_none() -> None:
    async with watching(Channel(has_drafts=False)) as seen:
        for text in ("a", "ab"):
            await seen.hear(Speaking(text), wait=0.07)
        assert seen.said == ["a", "ab"]


async def test_texts_that_come_fast_are_shown_now_and_then() -> None:
    async with watching(channel := Channel()) as seen:
        began = asyncio.get_running_loop().time()
        for length in range(60):
            await seen.hear(Speaking("x" * length), wait=0.002)
        took = timedelta(seconds=asyncio.get_running_loop().time() - began)
        assert 2 <= len(channel.drafted) <= took / QUICK.preview_every + 1


async def test_nothing_comes_behind_the_last_word() -> None:
    async with watching(channel := Channel()) as seen:
        await seen.hear(Thinking(), Speaking("a"), wait=0.05)
        seen.liveness.hush(RunId("run"))
        await asyncio.sleep(0)
        before = (list(channel.typed), list(channel.drafted))
        await asyncio.sleep(0.06)
        assert (channel.typed, channel.drafted) == before


@pytest.mark.parametrize("trouble", [Uncertain("cut"), KeyError("a bug"), Retryable("busy")])
async def test_trouble_with_it_reaches_nobody(trouble: Exception) -> None:
    async with watching(channel := Channel(trouble=trouble)) as seen:
        await seen.hear(Thinking(), wait=0.1)
        assert len(channel.typed) >= 2
        assert all(error is trouble for error in seen.heeded)
        assert bool(seen.heeded) is isinstance(trouble, Retryable)


async def test_a_call_that_hangs_is_given_up() -> None:
    async with watching(channel := Channel(slow=5)) as seen:
        await seen.hear(Thinking(), wait=0.15)
        assert len(channel.typed) >= 2


async def test_what_nobody_can_spare_is_not_sent() -> None:
    def buckets(address: Address) -> Sequence[Bucket]:
        return [Bucket("r", 2, timedelta(hours=1))]

    at = [timedelta()]
    rates = Rates(buckets, lambda: at[0])
    at[0] = timedelta(days=1)
    async with watching(channel := Channel(), rates=rates) as seen:
        await seen.hear(Thinking(), Speaking("a"), wait=0.15)
        assert (len(channel.typed), channel.drafted) == (1, [])


async def test_an_account_that_comes_to_be_served_here_is_shown_from_then_on() -> None:
    """As after a start: a run goes on before its courier has the duty."""
    async with watching(channel := Channel(), serves=False) as seen:
        await seen.hear(Thinking(), wait=0.05)
        assert (channel.typed, seen.tasks) == ([], 0)
        seen.serves = True
        await asyncio.sleep(0.05)
        assert channel.typed


async def test_a_channel_that_offers_nothing_costs_nothing() -> None:
    liveness = Typing(
        features=Features(),
        rates=Rates(),
        pace=QUICK,
        may=lambda: True,
        spawn=lambda work: None,
        heed=lambda address, error: asyncio.sleep(0),
        say=None,
    )
    liveness.note(claim(), Thinking())
    assert liveness._lives == {}


async def test_only_so_many_are_shown_at_a_time() -> None:
    async with watching(Channel()) as seen:
        for number in range(2 * TYPING_MAX_RUNS):
            seen.liveness.note(claim(f"{number}"), Thinking())
        await asyncio.sleep(0.05)
        assert seen.tasks == TYPING_MAX_RUNS


# ------------------------------------------------------------------------------------------------------ what is due


def life(*events: Progress) -> Life:
    made = Life(claim())
    for at, event in enumerate(events):
        made.hear(event, float(at))
    return made


def test_the_status_is_the_tool_that_began_last() -> None:
    other = Working("look", "{}")
    assert life(Thinking()).status == "thinking"
    assert life(BEGUN, other).status == "running `look`"
    assert life(BEGUN, other, Working("look", "{}", ended=True)).status == "running `shell`"
    assert life(Working("shell", "{}", ended=True)).status == "thinking"


def test_the_status_has_the_words_of_a_tool_at_work_as_its_own_until_something_else_happens() -> None:
    says = Advancing("shell", "{}", "3 of 10: uploading")
    assert life(BEGUN, says).status == "running `shell`, which says: “3 of 10: uploading”"
    assert life(BEGUN, says, Working("shell", "{}", ended=True)).status == "thinking"
    assert life(BEGUN, says, Working("look", "{}")).status == "running `look`"


def test_a_new_model_call_begins_its_text_anew() -> None:
    spoken = life(Speaking("a"), Speaking("ab"), Thinking(), Speaking("c"))
    assert (spoken.text, spoken.speaking_since) == ("c", 3.0)


def test_a_text_that_grows_needs_no_typing_beside_it() -> None:
    """Where that lapses by itself, and until the agent does something else."""
    spoken = life(Thinking(), Speaking("a"))
    spoken.typed, spoken.said = (0.0, "thinking"), (1.0, "a")
    assert not spoken.typing_is_due(99.0, SHORT, RetryPolicy())
    assert spoken.typing_is_due(99.0, LONG, RetryPolicy())
    spoken.hear(BEGUN, 2.0)
    assert spoken.typing_is_due(99.0, SHORT, RetryPolicy())


def test_it_must_have_spoken_for_two_seconds() -> None:
    spoken = life(Thinking(), Speaking("a"))
    assert not spoken.saying_is_due(2.9, RetryPolicy())
    assert spoken.saying_is_due(3.0, RetryPolicy())


def test_then_every_two_seconds_if_there_is_more() -> None:
    spoken = life(Speaking("a"))
    spoken.said = 10.0, "a"
    assert not spoken.saying_is_due(99.0, RetryPolicy())
    spoken.hear(Speaking("ab"), 11.0)
    assert not spoken.saying_is_due(11.9, RetryPolicy())
    assert spoken.saying_is_due(12.0, RetryPolicy())


async def test_what_will_take_long_is_seen_at_once_and_by_one_task() -> None:
    async with watching(channel := Channel(typing_lasts=LONG)) as seen:
        seen.liveness._pace = replace(QUICK, typing_after=timedelta(milliseconds=40))
        await seen.hear(Thinking(), Thinking(long=True), Thinking(long=True), wait=0.01)
        assert channel.typed == ["thinking"]
        await asyncio.sleep(0.08)
        assert seen.tasks == 1


async def test_a_long_wait_is_told_once_for_nothing_unless_the_platform_said_to_wait() -> None:
    loop = asyncio.get_running_loop()
    rates = Rates(lambda address: [Bucket("r", 2, timedelta(hours=1))], lambda: timedelta(seconds=loop.time()))
    rates.shut(ROOM.room, timedelta(milliseconds=80))
    async with watching(channel := Channel(), rates=rates) as seen:
        await seen.hear(Thinking(long=True), wait=0.04)
        assert channel.typed == []
        await asyncio.sleep(0.2)
        assert channel.typed == ["thinking"]
