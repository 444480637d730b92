"""An MCP server made with the official SDK: `python -m tests.fakes.mcp_server [PORT]`; with a port over HTTP.

Over HTTP it wants the token "let-me-in", prints its URL as the first line and writes it nowhere else.
"""

from __future__ import annotations

import socket
import sys
from typing import Any, Final

import uvicorn
from mcp.server.mcpserver import Audio, Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

TOKEN: Final = "let-me-in"
PNG: Final = b"\x89PNG\r\n\x1a\n" + bytes(992)


def made() -> MCPServer:
    server = MCPServer("fake", log_level="ERROR")
    server.add_tool(echo)
    server.add_tool(look, annotations=ToolAnnotations(read_only_hint=True))
    server.add_tool(fails)
    server.add_tool(numbers)
    server.add_tool(picture, structured_output=False)
    server.add_tool(sound, structured_output=False)

    async def grow(context: Context[Any, Any]) -> str:
        """Have one more tool from now on, and tell of it."""
        server.add_tool(fresh)
        await context.notify_tools_changed()
        return "grown"

    server.add_tool(grow)
    server.add_tool(steps)
    return server


async def steps(context: Context[Any, Any]) -> str:
    """Tell how far it is."""
    await context.report_progress(1, 2, "boiling water")
    await context.report_progress(2)
    return "tea"


def echo(text: str) -> str:
    """Say it."""
    return text


def look() -> str:
    """Look, and change nothing."""
    return "seen"


def fresh() -> str:
    """Was not there before."""
    return "fresh"


def fails() -> str:
    """Never works."""
    raise ToolError("the printer is out of paper")


def picture() -> list[Any]:
    """A picture with a word beside it."""
    return ["Here it is:", Image(data=PNG, format="png")]


def sound() -> Audio:
    """A sound."""
    return Audio(data=b"RIFF" + bytes(40), format="wav")


def numbers() -> dict[str, int]:
    """Structured, and nothing else."""
    return {"open": 3, "closed": 5}


def serve(port: int) -> None:
    """Over HTTP, on this machine alone, for those who show the token."""
    inner = made().streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and Request(scope).headers.get("authorization") != f"Bearer {TOKEN}":
            response: Response = PlainTextResponse("who are you?", status_code=401)
            return await response(scope, receive, send)
        return await inner(scope, receive, send)

    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    sys.stdout.write(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp\n")
    sys.stdout.flush()
    config = uvicorn.Config(guarded, log_level="error", timeout_graceful_shutdown=0)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve(int(sys.argv[1]))
    else:
        made().run("stdio")
