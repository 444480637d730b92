"""The language model of the benchmarks: the tests' mock server, which keeps nothing of what it was asked. It echoes; a message
that begins with `HAND_ON` and a number it has so many others answer, and for one that begins with `LOOK` and a number it makes
so many tool calls, one after another.

    python -m bench.model [--delay SECONDS]

prints its URL. Each answer waits for the delay. `GET /last` tells the bytes of the newest request with tools.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from bot.testing.openai.server import Json, OpenAI, Reply, ToolCall, echo
from bot.testing.serve import serve_until_told

HAND_ON: Final = "hand on to "
LOOK: Final = "look "


def answered(request: Json) -> Reply:
    newest = request["messages"][-1]
    if wanted := looks_left(request["messages"]):
        return Reply(calls=(ToolCall("list_files", json.dumps({"path": path_of(wanted)})),), finish="tool_calls")
    if newest["role"] != "user" or not str(newest["content"]).startswith(HAND_ON):
        return echo(request)
    goals = [f"piece {number}" for number in range(int(str(newest["content"]).removeprefix(HAND_ON)))]
    return Reply(calls=(ToolCall("delegate_many", json.dumps({"goals": goals})),), finish="tool_calls")


def looks_left(messages: list[Json]) -> int:
    """Tool calls that the newest message still asks for."""
    newest = max(index for index, one in enumerate(messages) if one["role"] == "user")
    words = str(messages[newest]["content"])
    number = words.removeprefix(LOOK).partition("\n")[0]
    if not words.startswith(LOOK) or not number.isdigit():
        return 0
    return int(number) - len([one for one in messages[newest:] if one["role"] == "tool"])


def path_of(number: int) -> str:
    """The folder itself, written otherwise for each number: the same call again and again would be refused."""
    return "." + "/." * number


def application(delay: float) -> web.Application:
    server = OpenAI(answered)
    last = 0

    @web.middleware
    async def forget(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Ten thousand requests with their histories would fill the memory of the machine that is measured."""
        nonlocal last
        if request.path == "/last":
            return web.Response(text=str(last))
        await asyncio.sleep(delay)
        answer = await handler(request)
        if any(one.get("tools") for one in server.requests):
            last = request.content_length or 0
        server.requests.clear()
        server.keys.clear()
        return answer

    app = server.app()
    app.middlewares.append(forget)
    return app


def main() -> None:
    parser = argparse.ArgumentParser(description="The mock model.")
    parser.add_argument("--delay", type=float, default=0.0)
    asyncio.run(serve_until_told(application(parser.parse_args().delay), 0))


if __name__ == "__main__":
    main()
