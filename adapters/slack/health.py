"""Connection status of a Slack account, in words that name the account and the fix."""

from __future__ import annotations

import logging

from adapters.slack.errors import TOKEN_TROUBLE, Refusal, token_fix
from runtime.contract import CONNECTED, Connection, ConnectionStatus
from runtime.errors import ChannelError

log = logging.getLogger(__name__)


class Health:
    """One account's standing: how its way in stands, unless its token, which answers need, is in trouble.

    Each change is told in the log once.
    """

    def __init__(self, account: str) -> None:
        self.who = f'Slack account "{account}"'
        self._was_up = False
        self._way_in = ConnectionStatus(Connection.CONNECTING, f"{self.who}: not connected yet")
        self._token: ConnectionStatus | None = None
        self._told = self.standing

    @property
    def standing(self) -> ConnectionStatus:
        return self._token or self._way_in

    def up(self) -> None:
        """Events reach us."""
        self._was_up, self._way_in = True, CONNECTED
        self._tell()

    def down(self, why: str) -> None:
        """Events do not reach us; it goes on by itself."""
        self._way_in = self._standing(self._on_the_way, why)
        self._tell()

    def deaf(self, why: str) -> None:
        self._way_in = self._standing(Connection.DEAF, why)
        self._tell()

    def no_way_in(self, error: ChannelError) -> None:
        """Note that no way in could be opened with the app's own token."""
        self._way_in = self._of(error, "app_token")
        self._tell()

    def no_token(self, error: ChannelError) -> None:
        """Note that a call with the bot's token failed."""
        self._token = self._of(error, "bot_token")
        self._tell()

    def token_works(self) -> None:
        self._token = None
        self._tell()

    @property
    def _on_the_way(self) -> Connection:
        return Connection.RECONNECTING if self._was_up else Connection.CONNECTING

    def _of(self, error: ChannelError, setting: str) -> ConnectionStatus:
        """A refusal must be mended by a person, and is tried again now and then; the rest goes on by itself."""
        if not isinstance(error, Refusal) or error.code not in TOKEN_TROUBLE:
            return self._standing(self._on_the_way, str(error))
        fix = token_fix(error.code, setting)
        return self._standing(Connection.REFUSED, f"{setting} is refused. {error}{' ' if fix else ''}{fix}")

    def _standing(self, connection: Connection, why: str) -> ConnectionStatus:
        return ConnectionStatus(connection, f"{self.who}: {why}")

    def _tell(self) -> None:
        if self.standing == self._told:
            return
        self._told = self.standing
        if self._told == CONNECTED:
            log.info("%s is connected", self.who)
        else:
            log.warning("%s", self._told.reason)
