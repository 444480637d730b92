"""Wake-ups inside one process."""

from __future__ import annotations

import asyncio
import gc
import weakref

from runtime.cluster.notifier import LocalNotifier, SharedNotifier
from runtime.contract import Notifier


async def test_a_ring_wakes_who_listens_for_it() -> None:
    bell = LocalNotifier()
    ear = bell.listen("a", "b")
    bell.ring("b")
    assert await anext(ear) == "b"


async def test_a_ring_before_the_look_is_not_lost() -> None:
    bell = LocalNotifier()
    ear = bell.listen("a")
    bell.ring("a")
    assert await ear.within(0)


async def test_several_rings_between_two_looks_come_as_one_in_their_order() -> None:
    bell = LocalNotifier()
    ear = bell.listen("a", "b")
    for topic in ("b", "a", "b"):
        bell.ring(topic)
    assert [await anext(ear), await anext(ear)] == ["b", "a"]
    assert not await ear.within(0)


async def test_other_topics_wake_nobody() -> None:
    bell = LocalNotifier()
    ear = bell.listen("a")
    bell.ring("b")
    assert not await ear.within(0)


async def test_every_listener_hears_a_ring() -> None:
    bell = LocalNotifier()
    ears = [bell.listen("a") for _ in range(3)]
    bell.ring("a")
    assert [await anext(ear) for ear in ears] == ["a", "a", "a"]


async def test_a_ring_wakes_who_waits() -> None:
    bell = LocalNotifier()
    ear = bell.listen("a")
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        waiting = group.create_task(ear.within(5))
        await asyncio.sleep(0)
        bell.ring("a")
    assert waiting.result()


async def test_a_listener_nobody_holds_is_forgotten() -> None:
    bell = LocalNotifier()
    gone = weakref.ref(bell.listen("a"))
    gc.collect()
    bell.ring("a")
    assert gone() is None
    assert bell._ears == {}


async def test_a_wait_that_was_cut_loses_no_ring() -> None:
    bell = LocalNotifier()
    ear = bell.listen("a")
    assert not await ear.within(0.001)
    bell.ring("a")
    assert await ear.within(0)


def test_it_is_a_bell() -> None:
    bell: Notifier = LocalNotifier()  # the type checker knows
    bell.ring("a")


async def test_a_shared_bell_rings_here_and_tells_the_others() -> None:
    told: list[str] = []
    bell = SharedNotifier(told.append)
    ear = bell.listen("a", "b")
    bell.ring("a")
    assert (await anext(ear), told) == ("a", ["a"])


async def test_what_others_alone_are_told_is_not_heard_here() -> None:
    told: list[str] = []
    bell = SharedNotifier(told.append)
    ear = bell.listen("a")
    bell.tell("a")
    assert told == ["a"]
    assert not await ear.within(0)


async def test_a_ring_for_here_alone_is_told_to_nobody() -> None:
    told: list[str] = []
    bell = SharedNotifier(told.append)
    ear = bell.listen("a")
    bell.ring_here("a")
    assert await ear.within(0)
    assert told == []
