"""The whole process while its clock is set an hour forward and back: nothing dies, nothing ends early, nothing stalls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.server.app import App, build
from bot.server.phases import duties
from bot.settings.settings import load
from bot.testing.channel.adapter import FakeAdapter
from bot.testing.channel.driver import Driver
from bot.testing.channel.faults import Do
from bot.testing.channel.server import Channel, ChannelKind
from bot.testing.clocks import Clock
from bot.testing.serve import serving
from runtime.agent.duties.expiry import Expiry
from runtime.domain.approvals import ApprovalState

HOUR = timedelta(hours=1)


@asynccontextmanager
async def living(folder: Path, clock: Clock, **settings: object) -> AsyncIterator[tuple[App, Driver]]:
    chosen = {
        "data_dir": str(folder),
        "web.port": 0,
        "nodes.lease_seconds": 0.6,
        "access.default": "allow",
        "outbox.backoff_first_seconds": 1,
        "tools.shell.sandbox": "external",
    } | {name.replace("__", "."): value for name, value in settings.items()}
    async with serving(Channel(kind=ChannelKind.KEY).app()) as url:
        adapter = FakeAdapter(base_url=url, kind=ChannelKind.KEY, pause=timedelta(seconds=0.01), now=clock)
        app = await build(load(None, chosen, environ={}, folder=folder), adapters=lambda given: [adapter], now=clock)
        ready = asyncio.Event()
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            running = group.create_task(app.run(lambda url: ready.set()))
            await ready.wait()
            yield app, Driver(url)
            running.cancel()


async def until(look: Callable[[], Awaitable[bool]], seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not await look():  # noqa: ASYNC110 - neither the screen nor the log rings a bell
            await asyncio.sleep(0.02)


async def answers(driver: Driver) -> str:
    return "\n".join((await driver.screen()).texts())


@pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["forward", "back"])
async def test_it_stays_the_same_node_and_answers(jump: timedelta, tmp_path: Path) -> None:
    clock = Clock()
    with capture_logs() as logs:
        async with living(tmp_path, clock) as (_, driver):
            await driver.say("the first")
            await until(lambda: holds(driver, "the first"))
            clock.ahead += jump
            await driver.say("the second")
            await until(lambda: holds(driver, "the second"))
            await until(lambda: told(logs, "the clock was set"))
    events = [entry["event"] for entry in logs]
    assert "joining again" not in events
    assert events.count("the clock was set") == 1


@pytest.mark.parametrize("jump", [20 * HOUR, -20 * HOUR], ids=["forward", "back"])
async def test_an_open_question_stays_open(jump: timedelta, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve hours were promised to whoever is asked."""
    monkeypatch.setattr(duties, "Expiry", partial(Expiry, every=timedelta(seconds=0.05)))
    clock = Clock()
    with capture_logs() as logs:
        async with living(tmp_path, clock) as (app, driver):
            await driver.say("write hello to a.txt")
            await until(lambda: asked(app))
            (before,) = await app.store.approvals.approvals(state=ApprovalState.PENDING)
            clock.ahead += jump
            await until(lambda: told(logs, "the clock was set"))
            await asyncio.sleep(0.25)  # some five looks for overdue questions
            (after,) = await app.store.approvals.approvals(state=ApprovalState.PENDING)
    assert abs(after.expires_at - before.expires_at - jump) < timedelta(seconds=1)


async def test_what_waits_for_its_next_try_does_not_wait_an_hour_more(tmp_path: Path) -> None:
    clock = Clock()
    with capture_logs() as logs:
        async with living(tmp_path, clock, outbox__backoff_first_seconds=3) as (_, driver):
            await driver.fault(Do.ERROR)
            await driver.say("hello")
            await until(lambda: told(logs, "not shown yet"))
            clock.ahead -= HOUR
            await until(lambda: holds(driver, "hello"))
            assert (await answers(driver)).count("hello") == 1


async def holds(driver: Driver, words: str) -> bool:
    return words in await answers(driver)


async def told(logs: Sequence[Mapping[str, object]], event: str) -> bool:
    return any(entry["event"] == event for entry in logs)


async def asked(app: App) -> bool:
    return bool(await app.store.approvals.approvals(state=ApprovalState.PENDING))
