"""The slice of the settings that a Discord account needs."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from runtime.errors import ConfigError

PLATFORM: Final = "https://discord.com/api/v10"


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits of the account. Tests shorten all of them."""

    call: timedelta = timedelta(seconds=25)  # for an answer; the courier gives a send 30 s
    connect: timedelta = timedelta(seconds=8)
    # Discord wants a heartbeat each 41.25 s, answers each, and allows 120 events a minute: one more after so long without
    # a word tells of a dead socket before 20 s are over. Source: discord.com/developers/docs/events/gateway, read 2026-08.
    urge: timedelta = timedelta(seconds=8)
    quiet: timedelta = timedelta(seconds=17)  # a socket on which nothing at all came for so long is deaf
    identify: timedelta = timedelta(seconds=5)  # Discord starts one session each 5 s
    guilds: timedelta = timedelta(seconds=2)  # in which servers are told after a session began
    again: timedelta = timedelta(seconds=1)  # after the first failure in a row; it doubles
    again_most: timedelta = timedelta(seconds=30)
    refused: timedelta = timedelta(seconds=30)  # until a refusal is tried again; it doubles
    refused_most: timedelta = timedelta(minutes=5)  # 288 sessions a day, of the 1,000 that Discord allows
    store: timedelta = timedelta(seconds=1)  # until an event that could not be stored is tried again
    turn: timedelta = timedelta(seconds=2)  # that a question put as a command waits for what was said before it
    press: timedelta = timedelta(minutes=5)  # for so long a press or command is tried, then given up


@dataclass(frozen=True, slots=True)
class DiscordSettings:
    """One bot. `api_base_url` is a server that speaks as Discord's API does, up to its version; empty: the platform.

    `shards` is the number of connections that share the servers; 0: as many as Discord recommends, in one process.
    With `thread_per_conversation` a mention in a channel is answered in a thread of its own.
    """

    account: str
    token: str = field(repr=False)
    api_base_url: str = ""
    shards: int = 0
    thread_per_conversation: bool = False
    waits: Waits = Waits()

    @property
    def identity(self) -> str:
        """The bot's id: the first part of its token says it. Errors: ConfigError when this is no such token."""
        first, *others = self.token.split(".")
        try:
            number = base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)).decode("ascii")
        except (binascii.Error, ValueError):
            number = ""
        if len(others) < 2 or not number.isdigit():
            raise ConfigError(
                f'account "{self.account}": its token is not a Discord bot token. A bot token has three parts with dots '
                "between them. Find it under Bot in the application at https://discord.com/developers/applications"
            )
        return number

    @property
    def server(self) -> str:
        return (self.api_base_url or PLATFORM).rstrip("/")
