"""A server as a child process: messages a line each over its standard input and output, its complaints into our log.

In place of the SDK's own transport, which hands on variables of ours, and keeps a line however long it grows.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final

import anyio
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from runtime.workspace.safe_fs import replace
from tools.files.workspace import opened_parent, own, own_like
from tools.mcp import child
from tools.mcp.errors import NoServer
from tools.mcp.sandbox import home_of, order_for, unseen
from tools.mcp.terms import Program

log = structlog.get_logger("mcp")

LONGEST_MESSAGE: Final = 8 * 1024 * 1024  # bytes: an image of some MiB in its text form
PIPE_CHUNK_BYTES: Final = 64 * 1024
UNREAD: Final = 30.0  # seconds a server may leave what we say to it unread
QUEUE_MAX_MESSAGES: Final = 256  # messages on their way to it: a call must not wait for one that reads nothing
GRACE: Final = 1.0  # seconds to end by itself once its input is closed
LAST_GRACE: Final = 0.5  # the same once it was told to
LAST_WORDS: Final = 0.2  # seconds for complaints still on their way
LINES: Final = 20  # of its complaints that are logged of what comes at once; of more only the last is looked at
MOST_LINES: Final = 1_000  # of them that are logged in one life of it
LOG_LINE_MAX_CHARS: Final = 500  # characters
LANG: Final = "C.UTF-8"
ENDED: Final = "it ended"
ERROR: Final = re.compile(r"error|exception|fatal|panic|denied|refused|not found|no such|cannot|failed", re.IGNORECASE)

OnEnd = Callable[[str], None]
"""Told why the server will say nothing more, as a clause."""
End = Callable[[str], Awaitable[None]]


@asynccontextmanager
async def stdio(program: Program, on_end: OnEnd) -> AsyncIterator[TransportStreams]:
    """The server as a process group of its own, dead when this ends. Errors: NoServer when it cannot be started."""
    complaints = Complaints(program)
    with _pipe() as (out, out_end), _pipe() as (errors, errors_end):
        process = await _started(program, out_end, errors_end)
        heard, hearing = anyio.create_memory_object_stream[SessionMessage | Exception](16)
        said, saying = anyio.create_memory_object_stream[SessionMessage](QUEUE_MAX_MESSAGES)
        try:
            async with asyncio.TaskGroup() as group:
                listening = group.create_task(_listen(errors, complaints))

                async def end(why: str) -> None:
                    await asyncio.wait({listening}, timeout=LAST_WORDS)  # they come by another pipe
                    on_end(complaints.blamed(why))

                tasks = [
                    listening,
                    group.create_task(_hear(out, heard, end)),
                    group.create_task(_say(process, saying, end)),
                ]
                try:
                    yield hearing, said
                finally:
                    await _stop(process)
                    for task in tasks:
                        task.cancel()
        finally:
            _kill(process.pid, signal.SIGKILL)
            process._transport.close()  # type: ignore[attr-defined]  # by itself it is closed a turn of the loop later
            for stream in (heard, hearing, said, saying):
                stream.close()


# --------------------------------------------------------------------------------------------------------- process


async def _started(program: Program, out: BinaryIO, errors: BinaryIO) -> asyncio.subprocess.Process:
    await asyncio.to_thread(_make_folder, program)
    order = json.dumps(await order_for(program))
    try:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", child.__file__, order),
            cwd=program.folder if program.sandbox else program.cwd or program.folder,
            env={"LANG": LANG, "HOME": home_of(program)} | dict(program.env),
            stdin=asyncio.subprocess.PIPE,
            stdout=out,
            stderr=errors,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise NoServer(f"{program} cannot be started ({error})") from error
    finally:
        out.close()
        errors.close()


def _make_folder(program: Program) -> None:
    try:
        program.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if program.uid is not None:
            own(program.folder, program.uid)
        _write(program)
    except OSError as error:
        raise NoServer(f"its folder {program.folder} cannot be made ({error.strerror})") from error


def _write(program: Program) -> None:
    """Its files, anew: a life before this one may have changed them."""
    for name, text in program.files.items():
        with opened_parent(program.folder, name) as (folder, last):  # never through a link that it made
            replace(last, folder, text.encode(), partial(own_like, folder=folder))


async def _stop(process: asyncio.subprocess.Process) -> None:
    """The end of its input is the sign to leave; one that does not is told to, and then killed with its children."""
    if process.stdin:
        process.stdin.close()
    if not await _ends(process, GRACE):
        for group in _groups(process.pid):
            _kill(group, signal.SIGTERM)
        if not await _ends(process, LAST_GRACE):
            _kill(process.pid, signal.SIGKILL)
            await _ends(process, LAST_GRACE)


async def _ends(process: asyncio.subprocess.Process, within: float) -> bool:
    # By looking: `wait` would wait for whoever of its children still holds its input.
    with suppress(TimeoutError):
        async with asyncio.timeout(within):
            while process.returncode is None:  # noqa: ASYNC110 - see above
                await asyncio.sleep(0.01)
    return process.returncode is not None


def _groups(pid: int) -> list[int]:
    """Process groups that are asked to leave: where the process is bubblewrap, what is in there, since all of that dies with bubblewrap."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        inside = [group for child in map(int, children) if (group := os.getpgid(child)) != pid]
    except OSError:  # gone by now, or no such file here
        inside = []
    return inside or [pid]


