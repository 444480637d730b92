"""Serves the tools of one file over MCP: `python -I -m tools.plugins.host FILE`, in a sandbox that others made around it.

It ends where a call blocks it for good: whoever started it starts it anew.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent
from mcp_types import Tool as Described

from runtime.contract import RunId, SessionKey, Tool, ToolContext
from runtime.errors import ToolError
from tools.mcp.offers import DECLARED
from tools.plugins.declared import told
from tools.plugins.loading import FileBroken, line_of, tools_in

BEAT: Final = 0.5  # seconds between two signs of life of the loop
SLACK: Final = 5.0  # seconds past the longest time of a tool, after which the loop counts as blocked
LAST_ANSWER: Final = 0.3  # seconds in which the answer to a call that hangs is still on its way
HUNG: Final = 3  # exit code


async def serve(file: Path) -> None:
    """Load the file and answer calls until the input ends. Errors: FileBroken."""
    async with stdio_server() as (read, write):  # from here on what the file prints goes to standard error
        tools = tools_in(file)
        with _Watch(max(tool.spec.timeout.total_seconds() for tool in tools.values()) + SLACK) as watch:
            server = _server(file, tools)
            async with asyncio.TaskGroup() as group:
                beating = group.create_task(watch.beat())
                await server.run(read, write, server.create_initialization_options())
                beating.cancel()


def _server(file: Path, tools: Mapping[str, Tool]) -> Server[Any]:
    async def listed(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_described(tool) for tool in tools.values()])

    async def called(context: Any, params: CallToolRequestParams) -> CallToolResult:
        text, failed = await _called(file, tools[params.name], params.arguments or {})
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=failed)

    return Server(file.stem, on_list_tools=listed, on_call_tool=called)


def _described(tool: Tool) -> Described:
    spec = tool.spec
    return Described(
        name=spec.name,
        description=spec.description,
        input_schema=dict(spec.schema),
        _meta={DECLARED: told(spec)},
    )


async def _called(file: Path, tool: Tool, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """The answer, and whether it failed."""
    limit = tool.spec.timeout.total_seconds()
    try:
        async with asyncio.timeout(limit):
            return await tool.call(arguments, ToolContext(Path.cwd(), SessionKey(""), RunId(""), "")), False
    except ToolError as error:
        return str(error), True
    except TimeoutError:
        # A thread can't be cut: with the process it ends.
        asyncio.get_running_loop().call_later(LAST_ANSWER, _leave, f"{tool.spec.name} did not end within {limit:g} s")
        return f"{tool.spec.name} did not end within {limit:g} s.", True
    except Exception as error:  # noqa: BLE001 - a fault of the file is told with its line
        return line_of(error, file.name), True


def _leave(why: str) -> None:
    sys.stderr.write(f"error: {why}, so it is ended\n")
    sys.stderr.flush()
    os._exit(HUNG)


class _Watch:
    """Ends the process where its loop gives no sign of life for so many seconds."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._seen = time.monotonic()
        self._over = threading.Event()

    def __enter__(self) -> _Watch:
        threading.Thread(target=self._look, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()

    async def beat(self) -> None:
        while True:
            self._seen = time.monotonic()
            await asyncio.sleep(BEAT)

    def _look(self) -> None:
        while not self._over.wait(BEAT):
            if time.monotonic() - self._seen > self._patience:
                _leave("a call blocked it")


def main(file: Path) -> int:
    """Exit code: 1 where the file can't be loaded, which is told on standard error."""
    code = 0
    try:
        asyncio.run(serve(file))
    except* FileBroken as broken:
        sys.stderr.write(f"error: {_first(broken)}\n")
        code = 1
    return code


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
