"""The bare handler that everything is compared with: takes a message, asks the model, answers. Nothing is kept.

    python -m bench.bare --api-base URL [--stream]

prints its URL; `POST /message` {"text": …} answers {"text": …}.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from typing import Any

from aiohttp import web

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm


def application(api_base: str, *, stream: bool) -> web.Application:
    async def message(request: web.Request) -> web.Response:
        text = (await request.json())["text"]
        answer = await litellm.acompletion(
            model="openai/mock",
            api_base=api_base,
            api_key="none",
            messages=[{"role": "user", "content": text}],
            stream=stream,
        )
        return web.json_response({"text": await _joined(answer) if stream else answer.choices[0].message.content})

    app = web.Application()
    app.add_routes([web.post("/message", message)])
    return app


async def _joined(answer: Any) -> str:
    return "".join([chunk.choices[0].delta.content or "" async for chunk in answer if chunk.choices])


async def _serve(app: web.Application) -> None:
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="The bare handler.")
    parser.add_argument("--api-base", required=True)
    parser.add_argument("--stream", action="store_true")
    chosen = parser.parse_args()
    asyncio.run(_serve(application(chosen.api_base, stream=chosen.stream)))


if __name__ == "__main__":
    main()
