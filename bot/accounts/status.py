"""Connection status of each account, and since when. Every other part reads it here; changes are logged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog

from runtime.contract import Connection, ConnectionStatus, Now

STATUS_INTERVAL: Final = timedelta(seconds=1)

log = structlog.get_logger("accounts")


class Stands(Protocol):
    """An account as far as this needs it; `name` is what people call it: `slack:work`."""

    @property
    def name(self) -> str: ...

    def standing(self) -> ConnectionStatus: ...


@dataclass(frozen=True, slots=True)
class State:
    """`since` is when the account came to be as it stands, as far as anybody looked."""

    account: str
    standing: ConnectionStatus
    since: datetime


Tell = Callable[[Sequence[State]], Awaitable[None]]


class AccountStatuses:
    """Statuses of all accounts of this process."""

    def __init__(self, accounts: Sequence[Stands], now: Now) -> None:
        self._accounts = accounts
        self._now = now
        self._states: dict[str, State] = {}

    def look(self) -> list[State]:
        """All of them, at this moment."""
        return [self._look_at(account) for account in self._accounts]

    async def run(self, tell: Tell | None, every: timedelta = STATUS_INTERVAL) -> None:
        """Look now and then, and `tell` what is seen, until cancelled."""
        while True:
            states = self.look()
            if tell:
                await tell(states)
            await asyncio.sleep(every.total_seconds())

    def _look_at(self, account: Stands) -> State:
        before, standing = self._states.get(account.name), account.standing()
        if before and before.standing.connection is standing.connection:
            state = State(account.name, standing, before.since)
        else:
            state = State(account.name, standing, self._now())
            _log(state, before)
        self._states[account.name] = state
        return state


def _log(state: State, before: State | None) -> None:
    """A page of our own is always there, and an account that begins has not failed yet."""
    connection = state.standing.connection
    if connection is Connection.CONNECTED and before is not None:
        log.info("connected", account=state.account)
    elif connection in (Connection.REFUSED, Connection.DEAF, Connection.RECONNECTING):
        log.warning(connection.value, account=state.account, reason=state.standing.reason)
