"""The workspaces of the fake Slack: tokens, people, channels and the names of ids.

Any workspace exists. Its tokens are `xoxb-T1-…` and `xapp-T1-…`, its app's bot is `U0BOT` (`B0BOT`), and what a channel
is, its id says: C public, G private, M a conversation of several people, D the direct messages of the user named in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from tests.fakes.slack_rules import Refused

APP_ID: Final = "A0APP"
BOT_USER: Final = "U0BOT"
BOT_ID: Final = "B0BOT"
BOT_NAME: Final = "signalbox"
NAMES: Final = {"U1": "Ada", "U2": "Bob"}
BOT_TOKEN: Final = re.compile(r"xoxb-(T\w+)-.+")
APP_TOKEN: Final = re.compile(r"xapp-(T\w+)-.+")
KINDS: Final = {"C": "channel", "G": "group", "M": "mpim", "D": "im"}
HISTORY: Final = {"channel": "channels", "group": "groups", "mpim": "mpim", "im": "im"}

SCOPES: Final = (
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:read",
    "chat:write",
    "chat:write.customize",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "metadata.message:read",
    "mpim:history",
    "mpim:read",
    "reactions:read",
    "reactions:write",
    "users:read",
)
"""What the app was granted, unless a test takes some away."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a method: its workspace, and whether its token is app-level."""

    team: str
    app_level: bool


def caller(token: str, *, app_level: bool) -> Caller:
    """The caller that `token` belongs to. Errors: Refused for a missing or wrong token, or one of the other kind."""
    if not token:
        raise Refused("not_authed")
    bot, app = BOT_TOKEN.fullmatch(token), APP_TOKEN.fullmatch(token)
    found = app if app_level else bot
    if found is None:
        raise Refused("not_allowed_token_type" if bot or app else "invalid_auth")
    return Caller(found[1], app_level)


def kind_of(channel: str) -> str:
    """channel, group, mpim or im. Errors: Refused for an id of no channel."""
    if not re.fullmatch(r"[CGMD][A-Z0-9]+", channel) or channel == "C0NONE":
        raise Refused("channel_not_found")
    return KINDS[channel[0]]


def direct(user: str) -> str:
    """The id of the direct messages between `user` and the bot."""
    return f"D{user}"


def profile(user: str) -> dict[str, Any]:
    name = NAMES.get(user, user)
    return {"id": user, "name": name.lower(), "real_name": name, "profile": {"display_name": name, "real_name": name}}
