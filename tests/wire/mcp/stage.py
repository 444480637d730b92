"""A server at work, as a test sees it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from runtime.contract import FileRef, Json, RunId, SessionKey, ToolContext
from tests.fakes import mcp_raw
from tests.fakes.serve import ROOT
from tools.mcp.asked.held import Keep
from tools.mcp.server import McpServer, Patience
from tools.mcp.terms import Endpoint, Program, ServerTerms
from tools.mcp.tool import McpTool

RAW: Final = (sys.executable, "-I", "-S", mcp_raw.__file__)
OURS: Final = (sys.executable, "-m", "tests.fakes.mcp_server")
PACKAGED: Final = (sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC")
SOON: Final = Patience(first=timedelta(milliseconds=50), most=timedelta(milliseconds=200))


@dataclass
class AtWork:
    """One server and what it did. `attached` are the files that its answers put onto the reply, `told` words about progress."""

    server: McpServer
    folder: Path
    workspace: Path
    attached: list[FileRef] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def tool(self, name: str) -> McpTool:
        """By the server's own name."""
        return next(tool for tool in self.server.tools if tool.offer.name == name)

    @property
    def names(self) -> list[str]:
        return [tool.offer.name for tool in self.server.tools]

    async def call(self, name: str, /, **arguments: Json) -> str:
        return await self.tool(name).call(arguments, self.context)

    async def patiently(self, name: str, /, **arguments: Json) -> str:
        """Of a server whose calls have hardly any time, one with enough of it, on a busy machine too."""
        tool = self.tool(name)
        tool.spec = replace(tool.spec, timeout=timedelta(seconds=30))
        return await tool.call(arguments, self.context)

    @property
    def context(self) -> ToolContext:
        return ToolContext(
            self.workspace, SessionKey("s"), RunId("r"), "c", attach=self.attached.append, tell=self.told.append
        )

    def calls(self, name: str) -> list[Any]:
        """What the raw server itself noted of its calls: the arguments of each."""
        file = self.folder / "calls"
        rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [arguments for called, arguments in rows if called == name]

    @property
    def pid(self) -> int:
        return int((self.folder / "pid").read_text())


def program(folder: Path, *command: str, **env: str) -> Program:
    """Ours stay whoever runs the tests: another user may not reach this interpreter."""
    return Program(command, folder, {"PATH": os.defpath, "PYTHONPATH": str(ROOT), **env})


def terms_of(folder: Path, way: Program | Endpoint, **more: Any) -> ServerTerms:
    return ServerTerms("desk", way, folder / "desk.json", **more)


@asynccontextmanager
async def at_work(folder: Path, terms: ServerTerms, patience: Patience = SOON) -> AsyncIterator[AtWork]:
    """A server of `terms` with its first tools known, until the test goes on."""
    async with started(folder, terms, patience) as made:
        await until(lambda: bool(made.names))
        yield made


@asynccontextmanager
async def started(
    folder: Path, terms: ServerTerms, patience: Patience = SOON, keep: Keep | None = None
) -> AsyncIterator[AtWork]:
    """The same, with nothing known of how it goes."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    server = McpServer(terms, on_change=lambda: None, patience=patience, keep=keep)
    own = terms.way.folder if isinstance(terms.way, Program) else folder
    async with asyncio.TaskGroup() as group:
        task = group.create_task(server.run())
        try:
            yield AtWork(server, own, workspace)
        finally:
            task.cancel()


@asynccontextmanager
async def raw(folder: Path, mode: str = "plain", patience: Patience = SOON, **more: Any) -> AsyncIterator[AtWork]:
    """The server that can misbehave."""
    async with at_work(folder, terms_of(folder, program(folder / "desk", *RAW, mode), **more), patience) as made:
        yield made


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not reached():  # noqa: ASYNC110 - what is looked at is in other processes too
            await asyncio.sleep(0.005)


def alive(pid: int) -> bool:
    """Whether that process runs. One that nobody has buried yet does not."""
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def line_of(pid: int) -> str:
    """The command line of that process, as everybody on the machine may read it."""
    return Path(f"/proc/{pid}/cmdline").read_text()


def closed(folder: Path) -> None:
    """Only its owner comes by, as it is with a data folder."""
    folder.chmod(0o700)
