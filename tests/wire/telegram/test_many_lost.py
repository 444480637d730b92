"""Dozens of messages are lost at once: all are on screen soon, and none of them twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.telegram.settling.known_ids import RUNS_OF_A_GROUP
from tests.fakes.jumping import JumpingLoop
from tests.wire.telegram.ocean import Lost, Ocean, play

BOUND: Final = 45.0  # seconds from the last cut until all are shown
MANY: Final = 50
SUPERGROUP: Final = -1_000_000_002_000
GROUP: Final = -501

Applied = Callable[[int, Random], float | None]
KINDS: Final[dict[str, Applied]] = {
    "none applied": lambda number, chance: None,
    "all applied": lambda number, chance: 0.0,
    "every second applied": lambda number, chance: None if number % 2 else 0.0,
    "half applied": lambda number, chance: 0.0 if chance.random() < 0.5 else None,
    "few applied": lambda number, chance: 0.0 if chance.random() < 0.1 else None,
    "most applied": lambda number, chance: 0.0 if chance.random() < 0.9 else None,
    "all applied half a second late": lambda number, chance: 0.5,
    "all applied five seconds late": lambda number, chance: 5.0,
}


@pytest.mark.parametrize(
    ("killed", "between"),
    [
        pytest.param(0.0, 0.0, id="alive-quiet", marks=pytest.mark.soak),
        pytest.param(0.0, 0.5, id="alive-people write"),
        pytest.param(4.0, 0.0, id="killed-quiet"),
        pytest.param(4.0, 0.5, id="killed-people write", marks=pytest.mark.soak),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_fifty_private_chats_are_settled_in_time(kind: str, killed: float, between: float) -> None:
    """With the waits of production, and none sent again that is there: the world fails on that."""

    async def scene(loop: JumpingLoop) -> None:
        chance = Random(7)
        lost = [Lost(1000 + n, sent=n * 0.05, applied=KINDS[kind](n, chance)) for n in range(MANY)]
        ocean = Ocean(loop, lost)
        ocean.hear(11)
        ocean.start()
        talk = asyncio.ensure_future(chatter(ocean, between, chance)) if between else None
        if killed:
            await asyncio.sleep(killed)
            await restart(ocean)
        seconds = await ocean.all_shown()
        if talk:
            talk.cancel()
        assert not any(one.unknown for one in lost)
        assert seconds <= BOUND

    play(scene)


@pytest.mark.parametrize("chat", [SUPERGROUP, GROUP], ids=["supergroup", "basic group"])
@pytest.mark.parametrize("applied", [None, 0.0, 5.0, 20.0], ids=["never", "at once", "late", "after the first look"])
def test_one_in_a_group_is_there_or_comes_again_within_thirty_five_seconds(applied: float | None, chat: int) -> None:
    """Few ids may be tried there in a time: where it is nowhere, the second look has tried all in time."""

    async def scene(loop: JumpingLoop) -> None:
        (one,) = lost = [Lost(chat, applied=applied)]
        ocean = Ocean(loop, lost)
        ocean.hear(chat)
        ocean.start()
        assert await ocean.all_shown() <= 35
        assert not one.unknown

    play(scene)


@pytest.mark.parametrize("applied", [None, 0.0, 5.0], ids=["never", "at once", "late"])
@pytest.mark.parametrize("patience", [1.0, 5.0, 30.0])
def test_a_process_that_is_told_nothing_itself_looks_all_the_same(patience: float, applied: float | None) -> None:
    """Another one listens for the account, and the courier here may have less patience than a look would like."""

    async def scene(loop: JumpingLoop) -> None:
        lost = [Lost(chat, applied=applied) for chat in (1005, -1002, -1006)]
        ocean = Ocean(loop, lost, heard_here=False, patience=patience)
        ocean.hear(11)
        ocean.start()
        assert await ocean.all_shown() <= BOUND
        assert not any(one.unknown for one in lost)

    play(scene)


def test_a_look_ends_where_more_is_known_of_a_supergroup_than_is_kept() -> None:
    """What a probe finds out is forgotten at once there: the look must not try the same id for ever."""

    async def scene(loop: JumpingLoop) -> None:
        (one,) = lost = [Lost(SUPERGROUP, applied=None)]
        ocean = Ocean(loop, lost)
        ocean.hear(SUPERGROUP)
        ocean.start()
        await asyncio.sleep(1)
        top = ocean.known.space(SUPERGROUP).top
        ocean.others = {top + 1}
        for number in range(2 * RUNS_OF_A_GROUP):
            ocean.known.note(SUPERGROUP, top + 3 + 2 * number)
        await asyncio.wait_for(ocean.all_shown(), 200)
        assert one.unknown

    play(scene)


async def chatter(ocean: Ocean, between: float, chance: Random) -> None:
    while True:
        await asyncio.sleep(between)
        ocean.hear(chance.choice(ocean.lost).chat)


async def restart(ocean: Ocean) -> None:
    ocean.kill()
    await asyncio.sleep(1)
    ocean.live()
    ocean.hear(11)
    ocean.start()


sends = st.tuples(
    st.sampled_from([1000, 1000, 1000, -1000, SUPERGROUP]),
    st.floats(0, 30),
    st.sampled_from([None, None, 0.0, 0.0, 0.5, 5.0, 20.0]),
)
"""The kind of chat, when its message is sent, and how long after that it is applied."""
events = st.tuples(
    st.floats(0, 60), st.sampled_from(["hear", "hear", "hear", "send", "kill", "skip"]), st.integers(0, 20)
)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(sends, min_size=1, max_size=24),
    st.lists(events, max_size=12),
    st.sampled_from([0, 0, 7, 13]),
    st.sampled_from([0.01, 0.3]),
)
def test_in_any_course_of_events_none_is_repeated_or_taken_for_another(
    told: list[tuple[int, float, float | None]], course: list[tuple[float, str, int]], refuse: int, slow: float
) -> None:
    """Messages of both kinds of counters, people who write, ids that nobody tells of, kills, probes refused and cut."""

    async def scene(loop: JumpingLoop) -> None:
        lost = [Lost(kind + (n if kind > 0 else -n), sent, applied) for n, (kind, sent, applied) in enumerate(told)]
        ocean = Ocean(loop, lost, slow=slow, refuse=refuse)
        for chat in {11, *(one.chat for one in lost if one.chat < -1_000_000_000_000)}:
            ocean.hear(chat)
        ocean.start()
        strangers = 0
        for at, deed, number in sorted(course):
            await asyncio.sleep(max(0.0, ocean.begin + at - loop.time()))
            chat = lost[number % len(lost)].chat
            if deed == "hear":
                ocean.hear(chat)
            elif deed == "send":
                ocean.show(11)
            elif deed == "kill":
                await restart(ocean)
            elif chat > -1_000_000_000_000 and strangers < 3:
                strangers += 1
                ocean.skip(chat)
        await ocean.all_shown()

    play(scene)
