"""A program in a model's place: each turn is a question to it, and what it says is recorded as a model's answer would be."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import count
from typing import Any, Final

import structlog

from runtime.contract import ModelReply, ModelRequest, OnText
from runtime.errors import Cause, ModelFailed, ToolFailed
from tools.executors.turns import SaidTurn, TurnFault, cancel_line, turn_line
from tools.executors.words import (
    PROGRAM_ENDED,
    PROGRAM_ENDED_AT_ONCE,
    PROGRAM_NOT_STARTED,
    PROGRAM_SAID_TOO_MUCH,
    PROGRAM_SILENT,
    PROGRAM_UNREADABLE,
)
from tools.mcp.errors import NoServer
from tools.mcp.terms import Program
from tools.programs.life import LineFailed, ProgramEnded, ProgramLife, begun

log = structlog.get_logger("executors")

TURN_MAX_MIB: Final = 8
"""Of all lines of one turn together, and of each."""
TURN_MAX_BYTES: Final = TURN_MAX_MIB << 20
TURN_TRIES: Final = 3
"""Of one turn, where the program ends in its middle. What it asks of us is only done after the turn's end."""
FIRST_REST_SECONDS: Final = 1.0
LONGEST_REST_SECONDS: Final = 60.0
START_SECONDS: Final = 10.0
"""For the sandbox to be tested and made."""
CANCEL_SECONDS: Final = 2.0
"""In which it may end a turn that nobody waits for any more; then it's ended, and started anew when it's needed."""
SHOWN_SECONDS: Final = 0.05
"""Between two looks of people at a text that grows."""
LINES_AT_ONCE: Final = 64
"""Lines that are read before others have their turn in this process."""


class _EndedAtOnce(ProgramEnded):
    """It said nothing. Where that is so at each try, asking again helps nobody: an operator has to look."""


