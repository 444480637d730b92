"""SIGTERM under load: the process drains and leaves in time, and what came too late is taken in by the next one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.faults.checker import check
from tests.faults.program import GLANCE, LEAVES_WITHIN, living, until
from tests.faults.sides import WebSide
from tests.faults.stage import WEB, Rows, Stage, stage
from tests.faults.story import answers

MOST = 60
"""Lines that people write at most, one every 100 ms."""


async def talk_on(on: Stage, enough: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(MOST):
            if enough.is_set():
                return
            group.create_task(on.story.lines(1))
            await asyncio.sleep(GLANCE)  # people write one line after the other


async def some_answer(on: Stage) -> bool | None:
    return any([answers(await on.side.seen(talk.room)) for talk in on.story.talks[:1]]) or None


@pytest.mark.timeout(180)  # seconds; about six where nothing else runs
@pytest.mark.parametrize("kind", [pytest.param(WEB, marks=pytest.mark.soak), "key"])
async def test_asked_to_leave_under_load_it_drains_in_time_and_loses_nothing(kind: str, tmp_path: Path) -> None:
    enough = asyncio.Event()
    async with stage(tmp_path, kind, "--think", "1", stutter=False) as on, asyncio.TaskGroup() as people:
        async with living(on.program):
            await on.program.up()
            people.create_task(talk_on(on, enough))
            await until(lambda: some_answer(on), "the first answer")
            seconds = await on.program.leave()
        assert seconds < LEAVES_WITHIN
        left = Rows(on.program.data / "signalbox.db")
        assert left.select("SELECT count(*) FROM sessions WHERE state = 'running'") == [(0,)]
        enough.set()
        async with living(on.program):
            for talk in on.story.talks:
                await on.story.answered(talk, talk.lines[0])
            await on.until_quiet()
            check(await on.evidence())
            await on.program.leave()
    assert left.disagreements() == []
    if isinstance(on.side, WebSide):
        assert on.side.refused > 0  # told to try again, and not swallowed
