"""A cancellation that comes together with errors of the work itself ends whoever was asked to end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, Final

import pytest

from bot.accounts.supervisor import AccountSupervisor
from runtime.agent.tool_calls import together
from runtime.cancellation import cancellable
from runtime.contract import CONNECTED, ConnectionStatus, Features

SOON: Final = 5.0  # seconds; each of these ends within a turn of the loop


class Lost(Exception):
    """What the work itself ends with."""


async def work_that_fails_when_cancelled() -> None:
    """A group, as a courier is one: a task of it meets an error of its own while the group is cancelled."""
    async with asyncio.TaskGroup() as group:
        group.create_task(fails_when_cancelled())
        await asyncio.Event().wait()


async def fails_when_cancelled() -> None:
    try:
        await asyncio.Event().wait()
    finally:
        raise Lost


@asynccontextmanager
async def ended_in_time(task: asyncio.Task[Any]) -> AsyncIterator[None]:
    """Cancels the task at the end of the block; it must be gone soon."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    yield
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=SOON)
    for _ in range(3):  # so that a task that goes on for ever does not outlive the test
        task.cancel()
        await asyncio.sleep(0)
    assert done, "it went on after it was cancelled"
    assert task.cancelled()


async def test_a_loop_ends_though_its_work_fails_at_the_moment_of_the_cancellation() -> None:
    async def loop() -> None:
        while True:
            try:
                await cancellable(work_that_fails_when_cancelled())
            except* Lost:
                pass

    async with asyncio.TaskGroup() as group, ended_in_time(group.create_task(loop())):
        pass


async def test_errors_of_the_work_alone_are_no_cancellation() -> None:
    """Also where a group of the work counts a cancellation too many: its block ends before its task fails."""

    async def failing() -> None:
        await asyncio.sleep(0)
        raise Lost

    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(failing())

    for _ in range(2):
        with pytest.raises(ExceptionGroup) as raised:
            await cancellable(work())
        assert raised.value.subgroup(Lost)
    await asyncio.sleep(0)


async def test_a_result_is_passed_on() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 7

    assert await cancellable(work()) == 7


async def test_calls_side_by_side_end_when_they_are_cancelled_while_one_fails() -> None:
    async def run() -> None:
        while True:
            try:
                await together([fails_when_cancelled, fails_when_cancelled])
            except Lost:
                await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group, ended_in_time(group.create_task(run())):
        pass


class Breaking:
    """An adapter whose listening fails when it is told to end, as libraries do."""

    channel, account, identity = "fake", "main", "me"

    def features(self) -> Features:
        return Features()

    async def listen(self, sink: object) -> None:
        await work_that_fails_when_cancelled()

    def standing(self) -> ConnectionStatus:
        return CONNECTED


async def test_an_account_stops_listening_though_its_library_fails_at_that_moment() -> None:
    async def nothing(*_: object) -> None:
        await asyncio.sleep(0)

    presence = AccountSupervisor(Breaking(), take=nothing, on_learnt=nothing, pause=timedelta(seconds=0.01))  # type: ignore[arg-type]
    await presence.learn()
    async with asyncio.TaskGroup() as group:
        listening = group.create_task(presence.listen(nothing))  # type: ignore[arg-type]
        async with ended_in_time(listening):
            await presence.begun()
