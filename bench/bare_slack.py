"""The bare handler on slack-bolt, by Socket Mode: each message is answered in its thread. Nothing is kept.

A message with "write" gets a card with a button, and a press on it changes the card.

python -m bench.bare_slack --api-base URL --account JSON [--stream]
"""

from __future__ import annotations

import asyncio
import re
from typing import Any

from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from bench.ask import CARD, given


def card(text: str) -> list[dict[str, Any]]:
    label = {"type": "plain_text", "text": "Approve"}
    button = {"type": "button", "action_id": "approve", "value": text, "text": label}
    said = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    return [said, {"type": "actions", "elements": [button]}]


async def main() -> None:
    ask, account = given()
    client = AsyncWebClient(token=account["bot_token"], base_url=account["api_base_url"], retry_handlers=[])
    app = AsyncApp(client=client)

    @app.event("message")
    async def message(event: dict[str, Any], client: AsyncWebClient) -> None:
        if event.get("bot_id") or event.get("subtype"):
            return
        thread = event.get("thread_ts")
        if CARD in event["text"]:
            text, blocks = event["text"], card(event["text"])
            await client.chat_postMessage(channel=event["channel"], thread_ts=thread, text=text, blocks=blocks)
        else:
            await client.chat_postMessage(channel=event["channel"], thread_ts=thread, text=await ask(event["text"]))

    @app.action(re.compile(".*"))
    async def press(ack: AsyncAck, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        room, ts, [pressed] = body["channel"]["id"], body["message"]["ts"], body["actions"]
        await client.chat_update(channel=room, ts=ts, text=f"Approved: {pressed['value']}", blocks=[])

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
