"""The bare handler that the page is compared with: takes a message, asks the model, answers. Nothing is kept.

    python -m bench.bare --api-base URL [--stream]

prints its URL; `POST /message` {"text": …} answers {"text": …}.
"""

from __future__ import annotations

import asyncio

from aiohttp import web

from bench.ask import Model, given


def application(ask: Model) -> web.Application:
    async def message(request: web.Request) -> web.Response:
        return web.json_response({"text": await ask((await request.json())["text"])})

    app = web.Application()
    app.add_routes([web.post("/message", message)])
    return app


async def _serve(app: web.Application) -> None:
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(application(given()[0])))
