"""The shards of an account: how many there are, which of them this process listens to, and how they stand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Protocol

from discord.http import Route

from adapters.discord.errors import ours
from adapters.discord.http import Http
from adapters.discord.incoming.gateway import Line, Turn, grown
from adapters.discord.incoming.intake import Intake
from adapters.discord.settings import DiscordSettings
from runtime.contract import Connection, ConnectionStatus, Sink
from runtime.errors import Retryable

ALL_SHARDS: Final = "gateway"
"""The listener of an account whose shards Discord counts: all of them in one process."""
WORST_FIRST: Final = (
    Connection.REFUSED,
    Connection.DEAF,
    Connection.RECONNECTING,
    Connection.CONNECTING,
    Connection.CONNECTED,
)


class MakeIntake(Protocol):
    """Makes what takes in the events of one shard."""

    def __call__(self, *, sink: Sink, group: asyncio.TaskGroup, shard: int) -> Intake: ...


class Shards:
    """Each is a listener of its own where their number is set: then they may be on different nodes."""

    def __init__(
        self,
        settings: DiscordSettings,
        *,
        http: Http,
        make_intake: MakeIntake,
    ) -> None:
        self._settings = settings
        self._http = http
        self._make_intake = make_intake
        self._turn = Turn(settings.waits.identify)
        self._lines: list[Line] = []
        self._before = self._standing(Connection.CONNECTING, "not connected to Discord yet")

    def listeners(self) -> Sequence[str]:
        count = self._settings.shards
        return [f"shard-{number}-of-{count}" for number in range(count)] or [ALL_SHARDS]

    def standing(self) -> ConnectionStatus:
        """Status of the worst shard here."""
        standings = [line.standing for line in self._lines] or [self._before]
        return min(standings, key=lambda one: WORST_FIRST.index(one.connection))

    async def attend(self, listener: str, sink: Sink) -> None:
        """Listen to that shard, or to all, until cancelled."""
        count = self._settings.shards or await self._recommended()
        shards = range(count) if listener == ALL_SHARDS else [self.listeners().index(listener)]
        async with asyncio.TaskGroup() as group:
            for shard in shards:
                group.create_task(self._serve(shard, count, sink))

    async def _serve(self, shard: int, count: int, sink: Sink) -> None:
        async with asyncio.TaskGroup() as group:
            intake = self._make_intake(sink=sink, group=group, shard=shard)
            line = Line(self._settings, intake.hear, self._turn, shard=shard, count=count)
            intake.welcomed = line.welcomed
            self._lines.append(line)
            try:
                await line.keep()
            finally:
                self._lines.remove(line)

    async def _recommended(self) -> int:
        """As many as Discord says, once it does."""
        failures = 0
        while True:
            try:
                answer = await self._http.request(Route("GET", "/gateway/bot"))
                return int(answer["shards"])
            except Exception as error:  # noqa: BLE001 - what it comes to is looked at
                failures += 1
                await asyncio.sleep(self._not_told(error, failures).total_seconds())

    def _not_told(self, error: Exception, failures: int) -> timedelta:
        """Keep the failure as the connection's status. Returns the wait before the next try, grown with `failures`."""
        failure, waits = ours(error, self._settings.account, reads=True), self._settings.waits
        is_refused = getattr(error, "status", 0) in (401, 403)
        self._before = ConnectionStatus(Connection.REFUSED if is_refused else Connection.CONNECTING, str(failure))
        named = failure.retry_after if isinstance(failure, Retryable) else None
        if is_refused:
            return grown(waits.refused, failures, waits.refused_most)
        return max(grown(waits.again, failures, waits.again_most), named or timedelta())

    def _standing(self, connection: Connection, words: str) -> ConnectionStatus:
        return ConnectionStatus(connection, f'account "{self._settings.account}": {words}')
