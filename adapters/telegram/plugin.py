"""Telegram as the program knows it: its table of settings, its token, and the adapter that comes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, SecretStr

from adapters.telegram.settings import TelegramSettings
from runtime.contract import AccountSecret, AdapterContext, ChannelAdapter, ChannelPlugin, Finding, TokenForm
from runtime.settings.accounts import Account, HookUrl, of_form
from runtime.settings.types import Proof, Secret

# What Telegram takes as secret_token. Source: core.telegram.org/bots/api#setwebhook, read 2026-08.
WEBHOOK_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{1,256}")
BOT_TOKEN: Final = TokenForm(
    "a Telegram bot token",
    # Forms may get longer: lengths are the least seen. Source: core.telegram.org/bots/features, read 2026-08.
    re.compile(r"\d{3,}:[A-Za-z0-9_-]{30,}"),
    looks="digits, a colon and 35 characters, as @BotFather gives it",
    begins=re.compile(r"\d{3,}:"),
)


def _shown_by_telegram(value: SecretStr | None) -> SecretStr | None:
    if value and not WEBHOOK_SECRET.fullmatch(value.get_secret_value()):
        raise ValueError("at most 256 letters, digits, dashes and underscores")
    return value


class TelegramAccount(Account):
    """A Telegram bot, made with @BotFather: [channels/telegram.md](channels/telegram.md)."""

    channel: Literal["telegram"] = Field(description="This table is for a Telegram bot.")
    token: Annotated[Secret, of_form(BOT_TOKEN)] = Field(
        default=None, description="The token that @BotFather gave you."
    )
    token_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `token`. Default: TELEGRAM_BOT_TOKEN."
    )
    mode: Literal["polling", "webhook"] = Field(
        default="polling",
        description='"polling": Signalbox asks for messages; "webhook": Telegram sends them to `webhook_url`.',
    )
    webhook_url: HookUrl = Field(
        default="", description="HTTPS address where Telegram reaches the page's port; for webhooks."
    )
    webhook_secret: Annotated[Proof, AfterValidator(_shown_by_telegram)] = Field(
        default=None,
        description="Secret that Telegram sends with each message; for webhooks: at least 16 characters. "
        "Default: made from the token.",
    )
    webhook_secret_env: str = Field(
        default="", description="Name of the variable or sealed secret that holds `webhook_secret`."
    )


def settings_of(account: TelegramAccount) -> TelegramSettings:
    token = account.secret("token")
    return TelegramSettings(
        account=account.name,
        token=token,
        mode=account.mode,
        webhook_url=account.webhook_url,
        webhook_secret=account.secret("webhook_secret") if account.webhook_secret else derived_secret(token),
        api_base_url=account.api_base_url,
    )


def derived_secret(token: str) -> str:
    """Webhook secret made from the token: stable over nodes and starts, and not reversible."""
    return sha256(f"webhook:{token}".encode()).hexdigest()


def make(account: TelegramAccount, given: AdapterContext) -> ChannelAdapter:
    from adapters.telegram.adapter import TelegramAdapter

    return TelegramAdapter(settings_of(account), given)


async def check(account: TelegramAccount) -> Sequence[Finding]:
    from adapters.telegram.checks import checked

    return await checked(settings_of(account))


def faults(table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Telegram brings messages to an address with HTTPS; only a server of one's own does without."""
    url = table.get("webhook_url", "")
    if table.get("mode") != "webhook":
        return
    if not url:
        yield "webhook_url", 'is missing; set the address where Telegram reaches Signalbox, or mode "polling"'
    elif isinstance(url, str) and url.startswith("http://") and not table.get("api_base_url"):
        yield "webhook_url", "Telegram only sends messages to an https:// address"


PLUGIN: Final = ChannelPlugin(
    "telegram",
    "Telegram",
    TelegramAccount,
    make,
    secrets={"token": AccountSecret(BOT_TOKEN, "TELEGRAM_BOT_TOKEN", "Bot token")},
    modes=("polling", "webhook"),
    setup="Talk to @BotFather in Telegram: /newbot makes a bot and gives you its token. More: docs/channels/telegram.md",
    faults=faults,
    check=check,
)
