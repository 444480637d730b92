"""Claims ready lanes and has the agent work on them, many side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Final, Protocol

import structlog

from runtime.contract import Bell, Busy, Probe, no_probe
from runtime.errors import StoreError
from runtime.intake import LANES
from runtime.store.protocol import Claim, Lane, Lanes, Lease

log = structlog.get_logger("dispatch")

POLL: Final = timedelta(seconds=1)
"""How often to look without a wake-up: another node may have made a lane ready."""
PATIENCE: Final = timedelta(seconds=1)
BROKEN: Final = "Something went wrong inside Signalbox, so I could not finish this. The operator's log says what."


class Worker(Protocol):
    """What the agent offers."""

    async def work(self, claim: Claim) -> bool: ...

    async def fail(self, claim: Claim, text: str) -> bool: ...


class Dispatch:
    """Keeps up to `width` runs going. `pause` lets those that run come to an end and claims no more."""

    def __init__(
        self,
        *,
        store: Lanes,
        lease: Lease,
        agent: Worker,
        bell: Bell,
        busy: Busy,
        lease_is_fresh: Callable[[], bool],
        width: int = 64,
        probe: Probe = no_probe,
    ) -> None:
        self._store = store
        self._lease = lease
        self._agent = agent
        self._ear = bell.listen(LANES)
        self._bell = bell
        self._busy = busy
        self._lease_is_fresh = lease_is_fresh
        self._free = asyncio.Semaphore(width)
        self._width = width
        self._probe = probe
        self._paused = False
        self._live = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def run(self) -> None:
        """Claim and work until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._fill(group)
                await self._wait()

    async def drain(self) -> None:
        """Claim no more and wait until every run of ours has ended or parked."""
        self._paused = True
        await self._idle.wait()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(POLL.total_seconds()):
                await anext(self._ear)
        except TimeoutError:
            pass

    async def _fill(self, group: asyncio.TaskGroup) -> None:
        while not self._paused:
            await self._free.acquire()
            claim = await self._claim()
            if claim is None:
                self._free.release()
                return
            self._probe("claimed")
            self._live += 1
            self._idle.clear()
            group.create_task(self._one(claim))

    async def _claim(self) -> Claim | None:
        if self._paused or not self._lease_is_fresh():
            return None
        try:
            return await self._store.claim(self._lease, self._busy)
        except StoreError as error:
            log.warning("cannot claim", reason=str(error))
            return None

    async def _one(self, claim: Claim) -> None:
        try:
            with structlog.contextvars.bound_contextvars(trace=claim.run_id):
                log.info("run resumed" if claim.resumed else "run began", session=claim.lane.session)
                await self._carried(claim)
        finally:
            self._free.release()
            self._live -= 1
            if not self._live:
                self._idle.set()
        self._bell.ring(LANES)

    async def _carried(self, claim: Claim) -> None:
        try:
            await self._agent.work(claim)
        except StoreError as error:
            log.warning("run interrupted", reason=str(error))
            await self._give_back(claim.lane)
        except Exception:
            # A bug of ours: the person is told rather than left waiting, and the log has the trace.
            log.exception("run broke")
            await self._apologise(claim)

    async def _apologise(self, claim: Claim) -> None:
        try:
            await self._agent.fail(claim, BROKEN)
        except Exception:
            log.exception("run could not be ended")
            await self._give_back(claim.lane)

    async def _give_back(self, lane: Lane) -> None:
        """Make the lane claimable again, as often as it takes: until then nobody works for that session."""
        while True:
            await asyncio.sleep(PATIENCE.total_seconds())
            try:
                return await self._store.release(lane)
            except StoreError as error:
                log.warning("lane not given back yet", reason=str(error))
