"""The slice of the settings that a Telegram account needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal

from runtime.errors import ConfigError

PLATFORM: Final = "https://api.telegram.org"
ROUTE: Final = "/telegram/{account}"


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits of the account. Tests shorten all of them."""

    # The platform holds a poll so long when there is nothing to tell. A way that went silent is noticed once it and `margin`
    # are over: together less than the 20 s in which /readyz tells of a platform.
    poll: timedelta = timedelta(seconds=10)
    margin: timedelta = timedelta(seconds=8)  # a poll that is not back by then is deaf
    call: timedelta = timedelta(seconds=25)  # for the answer to any other call; the courier gives a send 30 s
    connect: timedelta = timedelta(seconds=5)
    album: timedelta = timedelta(seconds=0.7)  # in which the rest of an album comes
    again: timedelta = timedelta(seconds=1)  # after the first failure in a row; it doubles
    again_most: timedelta = timedelta(seconds=30)
    refused: timedelta = timedelta(seconds=15)  # until a refusal is tried again
    watch: timedelta = timedelta(seconds=60)  # between two looks at a webhook
    look: timedelta = timedelta(seconds=20)  # one call of `settle` takes no longer
    probe_all: timedelta = timedelta(seconds=0.05)  # between two probes of the account
    probe_chat: timedelta = timedelta(seconds=1)  # … of a private chat
    probe_group: timedelta = timedelta(seconds=3)  # … of a group

    def after(self, failures: int) -> timedelta:
        """The wait after so many failures in a row."""
        grown: timedelta = min(self.again * 2 ** min(failures - 1, 10), self.again_most)
        return grown


@dataclass(frozen=True, slots=True)
class TelegramSettings:
    """One bot. `api_base_url` is a server that speaks as the platform does; empty: the platform.

    With `mode` "webhook" the platform brings its updates to `webhook_url`, which reaches the port of the page, and shows
    `webhook_secret` with each.
    """

    account: str
    token: str = field(repr=False)
    mode: Literal["polling", "webhook"] = "polling"
    webhook_url: str = ""
    webhook_secret: str = field(default="", repr=False)
    api_base_url: str = ""
    waits: Waits = Waits()

    @property
    def identity(self) -> str:
        """The bot's id: it stands before the colon of its token. Errors: ConfigError when this is no such token."""
        number, colon, secret = self.token.partition(":")
        if not (number.isascii() and number.isdigit() and colon and secret):
            raise ConfigError(
                f'account "{self.account}": its token is not a Telegram token: digits, a colon and 35 characters, '
                "as @BotFather gives it"
            )
        return number

    @property
    def server(self) -> str:
        return (self.api_base_url or PLATFORM).rstrip("/")

    @property
    def route(self) -> str:
        """Path on the page's port to which the platform brings its updates."""
        return ROUTE.format(account=self.account)

    @property
    def hook(self) -> str:
        """The address that the platform is told. `webhook_url` may name the route's beginning, or all of it."""
        base = self.webhook_url.rstrip("/")
        if base.endswith(self.route):
            return base
        return base.removesuffix("/telegram") + self.route