def _kill(group: int, how: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # gone, or (on macOS) all its members are zombies
        os.killpg(group, how)


# --------------------------------------------------------------------------------------------------------- streams


@contextmanager
def _pipe() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A pipe of our own: of those that asyncio makes, its `wait` waits for whoever still holds the other end."""
    read, write = os.pipe()
    with os.fdopen(read, "rb", buffering=0) as reading, os.fdopen(write, "wb", buffering=0) as writing:
        yield reading, writing


@asynccontextmanager
async def _reading(pipe: BinaryIO) -> AsyncIterator[asyncio.StreamReader]:
    reader = asyncio.StreamReader(limit=PIPE_CHUNK_BYTES)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        yield reader
    finally:
        transport.close()


async def lines(reader: asyncio.StreamReader, longest: int) -> AsyncIterator[bytes]:
    """Whole lines without their ends. Errors: ValueError for one of more than `longest` bytes."""
    buffer = bytearray()
    while data := await reader.read(PIPE_CHUNK_BYTES):
        *whole, rest = data.split(b"\n")
        for piece in whole:
            buffer += piece
            yield bytes(buffer)
            buffer.clear()
        buffer += rest
        if len(buffer) > longest:
            raise ValueError(f"it sent a message of more than {longest:,} bytes")


async def _hear(pipe: BinaryIO, heard: MemoryObjectSendStream[SessionMessage | Exception], end: End) -> None:
    async with heard:
        await end(await _passed_on(pipe, heard))


async def _passed_on(pipe: BinaryIO, heard: MemoryObjectSendStream[SessionMessage | Exception]) -> str:
    """Hand on each message; why there are no more."""
    try:
        async with _reading(pipe) as reader:
            async for line in lines(reader, LONGEST_MESSAGE):
                if message := _parsed(line):
                    await heard.send(message)
    except ValueError as error:
        return str(error)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return "we closed the connection"
    return ENDED


def _parsed(line: bytes) -> SessionMessage | Exception | None:
    """Programs print what is no message, such as their name: that is counted as one and dropped."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)) if line.strip() else None
    except ValidationError:
        return ValueError("not a message")  # without its text, which the SDK would hand to the log


async def _say(
    process: asyncio.subprocess.Process, saying: MemoryObjectReceiveStream[SessionMessage], end: End
) -> None:
    async with saying:
        await end(await _sent(process, saying))


async def _sent(process: asyncio.subprocess.Process, saying: MemoryObjectReceiveStream[SessionMessage]) -> str:
    """Send each message; why there are no more."""
    assert process.stdin is not None  # noqa: S101 - we asked for the pipe
    try:
        async for message in saying:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode() + b"\n")
            async with asyncio.timeout(UNREAD):
                await process.stdin.drain()
    except TimeoutError:
        return f"it read nothing for {UNREAD:g} s"
    except OSError:
        await asyncio.sleep(2 * LAST_WORDS)  # mostly it is dead, which the end of its output tells better
        return "it closed its input"
    return "we closed the connection"


async def _listen(pipe: BinaryIO, complaints: Complaints) -> None:
    async with _reading(pipe) as reader:
        while data := await reader.read(PIPE_CHUNK_BYTES):
            complaints.take(data)


class Complaints:
    """Standard error of a server, at debug in our log: bounded, since some say a lot."""

    def __init__(self, program: Program) -> None:
        self._server = program.folder.name
        self._hidden = program.hidden
        self._logged = 0
        self._part = ""
        self._unseen = unseen(program)
        self._error = ""
        self.last: deque[str] = deque(maxlen=3)

    def take(self, data: bytes) -> None:
        *whole, self._part = (self._part[-LOG_LINE_MAX_CHARS:] + data.decode("utf-8", "replace")).split("\n")
        for line in filter(None, map(self._cut, [*whole[:LINES], *whole[LINES:][-1:]])):
            self.last.append(line)
            self._logged += 1
            if self._logged <= MOST_LINES:
                log.debug("an MCP server says", server=self._server, line=line)
        self._error = next((line for line in map(self._cut, reversed(whole)) if ERROR.search(line)), self._error)

    def blamed(self, why: str) -> str:
        """Its last words often tell more than that it ended. What else befell it is not its own doing."""
        if why != ENDED:
            return why
        last = [*self.last, *filter(None, [self._cut(self._part)])][-3:]
        words = " / ".join(last)[-LOG_LINE_MAX_CHARS:]
        if self._error and self._error not in words:  # of a long trace the cause stands far above its end
            words = f"{self._error} / … / {words}"
        return "; ".join(filter(None, [why, words and f"its last words: {words}", self._unseen]))

    def _cut(self, line: str) -> str:
        """Short, and without its secrets: its last words are told to the model too."""
        for secret in self._hidden:
            line = line.replace(secret, "[secret]")
        return line.strip()[:LOG_LINE_MAX_CHARS]
