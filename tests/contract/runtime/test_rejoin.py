"""The whole process, as production builds it: declared dead by others, it joins again and goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from structlog.testing import capture_logs

from bot.server.app import App, build
from bot.settings.settings import load
from bot.testing.channel.adapter import FakeAdapter
from bot.testing.channel.driver import Driver
from bot.testing.channel.server import Channel, ChannelKind
from bot.testing.clocks import Clock
from bot.testing.scripted import Scripted, held
from bot.testing.serve import serving
from runtime.contract import Model


@asynccontextmanager
async def living(folder: Path, model: Model, clock: Clock) -> AsyncIterator[tuple[App, Driver]]:
    """A running process on a fake channel."""
    settings = load(
        None,
        {
            "data_dir": str(folder),
            "web.port": 0,
            "nodes.lease_seconds": 0.6,
            "access.default": "allow",
            "tools.shell.sandbox": "external",
        },
        environ={},
        folder=folder,
    )
    async with serving(Channel(kind=ChannelKind.KEY).app()) as url:
        app = await build(
            settings,
            adapters=lambda given: [
                FakeAdapter(base_url=url, kind=ChannelKind.KEY, pause=timedelta(seconds=0.01), now=clock)
            ],
            model=model,
            now=clock,
        )
        ready = asyncio.Event()
        async with asyncio.timeout(90), asyncio.TaskGroup() as group:
            running = group.create_task(app.run(lambda url: ready.set()))
            await ready.wait()
            yield app, Driver(url)
            running.cancel()


async def seen(driver: Driver, count: int) -> list[str]:
    while len(texts := (await driver.screen()).texts()) < count:  # noqa: ASYNC110 - the screen rings no bell
        await asyncio.sleep(0.02)
    return texts


async def declare_dead(app: App, clock: Clock) -> None:
    """What another node does when this one gave no sign for longer than its lease."""
    clock.ahead += timedelta(minutes=1)
    assert await app.store.cluster.reap() == 1


async def test_a_process_declared_dead_joins_again_and_answers(tmp_path: Path) -> None:
    """Design 3 and 10."""
    clock = Clock()
    with capture_logs() as logs:
        async with living(tmp_path, Scripted(["one", "two"]), clock) as (app, driver):
            await driver.say("first")
            await seen(driver, 1)
            await declare_dead(app, clock)
            await driver.say("second")
            assert await seen(driver, 2) == ["one", "two"]
    assert "joining again" in [entry["event"] for entry in logs]


async def test_a_run_cut_by_that_is_resumed_and_answered_once(tmp_path: Path) -> None:
    """Scenario 10."""
    clock, never = Clock(), held("too late")
    with capture_logs():
        async with living(tmp_path, Scripted([never, "answered"]), clock) as (app, driver):
            await driver.say("first")
            await never.begun.wait()
            await declare_dead(app, clock)
            assert await seen(driver, 1) == ["answered"]
