"""The way of one account to its platform, as its calls find it: open, in doubt, or lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, TypeVar

from runtime.contract import Connection, ConnectionStatus
from runtime.domain.clock import steady
from runtime.domain.failover import Way
from runtime.errors import Uncertain

T = TypeVar("T")

DOWN: Final = frozenset({Connection.RECONNECTING, Connection.DEAF})
"""A connection that was there. One that is being made for the first time may take long, and a refusal is the same anywhere."""


class Reachability:
    """Notes how calls end. `on_hold`: nothing is sent for the moment; `silence` is set while a call is unanswered."""

    def __init__(self, name: str, clock: Callable[[], float] = steady) -> None:
        self._name = name
        self._clock = clock
        self._answered = clock()
        self._unanswered = 0
        self._down_since: float | None = None
        self._reason = ""
        self.on_hold = False
        self.silence = asyncio.Event()

    async def tried(self, call: Awaitable[T]) -> T:
        """The outcome of a send or an edit, which tells of the way too.

        What was not even sent tells nothing: an adapter refuses, or puts off, some things by itself.
        """
        try:
            outcome = await call
        except Uncertain as error:
            self.unanswered(str(error))
            raise
        self.answered()
        return outcome

    def answered(self) -> None:
        self._answered = self._clock()
        self._unanswered = 0
        self.silence.clear()

    def unanswered(self, reason: str) -> None:
        self._unanswered += 1
        self._reason = reason
        self.silence.set()

    def connected(self, connection: Connection) -> None:
        """Note the status of the account's own connection, if another node could hold it."""
        if connection not in DOWN:
            self._down_since = None
        elif self._down_since is None:
            self._down_since = self._clock()

    def silent(self) -> timedelta:
        return timedelta(seconds=self._clock() - self._answered)

    def way(self) -> Way:
        now = self._clock()
        down = None if self._down_since is None else timedelta(seconds=now - self._down_since)
        return Way(timedelta(seconds=now - self._answered), self._unanswered, down)

    def trouble(self) -> ConnectionStatus | None:
        """None unless the platform has not answered for so long that nothing can be said there from here."""
        way = self.way()
        if not way.is_cut:
            return None
        what = f"no reply from the platform for {way.silent.total_seconds():.0f} s ({self._reason})"
        return ConnectionStatus(Connection.RECONNECTING, f"{self._name}: {what}. Retrying automatically.")
