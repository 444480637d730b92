"""A program that answers: one line of JSON in, one out. It stays, since starting one in a sandbox takes longer than asking it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import timedelta
from itertools import count
from typing import Any, Final

import structlog

from runtime.contract.agents.interceptors import Answer, InterceptorFailed, Occasion
from runtime.errors import ToolFailed
from tools.mcp.errors import NoServer
from tools.mcp.terms import Program
from tools.programs.life import LineFailed, ProgramLife, begun

log = structlog.get_logger("interceptors")

ANSWER_TIMEOUT: Final = timedelta(seconds=5)
START_TIMEOUT: Final = timedelta(seconds=10)
"""For the sandbox to be tested and made; the program's own start counts as part of its first answer."""
LEFT_ALONE_SECONDS: Final = 5.0
"""After a start that failed: meanwhile it isn't tried again, and each question is told why."""
NOT_STARTED: Final = "it can't be started"


class ProgramJudge:
    """Implements `Judge`. One question at a time; a program that fails is ended and started anew for the next."""

    def __init__(self, program: Program, *, limit: timedelta = ANSWER_TIMEOUT) -> None:
        self._program = program
        self._limit = limit.total_seconds()
        self._turn = asyncio.Lock()
        self._life: ProgramLife | None = None
        self._numbers = count(1)
        self._trouble = ""
        self._rests_until = 0.0

    async def ask(self, occasion: Occasion) -> Answer:
        patience = self._limit if self._life else self._limit + START_TIMEOUT.total_seconds()
        try:
            async with asyncio.timeout(patience):
                await self._turn.acquire()
        except TimeoutError:
            raise InterceptorFailed(f"it was busy for {patience:g} seconds") from None
        try:
            return await self._asked(occasion)
        finally:
            self._turn.release()

    async def run(self) -> None:
        """Start it ahead of its first question, and end it when this is cancelled."""
        try:
            async with self._turn:
                await self._start_ahead()
            await asyncio.Event().wait()
        finally:
            await self.close()

    async def _start_ahead(self) -> None:
        try:
            await self._started()
        except InterceptorFailed as error:  # a question says so again, and tries anew
            log.warning("an interceptor can't be started", interceptor=self._program.folder.name, reason=error.whole)

    async def close(self) -> None:
        """Once this returns it's dead, with all that it has started."""
        life, self._life = self._life, None
        if life:
            await asyncio.shield(life.end())

    async def _asked(self, occasion: Occasion) -> Answer:
        life, number = await self._started(), next(self._numbers)
        try:
            async with asyncio.timeout(self._limit):
                return Answer.parse(await _answer_of(life, occasion.to_json(number), number))
        except TimeoutError:
            told = life.complaint()
            await self.close()
            raise InterceptorFailed(f"it gave no answer within {self._limit:g} seconds", told) from None
        except InterceptorFailed as error:
            told = life.complaint()
            await self.close()
            raise InterceptorFailed(str(error), told) from None

    async def _started(self) -> ProgramLife:
        """Errors: InterceptorFailed when it can't be started, also a while after that."""
        if self._life and self._life.is_over:
            await self.close()
        if self._life:
            return self._life
        if time.monotonic() < self._rests_until:
            raise InterceptorFailed(NOT_STARTED, self._trouble)
        try:
            async with asyncio.timeout(START_TIMEOUT.total_seconds()):
                self._life = await begun(self._program)
        except TimeoutError:
            self._rest(f"it did not start within {START_TIMEOUT.total_seconds():g} seconds")
        except (NoServer, ToolFailed, OSError) as error:
            self._rest(str(error))
        assert self._life is not None  # noqa: S101 - else it rests
        return self._life

    def _rest(self, why: str) -> None:
        self._trouble, self._rests_until = why, time.monotonic() + LEFT_ALONE_SECONDS
        raise InterceptorFailed(NOT_STARTED, why)


async def _answer_of(life: ProgramLife, question: str, number: int) -> Mapping[str, Any]:
    """Its answer to that question; what it says late to earlier ones is left out. Errors: InterceptorFailed."""
    try:
        await life.say(question)
        while True:
            told, _ = await life.line()
            if told.get("id") == number:
                return told
            if not _is_earlier(told.get("id"), number):
                raise InterceptorFailed(f'its answer does not have the "id" of the question, which is {number}')
    except LineFailed as failed:
        raise InterceptorFailed(str(failed)) from None


def _is_earlier(found: object, number: int) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and 0 < found < number
