"""Tools and commands that write no more than the room and the disk have space for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from runtime.contract import Json, Shortage, Space, Tool, ToolContext, ToolSpec
from runtime.errors import ToolFailed
from tools.kit.process import Ended
from tools.sandbox.launcher import Order
from tools.sandbox.sandbox import Provided, Sandbox

SPACE_LOOK_SECONDS: Final = 0.5  # seconds between two looks at the space while a command works
SPACE_MIN_BYTES: Final = 4096  # bytes; the sandbox itself writes small files before a command starts
SHARE: Final = 10  # a look that took long is followed by a wait so many times as long


@dataclass(frozen=True)
class SpacedTool:
    """A tool that writes what its arguments hold."""

    tool: Tool
    space: Space

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    def caution(self) -> str:
        return self.tool.caution()

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        if short := await self.space.shortage(context.workspace):
            raise ToolFailed(short.words)
        result = await self.tool.call(arguments, context)
        self.space.add(context.workspace, sum(len(value) for value in arguments.values() if isinstance(value, str)))
        return result


@dataclass(frozen=True)
class SpacedSandbox:
    """A Sandbox whose commands end when the space does. In a full room they still run, and can remove but not write."""

    sandbox: Sandbox
    space: Space

    @property
    def caution(self) -> str:
        return self.sandbox.caution

    @property
    def has_network(self) -> bool:
        return self.sandbox.has_network

    async def self_test(self) -> str | None:
        return await self.sandbox.self_test()

    async def order(self, command: str, workspace: Path, *, seconds: int) -> Order:
        """A command that lives on: whoever starts it looks after the space from then on."""
        if short := await self.space.shortage(workspace):
            raise ToolFailed(f"The command was not run. {short.words}")
        order = await self.sandbox.order(command, workspace, seconds=seconds)
        order["limits"]["FSIZE"] = min(order["limits"]["FSIZE"], max(SPACE_MIN_BYTES, self.space.left(workspace)))
        return order

    async def run(
        self,
        command: str,
        workspace: Path,
        *,
        limit: int,
        writes: int | None = None,
        provided: Provided | None = None,
    ) -> Ended:
        short = await self.space.shortage(workspace)
        if short and short.everywhere:
            raise ToolFailed(f"The command was not run. {short.words}")
        if short:
            command = f"trap '' XFSZ; ulimit -f 0; {command}"  # a write fails, and the shell lives on
        writes = max(SPACE_MIN_BYTES, self.space.left(workspace))
        async with asyncio.TaskGroup() as group:
            running = group.create_task(self._outcome(command, workspace, limit, writes, provided))
            grown = await self._watched(running, workspace, full=short is not None)
            running.cancel()
        if running.cancelled():
            raise ToolFailed(f"The command was stopped. {grown.words if grown else ''}")
        ended = running.result()
        if isinstance(ended, ToolFailed):
            raise ended
        if after := await self.space.recount(workspace):
            return replace(ended, text=f"{ended.text.rstrip()}\n[{after.words}]\n")
        return ended

    async def _outcome(
        self, command: str, workspace: Path, limit: int, writes: int, provided: Provided | None
    ) -> Ended | ToolFailed:
        try:
            return await self.sandbox.run(command, workspace, limit=limit, writes=writes, provided=provided)
        except ToolFailed as error:
            return error

    async def _watched(
        self, running: asyncio.Task[Ended | ToolFailed], workspace: Path, *, full: bool
    ) -> Shortage | None:
        """Wait for the end of the command, or for the end of the space; why it must end."""
        wait = SPACE_LOOK_SECONDS
        while not (await asyncio.wait({running}, timeout=wait))[0]:
            began = time.monotonic()
            short = await self.space.recount(workspace)
            if short and (short.everywhere or not full):
                return short
            wait = max(SPACE_LOOK_SECONDS, SHARE * (time.monotonic() - began))
        return None
