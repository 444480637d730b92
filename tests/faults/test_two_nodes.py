"""Two processes on one PostgreSQL: what happens at one is seen at once on a page that is open at the other."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from bench.page import Chat, page
from tests.e2e.visitor import Visitor, visiting
from tests.fakes.postgres import Postgres
from tests.faults.app import TOKEN
from tests.faults.program import Program

pytestmark = pytest.mark.timeout(120)  # seconds; a test takes about three where nothing else runs

SOON: Final = 8.0
"""Seconds; it takes some 30 ms on a machine at rest. What makes up for a lost ring comes 15 s later, so without rings this fails."""
TAKEN_OVER: Final = 12.0
"""Seconds after a kill; the lease is 1 s here, so it takes about two."""
LONG: Final = "60"
"""Seconds that a model thinks which is not waited for."""


@asynccontextmanager
async def nodes(server: Postgres, folder: Path, think: str = "0") -> AsyncIterator[tuple[Program, Program]]:
    """Both at work. The first was there before, so it has every duty."""
    shared = {"database_url": server.newest_database(), "workspace_dir": str(folder / "workspaces")}
    given = [f"--set={name}={json.dumps(value)}" for name, value in shared.items()]
    one, two = (Program(folder / name / "var", "--think", think, *given) for name in ("one", "two"))
    for node in (one, two):
        node.data.mkdir(parents=True)
    async with asyncio.TaskGroup() as group:
        lives = []
        for node in (one, two):
            lives.append(group.create_task(life(node)))
            await node.up()
        yield one, two
        for task in lives:
            task.cancel()


async def life(of: Program) -> None:
    """Until it leaves, or the test kills it."""
    try:
        await of.run()
    except RuntimeError as ended:
        if f"left with {-signal.SIGKILL}" not in str(ended):
            raise


@asynccontextmanager
async def people(here: Program, there: Program, room: str) -> AsyncIterator[tuple[Visitor, Chat]]:
    """Somebody at one node, and an open page of the same room at the other: a link opens the page of every node."""
    async with AsyncExitStack() as stack:
        visitor = await stack.enter_async_context(visiting(f"{await here.up()}/link/{TOKEN}"))
        opened = await stack.enter_async_context(page(f"{await there.up()}/link/{TOKEN}"))
        yield visitor, await stack.enter_async_context(opened.chat(room))


async def soon(thing: Awaitable[None], seconds: float = SOON) -> None:
    async with asyncio.timeout(seconds):
        await thing


async def test_what_one_node_answers_is_shown_on_a_page_of_the_other(postgres: Postgres, tmp_path: Path) -> None:
    room = uuid4().hex
    async with nodes(postgres, tmp_path) as (one, two), people(one, two, room) as (here, there):
        for _ in range(3):
            await here.say(room, "hello")
            await soon(there.reply())
        assert len(await here.replies(room)) == 3
        assert await one.leave() < 10
        assert "not heard" not in one.log() + two.log()


async def test_what_is_answered_far_from_its_courier_is_shown_at_once(postgres: Postgres, tmp_path: Path) -> None:
    """The second node works on it. The first has the page's duty, and is not needed for that."""
    room = uuid4().hex
    async with nodes(postgres, tmp_path) as (one, two), people(one, two, room) as (_, there):
        for _ in range(3):
            await soon(there.ask("hello"))


async def test_a_stop_cuts_a_run_at_the_other_node_at_once(postgres: Postgres, tmp_path: Path) -> None:
    room = uuid4().hex
    async with nodes(postgres, tmp_path, LONG) as (one, two), people(one, two, room) as (here, there):
        await there.say("hello")
        stopped = await here.post(f"/api/rooms/{room}/stop", {"id": uuid4().hex})
        assert stopped.body["outcome"] == "decided"
        await soon(there.reply())
        assert await here.replies(room) == ["Stopped here."]


async def test_the_work_of_a_killed_node_is_shown_on_an_open_page_of_the_other(
    postgres: Postgres, tmp_path: Path
) -> None:
    """The killed one had every duty, and the message was taken in by it and by nobody else."""
    room = uuid4().hex
    async with nodes(postgres, tmp_path, "0.5") as (one, two), people(one, two, room) as (here, there):
        await here.say(room, "hello")
        one.kill()
        await soon(there.reply(), TAKEN_OVER)
