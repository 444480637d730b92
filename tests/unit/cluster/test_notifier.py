"""Wake-ups inside one process."""

from __future__ import annotations

import asyncio
import weakref
from contextlib import suppress

from runtime.cluster.notifier import SWEEP_LEAST, LocalNotifier, SharedNotifier
from runtime.contract import Notifier


async def test_a_ring_wakes_who_listens_for_it() -> None:
    notifier = LocalNotifier()
    listener = notifier.listen("a", "b")
    notifier.notify("b")
    assert await anext(listener) == "b"


async def test_a_ring_before_the_look_is_not_lost() -> None:
    notifier = LocalNotifier()
    listener = notifier.listen("a")
    notifier.notify("a")
    assert await listener.within(0)


async def test_several_rings_between_two_looks_come_as_one_in_their_order() -> None:
    notifier = LocalNotifier()
    listener = notifier.listen("a", "b")
    for topic in ("b", "a", "b"):
        notifier.notify(topic)
    assert [await anext(listener), await anext(listener)] == ["b", "a"]
    assert not await listener.within(0)


async def test_other_topics_wake_nobody() -> None:
    notifier = LocalNotifier()
    listener = notifier.listen("a")
    notifier.notify("b")
    assert not await listener.within(0)


async def test_every_listener_hears_a_ring() -> None:
    notifier = LocalNotifier()
    listeners = [notifier.listen("a") for _ in range(3)]
    notifier.notify("a")
    assert [await anext(listener) for listener in listeners] == ["a", "a", "a"]


async def test_a_ring_wakes_who_waits() -> None:
    notifier = LocalNotifier()
    listener = notifier.listen("a")
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        waiting = group.create_task(listener.within(5))
        await asyncio.sleep(0)
        notifier.notify("a")
    assert waiting.result()


async def test_a_listener_nobody_holds_is_forgotten() -> None:
    notifier = LocalNotifier()
    gone = weakref.ref(notifier.listen("a"))
    notifier.notify("a")
    assert gone() is None
    assert notifier._listeners == {}


def test_who_is_called_hears_each_topic_at_once_until_the_block_ends() -> None:
    notifier, heard = LocalNotifier(), list[str]()
    with suppress(ZeroDivisionError), notifier.calling(heard.append, "a", "b"):
        for topic in ("b", "c", "a", "a"):
            notifier.notify(topic)
        assert heard == ["b", "a", "a"]
        raise ZeroDivisionError
    notifier.notify("a")
    assert heard == ["b", "a", "a"]
    assert "a" not in notifier.topics()  # which is dropped when nobody hears it


async def test_a_wait_that_was_cut_loses_no_ring() -> None:
    notifier = LocalNotifier()
    listener = notifier.listen("a")
    assert not await listener.within(0.001)
    notifier.notify("a")
    assert await listener.within(0)


def test_it_is_a_bell() -> None:
    notifier: Notifier = LocalNotifier()  # the type checker knows
    notifier.notify("a")


async def test_a_shared_bell_rings_here_and_tells_the_others() -> None:
    told: list[str] = []
    notifier = SharedNotifier(told.append)
    listener = notifier.listen("a", "b")
    notifier.notify("a")
    assert (await anext(listener), told) == ("a", ["a"])


async def test_what_others_alone_are_told_is_not_heard_here() -> None:
    told: list[str] = []
    notifier = SharedNotifier(told.append)
    listener = notifier.listen("a")
    notifier.tell("a")
    assert told == ["a"]
    assert not await listener.within(0)


async def test_a_ring_for_here_alone_is_told_to_nobody() -> None:
    told: list[str] = []
    notifier = SharedNotifier(told.append)
    listener = notifier.listen("a")
    notifier.notify_here("a")
    assert await listener.within(0)
    assert told == []


async def test_topics_that_nobody_rings_again_do_not_pile_up() -> None:
    notifier = LocalNotifier()
    kept = notifier.listen("kept")
    for number in range(10 * SWEEP_LEAST):
        notifier.listen(f"a room that somebody looked into: {number}")
    assert len(notifier.topics()) < 2 * SWEEP_LEAST
    notifier.notify("kept")
    assert await anext(kept) == "kept"
