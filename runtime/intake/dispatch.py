"""Claims ready lanes and has the agent work on them, many side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final, Protocol, TypeVar

import structlog

from runtime.cluster.notifier import REST, LocalNotifier
from runtime.cluster.topics import LANES, SUSPECTS
from runtime.contract import Probe, SessionKey, no_probe
from runtime.domain.routing import BusyRules
from runtime.errors import RowDamaged, StoreError
from runtime.store.protocol import Accept, Claim, Lane, Lease, Offer, Runs, Taken

T = TypeVar("T")
log = structlog.get_logger("dispatch")

CLAIM_RETRY_DELAY: Final = timedelta(seconds=1)
MAX_CRASHES: Final = 3
RUN_BROKEN: Final = (
    "Something went wrong inside Signalbox, so I couldn't finish this. An operator can see why in the log, and "
    "`signalbox trace {run}` shows how far I got."
)


class Worker(Protocol):
    """The agent, as far as it is needed here."""

    async def work(self, claim: Claim) -> bool: ...

    async def fail(self, claim: Claim, text: str) -> bool: ...


def tell(answer: asyncio.Future[Taken], outcome: Taken | Exception) -> None:
    if answer.done():  # its waiter went away
        return
    if isinstance(outcome, Exception):
        answer.set_exception(outcome)
    else:
        answer.set_result(outcome)


class Dispatch:
    """Keeps up to `width` runs going. `pause` lets those that run come to an end and claims no more."""

    def __init__(
        self,
        *,
        store: Runs,
        lease: Lease,
        agent: Worker,
        notifier: LocalNotifier,
        busy: Callable[[], BusyRules],
        lease_is_fresh: Callable[[], bool],
        width: int = 64,
        max_crashes: int = MAX_CRASHES,
        probe: Probe = no_probe,
    ) -> None:
        self._store = store
        self._lease = lease
        self._agent = agent
        self._listener = notifier.listen(LANES, SUSPECTS)
        self._notifier = notifier
        self._busy = busy
        self._lease_is_fresh = lease_is_fresh
        self._free = asyncio.Semaphore(width)
        self._width = width
        self._max_crashes = max_crashes
        self._suspects = True
        self._probe = probe
        self._paused = False
        self._group: asyncio.TaskGroup | None = None
        self._mine: set[SessionKey] = set()
        self._asking = 0
        self._unsure = False
        self._live = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def run(self) -> None:
        """Claim and work until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                while True:
                    await self._fill(group)
                    await self._wait()
            finally:
                self._group = None

    async def take_in(self, accept: Accept) -> Taken:
        """Take a message in, and where there is room for one more run begin with it in the same commit.

        The commit and the run are one task of ours: who waits for the answer may go away in between.
        """
        if self._group is None or self._paused or self._unsure or self._free.locked() or not self._lease_is_fresh():
            return await accept(None)
        await self._free.acquire()  # at once, since it is not locked
        self._live += 1
        self._idle.clear()
        answer: asyncio.Future[Taken] = asyncio.get_running_loop().create_future()
        self._group.create_task(self._begin(accept, answer))
        return await answer

    def pause(self) -> None:
        """Claim no more; runs at work go on."""
        self._paused = True

    async def drain(self) -> None:
        """Claim no more and wait until every run of ours has ended or parked."""
        self.pause()
        await self._idle.wait()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout((CLAIM_RETRY_DELAY if self._unsure else REST).total_seconds()):
                self._suspects |= await anext(self._listener) == SUSPECTS
        except TimeoutError:
            self._suspects = True

    async def _begin(self, accept: Accept, answer: asyncio.Future[Taken]) -> None:
        try:
            taken = await self._taken_in(accept)
        except Exception as error:  # noqa: BLE001 - it is the waiter's, whatever it is
            self._done()
            tell(answer, error)
            return
        tell(answer, taken)
        if taken.claim is None:
            self._done()
            return
        await asyncio.sleep(0)  # the platform is told first
        await self._one(taken.claim)

    async def _taken_in(self, accept: Accept) -> Taken:
        try:
            return await self._asked(accept(Offer(self._lease, self._busy())))
        except RowDamaged:  # nothing is wrong with the message: whoever claims its lane sees to what is
            return await accept(None)

    async def _fill(self, group: asyncio.TaskGroup) -> None:
        while not self._paused:
            await self._free.acquire()
            claim = await self._claim()
            if claim is None:
                self._free.release()
                return
            self._live += 1
            self._idle.clear()
            group.create_task(self._one(claim))

    async def _asked(self, question: Awaitable[T]) -> T:
        """The outcome of something that may give us a lane. After an error nobody knows whether it did."""
        self._asking += 1
        try:
            return await question
        except Exception:
            if not self._unsure:
                self._unsure = True
                self._listener.wake(LANES)  # it may rest: from now on it looks each `CLAIM_RETRY_DELAY`
            raise
        finally:
            self._asking -= 1

    async def _return_strays(self) -> None:
        """Lanes that the store says are ours and on which nobody works: a commit went in whose answer was lost."""
        if self._asking:
            return  # one of them may be on its way to us
        for lane in await self._store.lanes_of(self._lease):
            if lane.session not in self._mine:
                log.warning("lane given back", session=lane.session, reason="its claim was committed, but not answered")
                await self._store.release(lane)
        self._unsure = False

    async def _claim(self) -> Claim | None:
        if self._paused or not self._lease_is_fresh():
            return None
        try:
            if self._unsure:
                await self._return_strays()
            suspect, self._suspects = self._suspects, False  # there may be a run under which processes died
            if suspect and (found := await self._claim_suspect()):
                return found
            while True:  # each lane that cannot be read is ready no more
                try:
                    return await self._asked(self._store.claim(self._lease, self._busy()))
                except RowDamaged as error:
                    await self._keep_apart(error)
        except StoreError as error:
            log.debug("cannot claim", reason=str(error))
            return None

    async def _claim_suspect(self) -> Claim | None:
        try:
            claim = self._store.claim_suspect(self._lease, self._busy(), most=self._max_crashes)
            return await self._asked(claim)
        except RowDamaged as error:
            await self._keep_apart(error)
            return None

    async def _keep_apart(self, error: RowDamaged) -> None:
        """Have others go on, and tell the operator once. Errors: StoreError."""
        session = SessionKey(error.session)
        if await self._store.keep_unread(session, self._lease.node, str(error)):
            log.error(
                "conversation kept apart: a row of it cannot be read",
                session=session,
                reason=str(error),
                exc_info=error.__cause__,
            )

    async def _one(self, claim: Claim) -> None:
        self._probe("claimed")
        more = True
        self._mine.add(claim.lane.session)
        try:
            with structlog.contextvars.bound_contextvars(trace=claim.run_id):
                log.info("run resumed" if claim.resumed else "run began", session=claim.lane.session)
                if claim.crashes >= self._max_crashes:
                    more = await self._set_aside(claim)
                else:
                    more = await self._carried(claim)
        finally:
            if claim.crashes:
                self._suspects = True  # the next suspect has waited for this one
            self._mine.discard(claim.lane.session)
            self._done()
        if more:
            self._notifier.notify(LANES)

    def _done(self) -> None:
        self._free.release()
        self._live -= 1
        if not self._live:
            self._idle.set()

    async def _carried(self, claim: Claim) -> bool:
        """True if the lane has more to do; so for all of these."""
        try:
            return await self._agent.work(claim)
        except StoreError as error:
            log.warning("run interrupted", reason=str(error))
            return await self._give_back(claim.lane)
        except Exception:
            # A bug of ours: the person is told rather than left waiting, and the log has the trace.
            log.exception("run broke")
            return await self._end(claim, RUN_BROKEN.format(run=claim.run_id))

    async def _set_aside(self, claim: Claim) -> bool:
        """It killed each process that worked on it: nobody does any more, and the person is told."""
        log.warning("run set aside", deaths=claim.crashes, session=claim.lane.session)
        return await self._end(claim, aside(claim.crashes))

    async def _end(self, claim: Claim, words: str) -> bool:
        try:
            return await self._agent.fail(claim, words)
        except Exception:
            log.exception("run could not be ended")
            return await self._give_back(claim.lane)

    async def _give_back(self, lane: Lane) -> bool:
        """Make the lane claimable again, as often as it takes: until then nobody works for that session."""
        while True:
            await asyncio.sleep(CLAIM_RETRY_DELAY.total_seconds())
            try:
                await self._store.release(lane)
            except StoreError as error:
                log.debug("lane not given back yet", reason=str(error))
            else:
                return True


def aside(deaths: int) -> str:
    """Words for the person in place of an answer."""
    return (
        f"I was cut off {deaths} times while working on this, so I've stopped. Send it again to have me retry. "
        "An operator can find the times in the log."
    )
