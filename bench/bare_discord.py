"""The bare handler on discord.py: each message is answered in its channel. Nothing is kept.

python -m bench.bare_discord --api-base URL --account JSON [--stream]
"""

from __future__ import annotations

import discord
from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

from bench.ask import given


def main() -> None:
    ask, account = given()
    Route.BASE = account["api_base_url"].rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = URL(account["api_base_url"]).with_scheme("ws").with_path("/gateway")
    intents = discord.Intents.default()
    intents.message_content = True
    client = discord.Client(intents=intents)

    @client.event
    async def on_message(message: discord.Message) -> None:
        if message.author != client.user:
            await message.channel.send(await ask(message.content))

    print(account["name"], flush=True)
    client.run(account["token"], log_handler=None)


if __name__ == "__main__":
    main()
