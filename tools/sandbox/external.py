"""Commands without a sandbox of ours, for those who run the whole program in a container and say so."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from runtime.errors import ToolFailed
from runtime.text.words import marked
from tools.kit.process import Ended
from tools.sandbox.launcher import Order
from tools.sandbox.sandbox import PATH, PROVIDED, Provided, ShellSettings, launch, limits, shell_argv
from tools.sandbox.secret_files import checked, lent_files, sweep

NO_HOME: Final = "/nonexistent"
"""Home of a command that something is lent to: settings of programs that lie in the workspace don't speak for that."""


class External:
    """A Sandbox in name: limits, a clean environment, a process group that is killed, and not root. No walls."""

    caution = marked("Runs without a sandbox. The command can reach the network and all files of the user it runs as.")

    has_network = True

    def __init__(self, settings: ShellSettings) -> None:
        self._settings = settings
        self._uid = settings.uid if os.geteuid() == 0 else None
        self._is_swept = False

    async def self_test(self) -> str | None:
        if not self._is_swept:
            self._is_swept = True
            await asyncio.to_thread(sweep)
        if self._uid == 0:
            return "The shell is off: [tools.shell] uid is 0, and commands are never run as root. Set another uid."
        return None

    async def run(
        self,
        command: str,
        workspace: Path,
        *,
        limit: int,
        writes: int | None = None,
        provided: Provided | None = None,
    ) -> Ended:
        files = checked(provided.secret_files) if provided else {}
        with lent_files(files, self._uid) as paths:
            order = await self._order(command, workspace, limits(self._settings, writes), provided)
            order["env"] |= paths
            variables = provided.variables if provided else None
            return await launch(order, workspace, deadline=self._settings.timeout, limit=limit, variables=variables)

    async def order(self, command: str, workspace: Path, *, seconds: int) -> Order:
        if trouble := await self.self_test():
            raise ToolFailed(trouble)
        return await self._order(command, workspace, limits(self._settings) | {"CPU": seconds})

    async def _order(
        self, command: str, workspace: Path, bounds: dict[str, int], provided: Provided | None = None
    ) -> Order:
        # Without a user namespace the kernel counts all processes of the user, ours too: allow so many more.
        others = await asyncio.to_thread(_tasks_of, os.geteuid() if self._uid is None else self._uid)
        argv = shell_argv(command, self._settings.processes + others)
        folder = {PROVIDED: str(provided.folder), "HOME": NO_HOME} if provided else {}
        return Order(
            argv=argv,
            env={"PATH": PATH, "HOME": str(workspace), "LANG": "C.UTF-8", "TERM": "dumb", **folder},
            limits=bounds,
            uid=self._uid,
            view=False,
            carry={},
            hide=[],
            files=[],
            calls="",
            inherit=list(provided.variables) if provided else [],
        )


def _tasks_of(uid: int) -> int:
    """Number of threads that run as `uid`; 0 without /proc."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended meanwhile
            if process.stat().st_uid == uid:
                count += sum(1 for _ in (process / "task").iterdir())
    return count
