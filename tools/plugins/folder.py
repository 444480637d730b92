"""The folder of files with tools, kept up: looked at again and again, each file at work by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final, Protocol

import structlog

from runtime.contract import Tool
from tools.plugins.loading import FileBroken, tools_in
from tools.plugins.reading import ToolFile, files_in

log = structlog.get_logger("tools")

LOOK_EVERY: Final = timedelta(seconds=2)


class Host(Protocol):
    """Keeps the tools of one file at work outside of this process."""

    @property
    def tools(self) -> Sequence[Tool]: ...

    async def run(self) -> None:
        """Until cancelled."""


@dataclass(slots=True)
class Served:
    """A file as it is at work: its tools in this process, or a host with the task that runs it."""

    file: ToolFile
    own: Mapping[str, Tool] = field(default_factory=dict)
    host: Host | None = None
    task: asyncio.Task[None] | None = None

    @property
    def tools(self) -> Mapping[str, Tool]:
        return {tool.spec.name: tool for tool in self.host.tools} if self.host else self.own


class FolderTools:
    """Tools of a folder. `host_of` makes what serves a file from its sandbox; None where files run in this process.

    `on_change` is called when the tools are others.
    """

    def __init__(
        self, folder: Path, *, host_of: Callable[[ToolFile], Host] | None, on_change: Callable[[], None]
    ) -> None:
        self._folder, self._host_of, self._on_change = folder, host_of, on_change
        self._served: dict[str, Served] = {}
        self._told: dict[str, str] = {}

    @property
    def faults(self) -> Mapping[str, str]:
        """Faults that keep files and tools from being used, as it was told in the log."""
        return self._told

    def beside(self, others: Mapping[str, object]) -> dict[str, Tool]:
        """Tools by name; none takes the name of another one, which is told."""
        found: dict[str, Tool] = {}
        owner: dict[str, str] = {}
        for name, served in sorted(self._served.items()):
            for tool_name, tool in served.tools.items():
                if tool_name in others or tool_name in found:
                    whose = owner.get(tool_name, "Signalbox, a package or an MCP server")
                    self._tell(f"{name}/{tool_name}", f"{name} has a tool {tool_name}, and so has {whose}: left out")
                else:
                    found[tool_name], owner[tool_name] = tool, name
        return found

    async def run(self) -> None:
        """Keep up with the folder until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                if await self.look(group):
                    self._on_change()
                await asyncio.sleep(LOOK_EVERY.total_seconds())

    async def look(self, group: asyncio.TaskGroup) -> bool:
        """Take up files that are new or others, and leave those that are gone; true if there was any."""
        files = {file.path.name: file for file in await asyncio.to_thread(files_in, self._folder)}
        stale = [name for name, one in self._served.items() if name not in files or files[name].mark != one.file.mark]
        for name in stale:
            self._leave(name)
        fresh = [file for name, file in files.items() if name not in self._served]
        for file in fresh:
            self._served[file.path.name] = await self._taken(file, group)
        return bool(stale or fresh)

    async def _taken(self, file: ToolFile, group: asyncio.TaskGroup) -> Served:
        if file.fault:
            self._tell(file.path.name, file.fault)
            return Served(file)
        self._told.pop(file.path.name, None)
        try:
            if self._host_of is not None:
                host = self._host_of(file)
                return Served(file, host=host, task=group.create_task(host.run()))
            tools = await asyncio.to_thread(tools_in, file.path)
        except FileBroken as error:
            self._tell(file.path.name, str(error))
            return Served(file)
        log.info("a file of tools is loaded", file=file.path.name, tools=sorted(tools))
        return Served(file, own=tools)

    def _leave(self, name: str) -> None:
        served = self._served.pop(name)
        if served.task:
            served.task.cancel()

    def _tell(self, what: str, fault: str) -> None:
        """Once for each fault."""
        if self._told.get(what) != fault:
            self._told[what] = fault
            log.error("a file of tools isn't used", file=what, reason=fault)
