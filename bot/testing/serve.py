"""Servers of tests: in the test's own loop, or as a program of its own."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def serving(app: web.Application, port: int = 0) -> AsyncIterator[str]:
    """Serve `app` on this machine alone; gives its URL without a slash at the end."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def serve_until_told(app: web.Application, port: int) -> None:
    """Print the URL as the first line, then serve until SIGTERM or SIGINT."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    async with serving(app, port) as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        await told.wait()


def abort(request: web.Request) -> web.Response:
    """Cut the connection under `request` without an answer, as a dying network does."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
