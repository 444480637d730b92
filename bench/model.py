"""The language model of the benchmarks: the tests' mock server, which echoes, and keeps nothing of what it was asked.

    python -m bench.model [--delay SECONDS]

prints its URL. Each answer waits for the delay. `GET /last` tells the bytes of the newest request with tools.
"""

from __future__ import annotations

import argparse
import asyncio

from aiohttp import web
from aiohttp.typedefs import Handler

from tests.fakes.openai import OpenAI
from tests.fakes.serve import serve_until_told


def application(delay: float) -> web.Application:
    server = OpenAI()
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
