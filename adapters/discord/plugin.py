"""Discord as the program knows it: its table of settings, its token, and the adapter that comes of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final, Literal

from pydantic import Field

from adapters.discord.settings import DiscordSettings
from runtime.contract import AccountSecret, AdapterContext, ChannelAdapter, ChannelPlugin, Finding, TokenForm
from runtime.settings.accounts import Account, of_form
from runtime.settings.types import Secret, Switch, Whole

MOST_SHARDS: Final = 1024
BOT_TOKEN: Final = TokenForm(
    "a Discord bot token",
    # Forms may get longer: lengths are the least seen. Source: discord.com/developers/docs/reference, read 2026-08.
    re.compile(r"[A-Za-z0-9_-]{18,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{20,}"),
    looks="three parts with dots between them, found under Bot in the application",
    begins=re.compile(r"[A-Za-z0-9_-]{18,}\."),
)


class DiscordAccount(Account):
    """A Discord bot, made in the developer portal: [channels/discord.md](channels/discord.md)."""

    channel: Literal["discord"] = Field(description="This table is for a Discord bot.")
    token: Annotated[Secret, of_form(BOT_TOKEN)] = Field(
        default=None, description="The bot's token, found under Bot in the application."
    )
    token_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `token`. Default: DISCORD_BOT_TOKEN."
    )
    shards: Whole = Field(
        default=0,
        ge=0,
        le=MOST_SHARDS,
        description="Number of connections that share the servers; 0: as many as Discord recommends.",
    )
    thread_per_conversation: Switch = Field(
        default=False, description="Answer a mention in a new thread, where no further mention is needed."
    )


def settings_of(account: DiscordAccount) -> DiscordSettings:
    return DiscordSettings(
        account=account.name,
        token=account.secret("token"),
        api_base_url=account.api_base_url,
        shards=account.shards,
        thread_per_conversation=account.thread_per_conversation,
    )


def make(account: DiscordAccount, given: AdapterContext) -> ChannelAdapter:
    from adapters.discord.adapter import DiscordAdapter

    return DiscordAdapter(settings_of(account), given)


async def check(account: DiscordAccount) -> Sequence[Finding]:
    from adapters.discord.checks import checked

    return await checked(settings_of(account))


PLUGIN: Final = ChannelPlugin(
    "discord",
    "Discord",
    DiscordAccount,
    make,
    secrets={"token": AccountSecret(BOT_TOKEN, "DISCORD_BOT_TOKEN", "Bot token")},
    setup="At https://discord.com/developers/applications, make an application. Under Bot, turn on Message Content Intent\n"
    "and make a token. More: docs/channels/discord.md",
    loggers=("discord",),
    check=check,
)
