"""Runs that wait for a time: a call puts its run to sleep, and a duty of any node wakes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

import structlog

from runtime.agent.run_state import LiveRun, own
from runtime.contract import Json, Now, ToolSpec
from runtime.domain.transcript import ERROR
from runtime.domain.triggers.awaiting import awaited
from runtime.errors import IllegalMove, StoreError, ToolError
from runtime.store.protocol import Runs, ToolStep

log = structlog.get_logger("agent")

LOOKS: Final = timedelta(seconds=2)
"""Between two looks for timers whose time has come: so late one may be."""


async def sleep(
    store: Runs, run: LiveRun, step: ToolStep, spec: ToolSpec, arguments: Mapping[str, Json], now: Now
) -> str | None:
    """Put the call to sleep; the reason in words where that can't be."""
    if spec.sleeps is None:
        raise IllegalMove(f"{spec.name} does not wait for a time")
    claim = run.claim
    try:
        until = spec.sleeps(arguments, now())
        wish = spec.awaits(arguments) if spec.awaits else None
    except ToolError as error:
        return f"{ERROR}{error}"
    kept = awaited(claim.run_id, step.number, wish, claim.address, until) if wish else None
    recorded = own(await store.sleep(claim.lane, claim.run_id, step.number, until, kept))
    run.watches |= kept is not None
    run.obey(recorded.stop)
    run.handed = True
    log.info("run sleeps", step=step.number, until=until.isoformat())
    return None


class Waking:
    """Wakes runs whose time has come. Any number of nodes may look; `ready` wakes whoever works on lanes."""

    def __init__(self, *, store: Runs, ready: Callable[[], None], every: timedelta = LOOKS) -> None:
        self._store = store
        self._ready = ready
        self._every = every

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._every.total_seconds())
            try:
                if await self._store.wake():
                    self._ready()
            except StoreError as error:
                log.debug("runs that sleep are not woken yet", reason=str(error))
