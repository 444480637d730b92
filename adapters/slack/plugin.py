"""Slack as the program knows it: its table of settings, its tokens, and the adapter that comes of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final, Literal

from pydantic import Field

from adapters.slack.settings import SlackSettings
from runtime.contract import AccountSecret, AdapterContext, ChannelAdapter, ChannelPlugin, Finding, TokenForm
from runtime.settings.accounts import Account, of_form
from runtime.settings.types import Secret

# Forms may get longer: lengths are the least seen. Source: api.slack.com/concepts/token-types, read 2026-08.
BOT_TOKEN: Final = TokenForm(
    "a Slack bot token",
    re.compile(r"xoxb-[A-Za-z0-9-]{8,}"),
    looks="it begins with xoxb- and is under OAuth & Permissions in the app",
    begins=re.compile(r"xoxb-"),
)
APP_TOKEN: Final = TokenForm(
    "a Slack app-level token",
    re.compile(r"xapp-[A-Za-z0-9-]{8,}"),
    looks="it begins with xapp- and is under Basic Information in the app, App-Level Tokens",
    begins=re.compile(r"xapp-"),
)
SIGNING_SECRET: Final = TokenForm(
    "a Slack signing secret",
    re.compile(r"[0-9a-f]{32}"),
    looks="32 digits and letters a to f, under Basic Information in the app",
    vague=True,
)
USER_TOKEN: Final = TokenForm("a Slack user token", re.compile(r"xoxp-[A-Za-z0-9-]{8,}"))
CONFIGURATION_TOKEN: Final = TokenForm("a Slack app configuration token", re.compile(r"xoxe[.-][A-Za-z0-9.-]{8,}"))


class SlackAccount(Account):
    """A Slack app in one workspace, made from config/slack-manifest.yaml: [channels/slack.md](channels/slack.md)."""

    channel: Literal["slack"] = Field(description="This table is for a Slack app.")
    bot_token: Annotated[Secret, of_form(BOT_TOKEN)] = Field(
        default=None, description='The bot token ("xoxb-…"), found under OAuth & Permissions in the app.'
    )
    bot_token_env: str = Field(
        default="",
        description="Name of the variable or sealed secret that holds `bot_token`. Default: SLACK_BOT_TOKEN.",
    )
    app_token: Annotated[Secret, of_form(APP_TOKEN)] = Field(
        default=None, description='The app-level token ("xapp-…", scope connections:write), for Socket Mode.'
    )
    app_token_env: str = Field(
        default="",
        description="Name of the variable or sealed secret that holds `app_token`. Default: SLACK_APP_TOKEN.",
    )
    signing_secret: Annotated[Secret, of_form(SIGNING_SECRET)] = Field(
        default=None, description="The signing secret, found under Basic Information in the app; for `mode` http."
    )
    signing_secret_env: str = Field(
        default="",
        description="Name of the variable or sealed secret that holds `signing_secret`. Default: SLACK_SIGNING_SECRET.",
    )
    mode: Literal["socket", "http"] = Field(
        default="socket",
        description='"socket": Signalbox opens a connection to Slack; "http": Slack sends signed requests to the '
        "page's port.",
    )


def settings_of(account: SlackAccount) -> SlackSettings:
    is_socket = account.mode == "socket"
    return SlackSettings(
        account=account.name,
        bot_token=account.secret("bot_token"),
        app_token=account.secret("app_token") if is_socket else "",
        signing_secret="" if is_socket else account.secret("signing_secret"),
        mode=account.mode,
        api_base_url=account.api_base_url,
    )


def make(account: SlackAccount, given: AdapterContext) -> ChannelAdapter:
    from adapters.slack.adapter import SlackAdapter

    return SlackAdapter(settings_of(account), given)


async def check(account: SlackAccount) -> Sequence[Finding]:
    from adapters.slack.checks import checked

    return await checked(settings_of(account))


PLUGIN: Final = ChannelPlugin(
    "slack",
    "Slack",
    SlackAccount,
    make,
    secrets={
        "bot_token": AccountSecret(BOT_TOKEN, "SLACK_BOT_TOKEN", "Bot token, xoxb-…"),
        "app_token": AccountSecret(APP_TOKEN, "SLACK_APP_TOKEN", "App-level token, xapp-…", ("socket",)),
        "signing_secret": AccountSecret(SIGNING_SECRET, "SLACK_SIGNING_SECRET", "Signing secret", ("http",)),
    },
    others=(USER_TOKEN, CONFIGURATION_TOKEN),
    modes=("socket", "http"),
    setup="At https://api.slack.com/apps, make an app from the manifest config/slack-manifest.yaml, install it, and make an\n"
    "app-level token with connections:write. More: docs/channels/slack.md",
    check=check,
)
