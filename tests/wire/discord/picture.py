"""A picture for docs/channels/discord.md: a card and a table, as others draw Discord's messages.

pip install "simcord[preview]"
python -m tests.wire.discord.picture docs/pictures/discord.png
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import discord
import simcord
from discord.http import Route

from adapters.discord.outgoing.render import render
from adapters.discord.outgoing.send import CALLS_NOBODY
from runtime.chat.cards.open_cards import pending
from runtime.contract import Content
from tests.drawings.situations import ASKED, OFFERED
from tests.e2e.browser import chromium, executable
from tests.wire.discord.stage import delivery

REQUEST: Final = "write down what we have to do today"
CARD: Final = pending(replace(OFFERED, requester_name="Ada", request=f"“{REQUEST}”"), ASKED)
DONE: Final = Content(
    "Done. What is left:\n\n| task | who | by |\n| :-- | :-- | --: |\n| call Bob | Ada | 10:00 |\n"
    "| `make test` | me | 11:30 |\n\n> *Nothing else is planned for today.*"
)
WINDOW: Final[Any] = {"width": 1100, "height": 1000}
PART: Final[Any] = {"x": 298, "y": 222, "width": 762, "height": 610}  # of the window that is the conversation


async def shown(client: discord.Client, channel: int, *contents: Content) -> None:
    route = Route("POST", "/channels/{channel_id}/messages", channel_id=channel)
    for content in contents:
        for wire in render(delivery(content.text, *content.buttons)):
            await client.http.request(route, json={**json.loads(wire.body), **CALLS_NOBODY})


async def draw(into: Path, program: str) -> None:
    client = discord.Client(intents=discord.Intents(guilds=True, guild_messages=True, message_content=True))
    async with simcord.run(client) as env:
        env.backend.bot_user.name = "Signalbox"
        guild = env.create_guild("Lab")
        channel = guild.create_text_channel("general")
        ada = guild.add_member(env.create_user("Ada"))
        assert client.user
        await ada.send(channel, f"<@{client.user.id}> {REQUEST}")
        await shown(client, channel.id, CARD, DONE)
        async with (
            env.preview(channel, viewers=[ada], layout="channel", display="fixed", width=760, height=740) as preview,
            chromium(program) as browser,
        ):
            page = await browser.new_page(viewport=WINDOW)
            await page.goto(preview.url)
            await page.get_by_text("Nothing else is planned").last.wait_for()
            await page.screenshot(path=into, clip=PART)


def main() -> None:
    program = executable()
    if program is None:
        sys.exit("There is no Chromium here; tests/setup.sh chromium installs one.")
    asyncio.run(draw(Path(sys.argv[1]), program))


if __name__ == "__main__":
    main()
