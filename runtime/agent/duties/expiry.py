"""Calls people about questions that wait, and ends those that nobody answered in time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final

import structlog

from runtime.contract import Address, Now, Probe, no_probe
from runtime.errors import StoreError
from runtime.store.protocol import Approvals, Decided

log = structlog.get_logger("expiry")

EXPIRY_INTERVAL: Final = timedelta(seconds=5)


class Expiry:
    """Looks at open questions now and then; any number of nodes may. `first` sees to the clock before each look, and the
    look goes by the time from before it: a clock that is set between the two would end what was not moved with it yet."""

    def __init__(
        self,
        *,
        approvals: Approvals,
        decided: Callable[[Decided], None],
        now: Now,
        first: Callable[[], Awaitable[None]],
        remind: Callable[[], Awaitable[Sequence[Address]]],
        every: timedelta | None = None,
        probe: Probe = no_probe,
    ) -> None:
        self._approvals = approvals
        self._decided = decided
        self._now = now
        self._first = first
        self._remind = remind
        self._every = EXPIRY_INTERVAL if every is None else every
        self._probe = probe

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._every.total_seconds())
            try:
                at = self._now()
                await self._first()
                if ended := await self._approvals.expire(at):
                    self._probe("questions-ended")
                for decided in ended:
                    self._decided(decided)
                if rooms := await self._remind():
                    self._probe("people-called")
                self._decided(Decided(deliveries=tuple(rooms)))
            except StoreError as error:
                log.debug("overdue questions are not ended yet", reason=str(error))
