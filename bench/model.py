"""The language model of the benchmarks: the tests' mock server, which keeps nothing of what it was asked. It echoes; a message
that begins with `HAND_ON` and a number it has so many others answer.

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

from tests.fakes.openai import Json, OpenAI, Reply, ToolCall, echo
from tests.fakes.serve import serve_until_told

HAND_ON: Final = "hand on to "


def answered(request: Json) -> Reply:
    newest = request["messages"][-1]
    if newest["role"] != "user" or not str(newest["content"]).startswith(HAND_ON):
        return echo(request)
    goals = [f"piece {number}" for number in range(int(str(newest["content"]).removeprefix(HAND_ON)))]
    return Reply(calls=(ToolCall("delegate_many", json.dumps({"goals": goals})),), finish="tool_calls")


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
