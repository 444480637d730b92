"""The language model of the benchmarks: the tests' mock server, which echoes, and keeps nothing of what it was asked.

    python -m bench.model

prints its URL.
"""

from __future__ import annotations

import asyncio

from aiohttp import web
from aiohttp.typedefs import Handler

from tests.fakes.openai import OpenAI
from tests.fakes.serve import serve_until_told


def application() -> web.Application:
    server = OpenAI()

    @web.middleware
    async def forget(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Ten thousand requests with their histories would fill the memory of the machine that is measured."""
        answer = await handler(request)
        server.requests.clear()
        server.keys.clear()
        return answer

    app = server.app()
    app.middlewares.append(forget)
    return app


if __name__ == "__main__":
    asyncio.run(serve_until_told(application(), 0))
