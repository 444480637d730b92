"""A program that answers: one line of JSON in, one out. It stays, since starting one in a sandbox takes longer than asking it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from itertools import count
from typing import Any, Final

import structlog

from runtime.contract.agents.interceptors import Answer, InterceptorFailed, Occasion
from runtime.errors import ToolFailed
from tools.files.workspace import own
from tools.mcp import child
from tools.mcp.errors import NoServer
from tools.mcp.sandbox import home_of, order_for, unseen
from tools.mcp.terms import Program

log = structlog.get_logger("interceptors")

ANSWER_TIMEOUT: Final = timedelta(seconds=5)
START_TIMEOUT: Final = timedelta(seconds=10)
"""For the sandbox to be tested and made; the program's own start counts as part of its first answer."""
ANSWER_MAX_BYTES: Final = 8 * 1024 * 1024
LEFT_ALONE_SECONDS: Final = 5.0
"""After a start that failed: meanwhile it isn't tried again, and each question is told why."""
KILLED_SECONDS: Final = 2.0
"""Until a killed process is gone for the system too."""
COMPLAINT_MAX_CHARS: Final = 200
NOT_STARTED: Final = "it can't be started"
CHUNK_BYTES: Final = 64 * 1024
"""Of what it complains about, read at once."""


class ProgramJudge:
    """Implements `Judge`. One question at a time; a program that fails is ended and started anew for the next."""

    def __init__(self, program: Program, *, limit: timedelta = ANSWER_TIMEOUT) -> None:
        self._program = program
        self._limit = limit.total_seconds()
        self._turn = asyncio.Lock()
        self._life: _Life | None = None
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
                await self._begun()
            await asyncio.Event().wait()
        finally:
            await self.close()

    async def _begun(self) -> None:
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
                return Answer.parse(await life.answer(occasion.to_json(number), number))
        except TimeoutError:
            told = life.complaint()
            await self.close()
            raise InterceptorFailed(f"it gave no answer within {self._limit:g} seconds", told) from None
        except InterceptorFailed as error:
            told = life.complaint()
            await self.close()
            raise InterceptorFailed(str(error), told) from None

    async def _started(self) -> _Life:
        """Errors: InterceptorFailed when it can't be started, also a while after that."""
        if self._life and self._life.is_over:
            await self.close()
        if self._life:
            return self._life
        if time.monotonic() < self._rests_until:
            raise InterceptorFailed(NOT_STARTED, self._trouble)
        try:
            async with asyncio.timeout(START_TIMEOUT.total_seconds()):
                self._life = await _life_of(self._program)
        except TimeoutError:
            self._rest(f"it did not start within {START_TIMEOUT.total_seconds():g} seconds")
        except (NoServer, ToolFailed, OSError) as error:
            self._rest(str(error))
        assert self._life is not None  # noqa: S101 - else it rests
        return self._life

    def _rest(self, why: str) -> None:
        self._trouble, self._rests_until = why, time.monotonic() + LEFT_ALONE_SECONDS
        raise InterceptorFailed(NOT_STARTED, why)


async def _life_of(program: Program) -> _Life:
    """Errors: NoServer."""
    await asyncio.to_thread(_make_folder, program)
    order = json.dumps(await order_for(program))
    complaints, complaints_end = os.pipe()
    os.set_blocking(complaints, False)
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", child.__file__, order),
            cwd=program.folder if program.sandbox else program.cwd or program.folder,
            env={"LANG": "C.UTF-8", "HOME": home_of(program)} | dict(program.env),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=complaints_end,
            start_new_session=True,
            limit=ANSWER_MAX_BYTES,
        )
    except (OSError, ValueError) as error:
        os.close(complaints)
        raise NoServer(f"{program} cannot be started ({error})") from error
    finally:
        os.close(complaints_end)
    return _Life(process, complaints, unseen(program, takes_cwd=False))


def _make_folder(program: Program) -> None:
    try:
        program.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if program.uid is not None:
            own(program.folder, program.uid)
    except OSError as error:
        raise NoServer(f"its folder {program.folder} cannot be made ({error.strerror})") from error


class _Life:
    """One process of it, from its start to its end."""

    def __init__(self, process: asyncio.subprocess.Process, complaints: int, unseen: str) -> None:
        assert process.stdin is not None  # noqa: S101 - we asked for the pipes
        assert process.stdout is not None  # noqa: S101
        self._process, self._input, self._output = process, process.stdin, process.stdout
        self._complaints, self._said, self._unseen = complaints, b"", unseen
        asyncio.get_running_loop().add_reader(complaints, self._heard)

    @property
    def is_over(self) -> bool:
        """True once it has ended by itself."""
        return self._process.returncode is not None or self._output.at_eof()

    async def answer(self, question: str, number: int) -> Mapping[str, Any]:
        """Its answer to that question; what it says late to earlier ones is left out. Errors: InterceptorFailed."""
        try:
            self._input.write(question.encode() + b"\n")
            await self._input.drain()
            while True:
                told = _object(await self._line())
                if told.get("id") == number:
                    return told
                if not _is_earlier(told.get("id"), number):
                    raise InterceptorFailed(f'its answer does not have the "id" of the question, which is {number}')
        except OSError:
            raise InterceptorFailed("it ended") from None

    async def _line(self) -> bytes:
        try:
            line = await self._output.readline()
        except ValueError:
            raise InterceptorFailed(f"it answered with more than {ANSWER_MAX_BYTES:,} bytes") from None
        if not line.endswith(b"\n"):
            with suppress(TimeoutError):
                async with asyncio.timeout(0.5):
                    await self._process.wait()
            code = self._process.returncode
            raise InterceptorFailed("it ended" if code is None else f"it ended with code {code}")
        return line

    def complaint(self) -> str:
        """The last of what it said on standard error, and what of it its sandbox hides: for operators."""
        self._heard()
        last = " ".join(self._said.decode("utf-8", "replace").split())[-COMPLAINT_MAX_CHARS:]
        return "; ".join(filter(None, (last and f"its last words: {last}", self._unseen)))

    def _heard(self) -> None:
        with suppress(BlockingIOError, OSError):
            if data := os.read(self._complaints, CHUNK_BYTES):
                self._said = (self._said + data)[-4 * COMPLAINT_MAX_CHARS :]
                return
            asyncio.get_running_loop().remove_reader(self._complaints)

    async def end(self) -> None:
        """Its whole group is dead once this returns."""
        asyncio.get_running_loop().remove_reader(self._complaints)
        with suppress(OSError):
            os.close(self._complaints)
        with suppress(ProcessLookupError, PermissionError):  # gone, or (on macOS) all its members are zombies
            os.killpg(self._process.pid, signal.SIGKILL)
        # By looking: `wait` would wait for whoever of its children still holds its output.
        with suppress(TimeoutError):
            async with asyncio.timeout(KILLED_SECONDS):
                while self._process.returncode is None:  # noqa: ASYNC110 - see above
                    await asyncio.sleep(0.005)
        self._process._transport.close()  # type: ignore[attr-defined]  # by itself it is closed a turn of the loop later


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        raise InterceptorFailed("its answer is no line of JSON") from None
    if not isinstance(told, dict):
        raise InterceptorFailed("its answer is no JSON object")
    return told


def _is_earlier(found: object, number: int) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and 0 < found < number
