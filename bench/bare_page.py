"""A page with nothing of ours: as many messages as a conversation opens with, in one HTML file that a bare handler serves.

What its first paint takes is the browser's and the machine's own part of ours.
"""

from __future__ import annotations

import asyncio
from typing import Final

from aiohttp import web

from bot.testing.serve import serve_until_told

MESSAGES: Final = 40
PAGE: Final = "<!doctype html><html lang=en><meta charset=utf-8><title>Bare</title><ol id=log>{messages}</ol></html>"
MESSAGE: Final = "<li class=message><p class=said>Answer {number}: a sheep jumps over the fence.</p></li>"


def app() -> web.Application:
    page = PAGE.format(messages="".join(MESSAGE.format(number=number) for number in range(MESSAGES)))

    async def index(_: web.Request) -> web.Response:
        return web.Response(text=page, content_type="text/html")

    bare = web.Application()
    bare.router.add_get("/", index)
    return bare


if __name__ == "__main__":
    asyncio.run(serve_until_told(app(), 0))
