"""A process at rest: it asks one thing and nothing else, and still notices what nobody tells it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Executable

from runtime.cluster import poller
from runtime.cluster.topics import DUE
from runtime.contract import Busy, NodeId
from runtime.delivery import courier
from runtime.domain.ids import new_id
from runtime.errors import StoreError
from runtime.intake import dispatch
from runtime.schedules import firing
from runtime.store.protocol import Lane, Lease, Offer, Taken
from runtime.store.runs.store import RunStore
from runtime.store.sql.driver import Driver, MakeOp, T
from runtime.store.store import Store
from tests.contract.runtime.planning import HOUR, Desk
from tests.contract.runtime.stage import LEASE, PATIENCE, Process, Stage
from tests.contract.runtime.strict import Strict


@pytest.fixture(autouse=True)
def _poller(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is quick here. All others wait for ever: they are woken, or a test runs out of time."""
    monkeypatch.setattr(poller, "POLL_INTERVAL", poller.POLL_INTERVAL / 50)
    for module in (courier, dispatch, firing):
        monkeypatch.setattr(module, "REST", timedelta(hours=1))


@asynccontextmanager
async def at_rest(process: Process) -> AsyncIterator[None]:
    """With its timer; everybody has looked and waits."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(process.running())
        await stack.enter_async_context(process.beside(process.timer.run()))
        await asyncio.sleep(0.2)
        yield


async def screen(stage: Stage) -> list[str]:
    """What is shown once there is something, or after 30 seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(30):
            while not await stage.screen():  # noqa: ASYNC110 - no event tells
                await asyncio.sleep(0.005)
    return await stage.screen()


# ------------------------------------------------------------------------------------------------ what nobody tells


async def test_what_another_process_planned_fires(any_stage: Stage) -> None:
    """Such as a command on the store itself, which rings nowhere."""
    process = await any_stage.process(Strict(["news"]))
    elsewhere = Process(any_stage, Strict([]), [], Lease(NodeId(new_id()), 1))
    async with at_rest(process):
        await Desk(any_stage, elsewhere).plan("every hour")
        any_stage.clock.advance(HOUR)
        assert await screen(any_stage) == ["news"]


async def test_when_a_clock_was_set_forward_what_has_come_fires(any_stage: Stage) -> None:
    """Also when the machine slept: an instant is waited for, and not so and so many seconds."""
    process = await any_stage.process(Strict(["news"]))
    await Desk(any_stage, process).plan("every hour")
    async with at_rest(process):
        any_stage.clock.advance(HOUR)
        assert await screen(any_stage) == ["news"]


async def test_a_run_that_processes_died_under_is_taken_up(any_stage: Stage) -> None:
    process = await any_stage.process(Strict(["hello"]))
    async with at_rest(process):
        process.fresh = False
        await process.say("hi")
        for _ in range(2):
            doomed = await any_stage.store.cluster.join(NodeId(new_id()), "doomed", LEASE, alone=False)
            assert await any_stage.store.runs.claim(doomed, Busy.STEER)
            any_stage.clock.advance(LEASE)
            assert await any_stage.store.cluster.reap(but=process.lease.node) == 1
        assert (await any_stage.store.cluster.agenda(process.lease.node)).suspects
        process.fresh = True
        assert await screen(any_stage) == ["hello"]


async def test_whether_a_commit_without_an_answer_gave_us_a_lane_is_looked_up_at_once(stage: Stage) -> None:
    """Such a lane is ours, so the store sees nothing to do; that nobody works on it only we can know."""
    looked = asyncio.Event()

    class Asked(RunStore):
        async def lanes_of(self, lease: Lease) -> list[Lane]:
            looked.set()
            return await super().lanes_of(lease)

    async def lost(offer: Offer | None) -> Taken:
        raise StoreError("the connection broke off")

    process = await stage.process(Strict([]), store=replace(stage.store, runs=Asked(stage.store.driver, new_id)))
    async with at_rest(process):
        with pytest.raises(StoreError):
            await process.dispatch.take_in(lost)
        async with asyncio.timeout(30):
            await looked.wait()


# --------------------------------------------------------------------------------------------------- what it asks


@dataclass
class Noted:
    """A driver that notes the name of each operation."""

    driver: Driver
    asked: list[str] = field(default_factory=list)

    @property
    def trouble(self) -> StoreError | None:
        return self.driver.trouble

    def now(self) -> datetime:
        return self.driver.now()

    async def write(self, make: MakeOp[T], *, within: timedelta | None = None) -> T:
        self._note(make)
        return await self.driver.write(make, within=within)

    async def read(self, make: MakeOp[T], *, is_brief: bool = False) -> T:
        self._note(make)
        return await self.driver.read(make, is_brief=is_brief)

    async def until(self, holds: Callable[[Sequence[str]], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds(self.asked):  # noqa: ASYNC110 - a plain list reads better here
                await asyncio.sleep(0.005)

    def _note(self, make: MakeOp[T]) -> None:
        self.asked.append(make.__qualname__.removesuffix(".<locals>.<lambda>").rpartition(".")[2])

    async def save(self, folder: Path) -> Path | None:
        return await self.driver.save(folder)

    async def purge(self) -> None:
        await self.driver.purge()

    def clock_seen(self) -> float:
        return self.driver.clock_seen()

    def look_at_clock(self) -> None:
        self.driver.look_at_clock()

    def compile(self, statements: Iterable[Executable]) -> None:
        self.driver.compile(statements)

    async def close(self) -> None:
        await self.driver.close()


@pytest.mark.parametrize("schedules", [0, 20])
async def test_one_thing_is_asked_and_nothing_else_however_much_is_planned(stage: Stage, schedules: int) -> None:
    noted = Noted(stage.store.driver)
    process = await stage.process(Strict([]), store=Store.over(noted, new_id))
    for number in range(schedules):
        await Desk(stage, process).plan("every hour", name=f"n{number}")
    async with at_rest(process):
        await noted.until(
            lambda asked: asked[-3:] == ["agenda"] * 3
        )  # also on a busy machine everybody has looked by then
        noted.asked.clear()
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(0.2)
        took = asyncio.get_running_loop().time() - began
    assert set(noted.asked) == {"agenda"}
    assert len(noted.asked) <= took / poller.POLL_INTERVAL.total_seconds() + 1


async def test_a_timer_asks_when_the_next_instant_comes_and_again_only_when_it_is_told(stage: Stage) -> None:
    noted = Noted(stage.store.driver)
    process = await stage.process(Strict([]), store=Store.over(noted, new_id))
    await Desk(stage, process).plan("every hour")
    async with process.beside(process.timer.run()):
        noted.asked.clear()
        await noted.until(lambda asked: len(asked) == 1)
        await asyncio.sleep(0.1)
        assert noted.asked == ["next_due"]
        process.notifier.notify(DUE)
        await noted.until(lambda asked: len(asked) == 2)
        await asyncio.sleep(0.1)
    assert noted.asked == ["next_due"] * 2
