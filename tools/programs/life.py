"""One process of a program that is spoken to in lines of JSON, from its start to its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from tools.files.workspace import own
from tools.mcp import child
from tools.mcp.errors import NoServer
from tools.mcp.sandbox import home_of, order_for, unseen
from tools.mcp.terms import Program

LINE_MAX_BYTES: Final = 8 * 1024 * 1024
KILLED_SECONDS: Final = 2.0
"""Until a killed process is gone for the system too."""
COMPLAINT_MAX_CHARS: Final = 1_000
"""Of its last words: a traceback has its reason at the end, and the way there before."""
CHUNK_BYTES: Final = 64 * 1024
"""Of what it complains about, read at once."""
CHUNK_SECONDS: Final = 0.01
"""Between two such reads: one that complains without end has to wait, and nobody else has."""


class LineFailed(Exception):
    """The program gave no line of JSON that is one; the message says what it did instead."""


class ProgramEnded(LineFailed):
    """It ended where a line was expected, or before it had read one."""


async def begun(program: Program, *, line_max: int = LINE_MAX_BYTES) -> ProgramLife:
    """Errors: NoServer when it can't be started, or not in a sandbox."""
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
            limit=line_max,
        )
    except (OSError, ValueError) as error:
        os.close(complaints)
        raise NoServer(f"{program} cannot be started ({error})") from error
    finally:
        os.close(complaints_end)
    return ProgramLife(process, complaints, unseen(program, takes_cwd=False), line_max)


def _make_folder(program: Program) -> None:
    try:
        program.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if program.uid is not None:
            own(program.folder, program.uid)
    except OSError as error:
        raise NoServer(f"its folder {program.folder} cannot be made ({error.strerror})") from error


class ProgramLife:
    """One process of it. What it prints is read only while somebody waits for a line, so it fills no memory meanwhile."""

    def __init__(self, process: asyncio.subprocess.Process, complaints: int, unseen: str, line_max: int) -> None:
        assert process.stdin is not None  # noqa: S101 - we asked for the pipes
        assert process.stdout is not None  # noqa: S101
        self._process, self._input, self._output = process, process.stdin, process.stdout
        self._complaints, self._said, self._unseen, self._line_max = complaints, b"", unseen, line_max
        self._loop = asyncio.get_running_loop()
        self._later: asyncio.TimerHandle | None = None
        self.was_too_long = False
        """True once it has said more in a line than fits."""
        self._loop.add_reader(complaints, self._heard)

    @property
    def is_over(self) -> bool:
        """True once it has ended by itself."""
        return self._process.returncode is not None or self._output.at_eof()

    async def say(self, line: str) -> None:
        """Errors: ProgramEnded."""
        try:
            self._input.write(line.encode("utf-8", "replace") + b"\n")
            await self._input.drain()
        except OSError:
            raise ProgramEnded("it ended") from None

    def say_later(self, line: str) -> None:
        """Say it once it reads again, without waiting for that."""
        if not self.is_over:
            self._input.write(line.encode() + b"\n")

    async def line(self) -> tuple[Mapping[str, Any], int]:
        """Its next object, and how many bytes that took. Errors: LineFailed."""
        try:
            line = await self._output.readline()
        except ValueError:
            self.was_too_long = True
            raise LineFailed(f"it answered with more than {self._line_max:,} bytes") from None
        except OSError:
            raise ProgramEnded("it ended") from None
        if not line.endswith(b"\n"):
            with suppress(TimeoutError):
                async with asyncio.timeout(0.5):
                    await self._process.wait()
            code = self._process.returncode
            raise ProgramEnded("it ended" if code is None else f"it ended with code {code}")
        return _object(line), len(line)

    def complaint(self) -> str:
        """The last of what it said on standard error, and what of it its sandbox hides: for operators."""
        self._read_complaints()
        last = " ".join(self._said.decode("utf-8", "replace").split())[-COMPLAINT_MAX_CHARS:]
        return "; ".join(filter(None, (last and f"its last words: {last}", self._unseen)))

    def _heard(self) -> None:
        """Read some of its complaints, and no more for a moment."""
        self._loop.remove_reader(self._complaints)
        if self._read_complaints():
            self._later = self._loop.call_later(CHUNK_SECONDS, self._loop.add_reader, self._complaints, self._heard)

    def _read_complaints(self) -> bool:
        """True if more may come."""
        try:
            data = os.read(self._complaints, CHUNK_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self._said = (self._said + data)[-4 * COMPLAINT_MAX_CHARS :]
        return bool(data)

    async def end(self) -> None:
        """Its whole group is dead once this returns."""
        if self._later:
            self._later.cancel()
        self._loop.remove_reader(self._complaints)
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
        raise LineFailed("its answer is no line of JSON") from None
    if not isinstance(told, dict):
        raise LineFailed("its answer is no JSON object")
    return told
