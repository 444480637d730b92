"""What the suite talks to: the example behind our bridge, or the product with a token that is added on the way.

    python -m tests.conformance.mcp.served example|product

Prints its address, and serves until it is ended.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
from aiohttp import web
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPDeprecationWarning

from bot.doors.mcp.asgi import bridged
from bot.doors.mcp.house import keep_pages_out
from runtime.http.guard import guard
from tests.conformance.mcp.example import example
from tests.security.running import running

Serve = Callable[[web.Request], Awaitable[web.StreamResponse]]
LEFT_ON_THE_WAY = frozenset({"content-length", "transfer-encoding", "connection", "server", "date"})


@asynccontextmanager
async def example_served() -> AsyncIterator[Serve]:
    """With sessions, which a server needs that asks its client something."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        server = example()
    manager = StreamableHTTPSessionManager(server)

    async def serve(request: web.Request) -> web.StreamResponse:
        keep_pages_out(request, "")
        return await bridged(request, manager.handle_request, {})

    async with manager.run():
        yield serve


@asynccontextmanager
async def product_served() -> AsyncIterator[Serve]:
    """The whole product, for a client that has no token: it is added here."""
    with tempfile.TemporaryDirectory() as folder:
        async with running(Path(folder)) as house, aiohttp.ClientSession(auto_decompress=False) as session:
            token = (await house.api.make_token("suite", "operator", per_minute="6000"))["token"]

            async def serve(request: web.Request) -> web.StreamResponse:
                headers = {
                    name: value for name, value in request.headers.items() if name.lower() not in LEFT_ON_THE_WAY
                }
                if headers.get("Host", "").startswith(("127.", "localhost")):
                    if headers.get("Origin") == f"http://{headers['Host']}":
                        headers["Origin"] = f"http://{house.host}"
                    headers["Host"] = house.host
                headers["Authorization"] = f"Bearer {token}"
                body = await request.read()
                url = f"{house.url}{request.raw_path}"
                async with session.request(request.method, url, headers=headers, data=body) as answer:
                    passed = web.StreamResponse(status=answer.status)
                    for name, value in answer.headers.items():
                        if name.lower() not in LEFT_ON_THE_WAY:
                            passed.headers.add(name, value)
                    await passed.prepare(request)
                    async for piece in answer.content.iter_any():
                        await passed.write(piece)
                    await passed.write_eof()
                    return passed

            yield serve


async def main(which: str) -> None:
    async with example_served() if which == "example" else product_served() as serve:
        site = web.Application(client_max_size=1 << 22, middlewares=[guard((), open_paths={"/mcp"})])
        site.router.add_route("*", "/mcp", serve)
        runner = web.AppRunner(site)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        sys.stdout.write(f"http://{host}:{port}/mcp\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
