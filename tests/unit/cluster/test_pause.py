"""Work that has no end is cut by a pause and goes on after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from runtime.cluster.pause import Pause


class Work:
    """Done again and again, as a courier or a listener does it."""

    def __init__(self, pause: Pause) -> None:
        self.pause = pause
        self.begun = 0
        self.at_work = False

    async def run(self) -> None:
        while True:
            await self.pause.over()
            await self.pause.interrupt(self._once)

    async def _once(self) -> None:
        self.begun, self.at_work = self.begun + 1, True
        try:
            await asyncio.Event().wait()
        finally:
            self.at_work = False

    async def until_at_work(self) -> None:
        async with asyncio.timeout(30):
            while not self.at_work:  # noqa: ASYNC110 - it rings no bell
                await asyncio.sleep(0)


@asynccontextmanager
async def running(work: Work) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(work.run())
        yield
        task.cancel()


async def test_in_a_pause_nothing_is_at_work_and_after_it_all_goes_on() -> None:
    work = Work(Pause())
    async with running(work):
        for times in (1, 2, 3):
            await work.until_at_work()
            assert work.begun == times
            async with work.pause.hold():
                assert not work.at_work
                await asyncio.sleep(0.01)
                assert not work.at_work


async def test_a_pause_of_what_is_not_at_work_begins_at_once() -> None:
    async with asyncio.timeout(30), Pause().hold():
        pass


async def test_a_pause_waits_no_longer_than_it_may_for_what_does_not_end() -> None:
    pause, may_end = Pause(), asyncio.Event()

    async def stubborn() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await may_end.wait()

    async with asyncio.TaskGroup() as group:
        group.create_task(pause.interrupt(stubborn))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        async with asyncio.timeout(30), pause.hold(within=timedelta(seconds=0.01)):
            may_end.set()


async def test_what_the_work_ends_with_comes_through() -> None:
    async def breaks() -> None:
        raise KeyError("a bug")

    with pytest.raises(ExceptionGroup) as told:
        await Pause().interrupt(breaks)
    assert told.group_contains(KeyError)


async def test_whoever_cancels_the_whole_cancels_the_work() -> None:
    work = Work(Pause())
    async with running(work):
        await work.until_at_work()
    assert not work.at_work
