"""The programs of this process of Signalbox: they live as long as it is a node, and no longer."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from runtime.contract import BOUNDLESS, Space
from runtime.contract.agents.processes import Process, ProcessBook, ProcessEvent, ProcessId, Starter
from runtime.errors import StoreError, ToolFailed
from tools.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from tools.processes.program import Program

log = structlog.get_logger("processes")

LOOK_SECONDS: Final = 1.0
"""Time between two looks for what is to end; nothing looks while nothing runs."""
SPACE_LOOKS: Final = 10
"""Looks between two counts of the disk space of a room in which something runs."""
LAST_ROWS: Final = timedelta(seconds=2)
"""Time for the rows of what ends with us."""
CUT_AT_START: Final = "The call was ended before it began."
ENDS_WITH_US: Final = "It ended with its node: Signalbox was stopped there."


@dataclass(frozen=True, slots=True)
class Running:
    """A program with the row of it."""

    process: Process
    program: Program
    workspace: Path
    time: timedelta


@dataclass(slots=True)
class Limits:
    """Bounds of one conversation: programs at once, and the longest time of one."""

    at_once: int = 5
    minutes: int = 60


@dataclass
class ProcessHost:
    """Starts programs and looks after them while `run` runs."""

    sandbox: Sandbox
    book: ProcessBook
    limits: Limits = field(default_factory=Limits)
    space: Space = BOUNDLESS
    _running: dict[ProcessId, Running] = field(default_factory=dict)
    _group: asyncio.TaskGroup | None = None
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Look after what was started. Once this is cancelled nothing of it runs."""
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                while True:
                    await self._wake.wait()
                    await self._watch()
        finally:
            self._group = None
            self._wake.clear()

    async def start(self, command: str, workspace: Path, by: Starter, time: timedelta) -> Process:
        """Errors: ToolFailed; ToolRetry where too many run already."""
        if self._group is None:
            raise ToolFailed("This process of Signalbox is about to end, so nothing is started here. Try again.")
        from tools.processes.program import Program  # with the first one

        order = await self.sandbox.order(command, workspace, seconds=max(1, int(time.total_seconds())))
        process = await self.book.begin(command, by, self.limits.at_once)
        try:
            program = await Program.start(order, workspace)
        except (
            BaseException
        ) as error:  # also where the call is cut: the row of no program would take its place for good
            why = str(error) if isinstance(error, ToolFailed) else CUT_AT_START
            await asyncio.shield(self.book.end(process.id, ProcessEvent.EXIT, None, why))
            raise
        running = Running(process, program, workspace, time)
        self._running[process.id] = running
        self._group.create_task(self._keep(running))
        self._wake.set()
        return process

    def here(self, process: ProcessId) -> Program | None:
        """The program of a process that was started here, also for a while after its end."""
        found = self._running.get(process)
        return found.program if found else None

    async def stop(self, process: ProcessId, reason: str) -> bool:
        """Have it end, wherever it runs; false where it is over."""
        if not await self.book.stop(process, reason):
            return False
        if program := self.here(process):
            await program.stop()
        return True

    async def _keep(self, running: Running) -> None:
        event, reason, is_noted = ProcessEvent.LOSE, ENDS_WITH_US, False
        try:
            in_time = await running.program.run(running.time)
            event, reason = (ProcessEvent.EXIT, "") if in_time else (ProcessEvent.EXPIRE, _late(running.time))
            # Again and again: its row would hold a place for as long as this node lives.
            while not (is_noted := await asyncio.shield(self._note(running, event, reason))):  # noqa: ASYNC110 - a store
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            if not is_noted:
                await asyncio.shield(self._note(running, event, reason))
            running.program.over()

    async def _note(self, running: Running, event: ProcessEvent, reason: str) -> bool:
        """False where the store can't take it now."""
        try:
            async with asyncio.timeout(LAST_ROWS.total_seconds()):
                await self.book.end(running.process.id, event, running.program.exit_code, reason)
        except (StoreError, TimeoutError) as error:
            log.warning("the end of a process could not be noted", process=running.process.id, reason=str(error))
            return False
        return True

    async def _watch(self) -> None:
        """Until nothing runs: end what somebody wants to end, and what fills its room."""
        looks = 0
        while any(not one.program.ended.is_set() for one in self._running.values()):
            await asyncio.sleep(LOOK_SECONDS)
            looks += 1
            with suppress(StoreError):  # asked again a second later
                for process, _ in await self.book.to_stop():
                    if program := self.here(process):
                        await program.stop()
            if looks % SPACE_LOOKS == 0:
                await self._end_greedy()
            self._forget_old()
        self._wake.clear()

    async def _end_greedy(self) -> None:
        for running in [one for one in self._running.values() if not one.program.ended.is_set()]:
            if short := await self.space.recount(running.workspace):
                await self.stop(running.process.id, short.words)

    def _forget_old(self) -> None:
        """Output of ended programs is kept for the newest few alone."""
        over = [one for one, running in self._running.items() if running.program.ended.is_set()]
        for process in over[: -self.limits.at_once]:
            del self._running[process]


def _late(time: timedelta) -> str:
    return f"Its time of {time.total_seconds() / 60:g} minutes was over."
