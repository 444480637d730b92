"""Setbacks of an account: what broke just now, for as long as it waits to be tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from runtime.contract import ConnectionStatus


@dataclass(frozen=True, slots=True, eq=False)
class _Setback:
    standing: ConnectionStatus
    ends: float


class Setbacks:
    """Each stands from the break to the next try, and not beyond: whoever waits may be cancelled meanwhile, as with the
    loss of the lease, and what begins anew afterwards would inherit a trouble that nothing ends."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._now: dict[str, _Setback] = {}

    async def rest(self, what: str, standing: ConnectionStatus, pause: timedelta) -> None:
        """Wait that long until `what` is tried again, and stand as `standing` until then."""
        setback = self._now[what] = _Setback(standing, self._clock() + pause.total_seconds())
        try:
            await asyncio.sleep(pause.total_seconds())
        finally:
            if self._now.get(what) is setback:
                del self._now[what]

    def standing(self) -> ConnectionStatus | None:
        """The one that came first; None while nothing is broken."""
        return next((each.standing for each in self._now.values()), None)

    def overdue(self, by: timedelta) -> str | None:
        """Words of one that should have been tried again so long ago: nobody waits for it any more."""
        until = self._clock() - by.total_seconds()
        return next((each.standing.reason for each in self._now.values() if each.ends < until), None)
