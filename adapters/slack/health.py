"""How the account stands with Slack, in words that name it and the fix."""

from __future__ import annotations

import logging

from adapters.slack.errors import TOKEN_TROUBLE, Refusal, token_fix
from runtime.contract import CONNECTED, Connection, Standing
from runtime.errors import ChannelError

log = logging.getLogger(__name__)


class Health:
    """One account's standing. Each change is told once."""

    def __init__(self, account: str) -> None:
        self.who = f'Slack account "{account}"'
        self._was_up = False
        self.standing = Standing(Connection.CONNECTING, f"{self.who}: not connected yet")

    @property
    def connected(self) -> bool:
        return self.standing == CONNECTED

    def up(self) -> None:
        if not self.connected:
            log.info("%s is connected", self.who)
        self._was_up, self.standing = True, CONNECTED

    def down(self, why: str) -> None:
        """It goes on by itself."""
        self._is(Connection.RECONNECTING if self._was_up else Connection.CONNECTING, why)

    def deaf(self, why: str) -> None:
        self._is(Connection.DEAF, why)

    def refused(self, error: Refusal, setting: str) -> None:
        """A person must mend the token in `setting`, or the app; it is tried again now and then."""
        fix = token_fix(error.code, setting)
        self._is(Connection.REFUSED, f"{setting} is refused. {error}{' ' if fix else ''}{fix}")

    def of(self, error: ChannelError, setting: str) -> None:
        """What `error` of a call with the token in `setting` says."""
        if isinstance(error, Refusal) and error.code in TOKEN_TROUBLE:
            self.refused(error, setting)
        else:
            self.down(str(error))

    def _is(self, connection: Connection, why: str) -> None:
        standing = Standing(connection, f"{self.who}: {why}")
        if standing != self.standing:
            log.warning("%s", standing.reason)
        self.standing = standing
