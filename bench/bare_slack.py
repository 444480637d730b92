"""The bare handler on slack-bolt, by Socket Mode: each message is answered in its thread. Nothing is kept.

python -m bench.bare_slack --api-base URL --account JSON [--stream]
"""

from __future__ import annotations

import asyncio
from typing import Any

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from bench.ask import given


async def main() -> None:
    ask, account = given()
    client = AsyncWebClient(token=account["bot_token"], base_url=account["api_base_url"], retry_handlers=[])
    app = AsyncApp(client=client)

    @app.event("message")
    async def message(event: dict[str, Any], client: AsyncWebClient) -> None:
        if not event.get("bot_id") and not event.get("subtype"):
            thread = event.get("thread_ts")
            await client.chat_postMessage(channel=event["channel"], thread_ts=thread, text=await ask(event["text"]))

    @app.event("app_mention")
    async def mention(event: dict[str, Any]) -> None:
        """It comes as a message too."""

    handler = AsyncSocketModeHandler(app, account["app_token"])
    assert isinstance(handler.client, SocketModeClient)
    handler.client.web_client = AsyncWebClient(
        token=account["app_token"], base_url=account["api_base_url"], retry_handlers=[]
    )
    print(account["name"], flush=True)
    await handler.start_async()  # type: ignore[no-untyped-call]  # the SDK's own


if __name__ == "__main__":
    asyncio.run(main())
