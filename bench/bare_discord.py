"""The bare handler on discord.py: each message is answered in its channel. Nothing is kept.

A message with "write" gets a card with a button, and a press on it changes the card.

python -m bench.bare_discord --api-base URL --account JSON [--stream]
"""

from __future__ import annotations

import discord
from discord.gateway import DiscordWebSocket
from discord.http import Route
from yarl import URL

from bench.ask import CARD, given


class Card(discord.ui.View):
    @discord.ui.button(label="Approve")
    async def approve(self, interaction: discord.Interaction, button: discord.ui.Button[Card]) -> None:
        assert interaction.message
        await interaction.response.edit_message(content=f"Approved: {interaction.message.content}", view=None)


def main() -> None:
    ask, account = given()
    Route.BASE = account["api_base_url"].rstrip("/")
    DiscordWebSocket.DEFAULT_GATEWAY = URL(account["api_base_url"]).with_scheme("ws").with_path("/gateway")
    intents = discord.Intents.default()
    intents.message_content = True
    client = discord.Client(intents=intents)

    @client.event
    async def on_message(message: discord.Message) -> None:
        if message.author == client.user:
            return
        if CARD in message.content:
            await message.channel.send(message.content, view=Card())
        else:
            await message.channel.send(await ask(message.content))

    print(account["name"], flush=True)
    client.run(account["token"], log_handler=None)


if __name__ == "__main__":
    main()
