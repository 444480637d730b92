"""`[[accounts]]`: one table for each account on a chat platform, told apart by `channel`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from bot.secrets.token_forms import Token, fault_of
from bot.settings.types import Number, Proof, Secret, Section, Switch, Whole

NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
# What Telegram takes as secret_token. Source: core.telegram.org/bots/api#setwebhook, read 2026-08.
WEBHOOK_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{1,256}")
MOST_SHARDS: Final = 1024


def _named(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ValueError('a name of at most 32 small letters, digits and dashes, such as "work"')
    return name


def _shown_by_telegram(value: SecretStr | None) -> SecretStr | None:
    if value and not WEBHOOK_SECRET.fullmatch(value.get_secret_value()):
        raise ValueError("at most 256 letters, digits, dashes and underscores")
    return value


def _is(wanted: Token) -> AfterValidator:
    """A token of that kind, or none."""

    def check(value: SecretStr | None) -> SecretStr | None:
        fault = fault_of(value.get_secret_value(), wanted) if value else None
        if fault:
            raise ValueError(fault)
        return value

    return AfterValidator(check)


def _server(url: str) -> str:
    if url and not _is_address(url, "http", "https"):
        raise ValueError('an address such as "http://127.0.0.1:8081", or nothing for the real platform')
    return url


def _public(url: str) -> str:
    if url and not _is_address(url, "http", "https"):
        raise ValueError('the address under which the platform reaches us, such as "https://bot.example.org/telegram"')
    return url


def _is_address(url: str, *schemes: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        return False


AccountName = Annotated[str, AfterValidator(_named)]
ServerUrl = Annotated[str, AfterValidator(_server)]
PublicUrl = Annotated[str, AfterValidator(_public)]


class Account(Section):
    """What every account has."""

    channel: str = Field(description="Its platform.")
    name: AccountName = Field(
        description="What people call it, in addresses too: small letters, digits and dashes. Each has its own."
    )
    enabled: Switch = Field(default=True, description="false: it is left alone, as if it were not here.")
    messages_per_second: Number = Field(
        default=0,
        ge=0,
        le=1000,
        description="Most that is sent in a second to all rooms together, in place of the platform's own bounds; 0: those.",
    )
    api_base_url: ServerUrl = Field(
        default="", description="Another server that speaks as the platform does; empty: the platform."
    )


class TelegramAccount(Account):
    """A Telegram bot, made with @BotFather: [channels/telegram.md](channels/telegram.md)."""

    channel: Literal["telegram"] = Field(description="This table is for a Telegram bot.")
    token: Annotated[Secret, _is(Token.TELEGRAM)] = Field(default=None, description="The token @BotFather gave.")
    token_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `token`; else TELEGRAM_BOT_TOKEN."
    )
    mode: Literal["polling", "webhook"] = Field(
        default="polling",
        description='"polling": we ask for messages; "webhook": Telegram brings them to `webhook_url`.',
    )
    webhook_url: PublicUrl = Field(
        default="", description="Address under which Telegram reaches the page's port, with HTTPS; for webhooks."
    )
    webhook_secret: Annotated[Proof, AfterValidator(_shown_by_telegram)] = Field(
        default=None,
        description="What Telegram shows with each message, for webhooks: at least 16 characters; else "
        "made from the token.",
    )
    webhook_secret_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `webhook_secret`."
    )


class SlackAccount(Account):
    """A Slack app in one workspace, made from config/slack-manifest.yaml: [channels/slack.md](channels/slack.md)."""

    channel: Literal["slack"] = Field(description="This table is for a Slack app.")
    bot_token: Annotated[Secret, _is(Token.SLACK_BOT)] = Field(
        default=None, description='The bot token ("xoxb-…"), under OAuth & Permissions of the app.'
    )
    bot_token_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `bot_token`; else SLACK_BOT_TOKEN."
    )
    app_token: Annotated[Secret, _is(Token.SLACK_APP)] = Field(
        default=None, description='The app-level token ("xapp-…", scope connections:write), for Socket Mode.'
    )
    app_token_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `app_token`; else SLACK_APP_TOKEN."
    )
    signing_secret: Annotated[Secret, _is(Token.SLACK_SIGNING)] = Field(
        default=None, description="The signing secret, under Basic Information of the app, for `mode` http."
    )
    signing_secret_env: str = Field(
        default="",
        description="Name of the variable or sealed secret that holds `signing_secret`; else SLACK_SIGNING_SECRET.",
    )
    mode: Literal["socket", "http"] = Field(
        default="socket",
        description='"socket": we open a connection to Slack; "http": Slack sends signed requests to the page\'s port.',
    )


class DiscordAccount(Account):
    """A Discord bot, made in the developer portal: [channels/discord.md](channels/discord.md)."""

    channel: Literal["discord"] = Field(description="This table is for a Discord bot.")
    token: Annotated[Secret, _is(Token.DISCORD)] = Field(
        default=None, description="The bot's token, under Bot of the application."
    )
    token_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `token`; else DISCORD_BOT_TOKEN."
    )
    shards: Whole = Field(
        default=0,
        ge=0,
        le=MOST_SHARDS,
        description="Connections that share the servers among them; 0: as many as Discord recommends.",
    )
    thread_per_conversation: Switch = Field(
        default=False, description="Answer a mention in a thread of its own, which needs no further mention."
    )


AnyAccount = Annotated[TelegramAccount | SlackAccount | DiscordAccount, Field(discriminator="channel")]
CHANNELS: Final[Mapping[str, type[Account]]] = {
    "telegram": TelegramAccount,
    "slack": SlackAccount,
    "discord": DiscordAccount,
}
