"""The time and memory that a page takes in the agent's browser: the first one, which starts it, and one more."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from bench.figures import Figure, at_most
from runtime.egress import Egress, Opening, Result, Rule
from runtime.errors import ToolFailed
from tools.browser.browsers import Browsers, memory_mib
from tools.browser.terms import BrowserTerms

PARTS: Final = 20
FIRST_GOAL: Final = 10.0  # seconds, the start of Chromium and of its sandbox included
LATER_GOAL: Final = 3.0  # seconds
MEMORY_GOAL: Final = 600.0  # MiB, of Chromium and Playwright's own process together


async def browser(short: bool) -> list[Figure]:
    async with _site() as url:
        place = url.removeprefix("http://")
        rule = Rule(Result.ALLOW, method="GET", ports=frozenset({int(place.rpartition(":")[2])}))
        made = Browsers(Egress([rule], allow=[Opening.parse(place)]), BrowserTerms())
        async with asyncio.TaskGroup() as group:
            running = group.create_task(made.run())
            await asyncio.sleep(0)
            try:
                return await _measured(made, url)
            except ToolFailed as error:
                return [Figure("browser page", 0.0, "s", note=f"not measured: {error}")]
            finally:
                running.cancel()


async def _measured(made: Browsers, url: str) -> list[Figure]:
    began = time.perf_counter()
    session = await made.opened("bench")
    await session.open(f"{url}/1")
    first = time.perf_counter() - began
    began = time.perf_counter()
    text = await session.open(f"{url}/2")
    later = time.perf_counter() - began
    taken = await asyncio.to_thread(memory_mib, os.getpid()) - await asyncio.to_thread(_own_mib)
    await made.close("bench")
    return [
        Figure("browser, first page", first, "s", bound=at_most(FIRST_GOAL), note="starts Chromium in its sandbox"),
        Figure("browser, next page", later, "s", bound=at_most(LATER_GOAL), note=f"{len(text):,} characters read"),
        Figure("browser, memory", float(taken), "MiB", bound=at_most(MEMORY_GOAL), note="all of its processes"),
    ]


def _own_mib() -> int:
    with open("/proc/self/statm") as file:  # noqa: PTH123 - a figure of the kernel, no file
        resident, shared = map(int, file.read().split()[1:3])
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE") >> 20


@asynccontextmanager
async def _site() -> AsyncIterator[str]:
    """A page of usual size with scripts, styles and pictures."""

    async def part(request: web.Request) -> web.Response:
        kind = {"s": "text/javascript", "c": "text/css", "p": "image/svg+xml"}[request.match_info["kind"]]
        svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
        return web.Response(text=svg if "svg" in kind else "/* x */" * 500, content_type=kind)

    async def page(request: web.Request) -> web.Response:
        number = request.match_info["number"]
        loaded = "".join(
            f'<script src="/s/{at}"></script><link rel="stylesheet" href="/c/{at}"><img src="/p/{at}">'
            for at in range(PARTS)
        )
        body = "".join(f"<p>Line {at} of page {number}, with <a href='/{at}'>a link</a>.</p>" for at in range(200))
        return web.Response(text=f"<title>Page {number}</title>{loaded}{body}", content_type="text/html")

    app = web.Application()
    app.router.add_get("/{kind:[scp]}/{at}", part)
    app.router.add_get("/{number}", page)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
