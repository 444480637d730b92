"""Answers while they grow: what is recorded comes from rows, on any node, and what is said right now from this one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

from bot.doors.callers import Caller
from bot.doors.conversing import Conversing
from bot.doors.live.hearing import Ear, Hearing, SaidSoFar
from bot.operator.context import OperatorContext
from runtime.cancellation import cancellable
from runtime.contract import Address, room_topic
from runtime.domain.programs.followed import Followed, FollowState, SaidStep, texts_of
from runtime.errors import StoreError
from runtime.http.errors import Refusal

LIVE_FRAME: Final = timedelta(milliseconds=50)
"""Between two states of a text that is being said."""


@dataclass(frozen=True, slots=True)
class Growing:
    """A message with the texts of its answer so far: `texts` are recorded, `live` is being said and may still change."""

    found: Followed
    texts: tuple[str, ...] = ()
    live: str = ""

    @property
    def is_told(self) -> bool:
        """Nothing more comes, or only once people answered."""
        return self.found.state.is_over or bool(self.found.questions)


class Listener(Protocol):
    """Sends an answer on. Errors: TimeoutError, ConnectionError for whoever is gone."""

    beat_each: timedelta
    ends_at_questions: bool

    async def tell(self, growing: Growing) -> None:
        """Send the news."""

    async def beat(self) -> None:
        """Give a sign of life: nothing was new for `beat_each`."""


class GrowingAnswers:
    """Follows answers for streams."""

    def __init__(self, context: OperatorContext, conversing: Conversing, hearing: Hearing) -> None:
        self._context = context
        self._conversing = conversing
        self._hearing = hearing

    async def look(self, caller: Caller, signal_id: str) -> Growing:
        """The message as its rows tell it."""
        found = await self._conversing.look(caller, signal_id)
        return Growing(found, texts_of(found, await self._steps(found)))

    async def follow(self, caller: Caller, signal_id: str, listener: Listener, life: timedelta) -> None:
        """Tell of the answer whenever it grew, until it is told, `life` is over or whoever listens is gone."""
        found = await self._conversing.look(caller, signal_id)
        try:
            with self._hearing.listening(found.address) as ear:
                await cancellable(self._heard(caller, found, ear, listener, life))
        except* (ConnectionError, TimeoutError, Refusal, StoreError):
            pass  # nobody listens, the token is void or the store is away: whoever comes back is told

    async def _heard(self, caller: Caller, found: Followed, ear: Ear, listener: Listener, life: timedelta) -> None:
        async with asyncio.TaskGroup() as group:
            ringing = group.create_task(self._ring(found.address, ear))
            await asyncio.sleep(0)  # it listens before rows are read: no ring falls between
            await self._until_told(caller, found, ear, listener, life)
            ringing.cancel()

    async def _until_told(self, caller: Caller, found: Followed, ear: Ear, listener: Listener, life: timedelta) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + life.total_seconds()
        steps: tuple[SaidStep, ...] = ()
        looked_for, looked_at = 0, loop.time()
        while True:
            ear.woken.clear()
            said = self._hearing.said(found.run)  # before the rows: what they hold by then is no news
            is_due = loop.time() - looked_at >= listener.beat_each.total_seconds()  # a long text gives no other reason
            if is_due or ear.has_rung or found.run is None or (said and said.step != looked_for):
                ear.has_rung, looked_for, looked_at = False, said.step if said else 0, loop.time()
                caller = await caller.renewed()
                found = await self._conversing.look(caller, found.id)
                steps = await self._steps(found)
            growing = _grown(found, steps, said)
            await listener.tell(growing)
            is_told = growing.is_told if listener.ends_at_questions else found.state.is_over
            if is_told or loop.time() >= end:
                return
            if not await _woken(ear, listener.beat_each):
                ear.has_rung = True  # a ring may be lost
                await listener.beat()
            elif growing.live and not ear.has_rung:
                await asyncio.sleep(LIVE_FRAME.total_seconds())

    async def _ring(self, address: Address, ear: Ear) -> None:
        async for _ in self._context.notifier.listen(room_topic(address)):
            ear.ring()

    async def _steps(self, found: Followed) -> tuple[SaidStep, ...]:
        return await self._context.store.programs.said_by(found.run) if found.run else ()


def _grown(found: Followed, steps: Sequence[SaidStep], said: SaidSoFar | None) -> Growing:
    """The answer, with what is being said unless it is recorded by now."""
    recorded = max((one.step for one in steps), default=0)
    is_ahead = said is not None and found.state is FollowState.WORKING and said.step > recorded
    return Growing(found, texts_of(found, steps), said.text if said and is_ahead else "")


async def _woken(ear: Ear, within: timedelta) -> bool:
    try:
        async with asyncio.timeout(within.total_seconds()):
            await ear.woken.wait()
    except TimeoutError:
        return False
    return True