class ProgramModel:
    """Implements `contract.Model`. Up to `processes` of the program work side by side, each on one turn at a time.

    A turn holds all that it needs, so any process may take any turn, and one that is started anew has lost nothing.
    """

    def __init__(
        self,
        program: Program,
        agent: str,
        *,
        processes: int = 1,
        limit: timedelta = timedelta(minutes=2),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = f"program:{agent}"
        self._program = program
        self._agent = agent
        self._limit = limit.total_seconds()
        self._sleep = sleep
        self._places = asyncio.Semaphore(processes)
        self._idle: list[_Kept] = []
        self._at_work = 0
        self._numbers = count(1)
        self._rest = 0.0
        self._rests_until = 0.0
        self._owing = asyncio.Event()
        self._retired = False
        self._is_over = False

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        async with self._places:
            self._at_work += 1
            try:
                for attempt in range(1, TURN_TRIES + 1):
                    try:
                        return await self._tried(request, on_text, attempt)
                    except ProgramEnded as error:
                        log.warning("a program ended in a turn", agent=self._agent, reason=str(error), attempt=attempt)
                        detail = str(error)
                        words = PROGRAM_ENDED_AT_ONCE if isinstance(error, _EndedAtOnce) else PROGRAM_ENDED
                raise ModelFailed(words.format(agent=self._agent), detail=detail, cause=Cause.AWAY)
            finally:
                self._at_work -= 1
                self._owing.set()
                if (self._retired or self._is_over) and not self._at_work:
                    await self.close()

    async def run(self) -> None:
        """End processes that owe the end of a turn for too long, until cancelled or retired; then all of them."""
        self._is_over = False
        try:
            while not (self._retired and not self._at_work):
                await self._owing.wait()
                self._owing.clear()
                if owing := [kept for kept in self._idle if kept.owes]:
                    await self._sleep(CANCEL_SECONDS)
                    await self._settle(owing)
        finally:
            self._is_over = True
            await self.close()

    def retire(self) -> None:
        """Take no more than the turns at work: the settings have another program, or none, in its place."""
        self._retired = True
        self._owing.set()

    async def close(self) -> None:
        """All that are idle are dead once this returns, with whatever they have started."""
        while self._idle:
            await asyncio.shield(self._idle.pop().life.end())

    async def _settle(self, owing: list[_Kept]) -> None:
        for kept in owing:
            if kept in self._idle:
                self._idle.remove(kept)
                if await self._is_free(kept):
                    self._idle.append(kept)

    async def _tried(self, request: ModelRequest, on_text: OnText, attempt: int) -> ModelReply:
        """Errors: ProgramEnded where another try may help; ModelFailed."""
        kept, number = await self._ready(), next(self._numbers)
        try:
            said = await self._said(
                kept.life, turn_line(request, self._agent, number, attempt), number, request, on_text
            )
        except asyncio.CancelledError:
            kept.owes = number
            kept.owed_since = time.monotonic()
            kept.life.say_later(cancel_line(number))
            self._idle.append(kept)
            self._owing.set()
            raise
        except BaseException as error:
            if not (kept.served and isinstance(error, ProgramEnded)):  # else perhaps one that ends after each answer
                self._rested()
            await asyncio.shield(kept.life.end())
            raise
        self._rest = self._rests_until = 0.0
        kept.served = True
        self._idle.append(kept)
        if said.failure is not None:
            raise ModelFailed(said.failure or PROGRAM_UNREADABLE, cause=Cause.ANSWER)
        return said.reply()

    async def _said(
        self, life: ProgramLife, question: str, number: int, request: ModelRequest, on_text: OnText
    ) -> SaidTurn:
        """Errors: ProgramEnded; ModelFailed for whatever else is no turn."""
        said, hearing = SaidTurn(self.name, request.step), _Shown(on_text)
        read = lines = 0
        try:
            async with asyncio.timeout(self._limit) as silence:
                await life.say(question)
                while not said.is_over:
                    told, size = await life.line()
                    read, lines = read + size, lines + 1
                    if read > TURN_MAX_BYTES:
                        raise self._failed(
                            life, PROGRAM_SAID_TOO_MUCH.format(agent=self._agent, most=TURN_MAX_MIB), "too long"
                        )
                    silence.reschedule(asyncio.get_running_loop().time() + self._limit)
                    if told.get("id") == number:
                        said.take(told)
                        hearing.show(said)
                    elif not _is_earlier(told.get("id"), number):
                        raise TurnFault(f'its line does not have the "id" of the turn, which is {number}')
                    if lines % LINES_AT_ONCE == 0:
                        await asyncio.sleep(0)
        except TimeoutError:
            words = PROGRAM_SILENT.format(agent=self._agent, seconds=f"{self._limit:g}")
            raise self._failed(life, words, "no sign") from None
        except ProgramEnded as ended:
            kind = ProgramEnded if lines else _EndedAtOnce
            raise kind("; ".join(filter(None, [str(ended), life.complaint()]))) from None
        except (LineFailed, TurnFault) as fault:
            words = PROGRAM_SAID_TOO_MUCH if life.was_too_long else PROGRAM_UNREADABLE
            raise self._failed(life, words.format(agent=self._agent, most=TURN_MAX_MIB), str(fault)) from None
        return said

    def _failed(self, life: ProgramLife, words: str, why: str) -> ModelFailed:
        detail = "; ".join(filter(None, [why, life.complaint()]))
        log.warning("a program failed in a turn", agent=self._agent, reason=detail)
        return ModelFailed(words, detail=detail, cause=Cause.ANSWER)

    # ------------------------------------------------------------------------------------------------- processes

    async def _ready(self) -> _Kept:
        """A process that is free. Errors: ModelFailed when none can be started."""
        while self._idle:
            kept = self._idle.pop()
            if await self._is_free(kept):
                return kept
        if (left := self._rests_until - time.monotonic()) > 0:
            await self._sleep(left)
        try:
            async with asyncio.timeout(START_SECONDS):
                return _Kept(await begun(self._program, line_max=TURN_MAX_BYTES))
        except TimeoutError:
            why = f"it did not start within {START_SECONDS:g} seconds"
        except (NoServer, ToolFailed, OSError) as error:
            why = str(error)
        self._rested()
        log.warning("a program can't be started", agent=self._agent, reason=why)
        raise ModelFailed(PROGRAM_NOT_STARTED.format(agent=self._agent), detail=why, cause=Cause.AWAY)

    async def _is_free(self, kept: _Kept) -> bool:
        """False where it has ended, or owes the end of a turn for too long: it's dead then."""
        left = kept.owed_since + CANCEL_SECONDS - time.monotonic() if kept.owes else 0.0
        try:
            async with asyncio.timeout(max(left, 0.05)):
                while kept.owes and not kept.life.is_over:
                    kept.take((await kept.life.line())[0])
        except (TimeoutError, LineFailed):
            await asyncio.shield(kept.life.end())
            return False
        if kept.life.is_over:
            await asyncio.shield(kept.life.end())
            return False
        return True

    def _rested(self) -> None:
        """It failed: the next start waits, longer each time."""
        self._rest = min(LONGEST_REST_SECONDS, self._rest * 2 or FIRST_REST_SECONDS)
        self._rests_until = time.monotonic() + self._rest


class _Kept:
    """A process between two turns. `owes`: the turn whose end it owes, since nobody waited for that."""

    def __init__(self, life: ProgramLife) -> None:
        self.life = life
        self.served = False
        self.owes = 0
        self.owed_since = 0.0

    def take(self, told: Any) -> None:
        if told.get("id") == self.owes and told.get("type") in ("end", "failed"):
            self.owes = 0


class _Shown:
    """Shows a text that grows, and not more often than people see."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._last = 0.0

    def show(self, said: SaidTurn) -> None:
        now = time.monotonic()
        if now - self._last >= SHOWN_SECONDS or said.is_over:
            self._on_text(said.text)
            self._last = time.monotonic()  # with a long text, others have their turn as long as it takes at most


def _is_earlier(found: object, number: int) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and 0 < found < number
