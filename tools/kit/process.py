"""One child process whose output, time and whole family of children are bounded."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final

from tools.kit.output import Ends

PIPE_CHUNK_BYTES: Final = 64 * 1024
NO_VARIABLES: Final[Mapping[str, str]] = {}
LAST_WORDS: Final = 1.0  # seconds for output still in the pipe once the process is dead


@dataclass(frozen=True, slots=True)
class Ended:
    """Result of a process. `code` is 128 + n if signal n killed it; `text` is stdout and stderr as they came."""

    text: str
    code: int
    timed_out: bool


async def capture(
    argv: Sequence[str],
    *,
    cwd: Path,
    deadline: timedelta,
    limit: int,
    pass_fds: Sequence[int] = (),
    env: Mapping[str, str] = NO_VARIABLES,
    quiet: bool = False,
    uid: int | None = None,
) -> Ended:
    """Run `argv` with no variables but `env` and no input, and keep at most `limit` characters of what it says.

    `quiet` drops what it says on standard error; with `uid` it runs as that user and in that user's group alone. Its
    process group is dead when this returns, also by cancellation. Errors: OSError when it cannot be started.
    """
    ends = Ends(limit)
    as_user: dict[str, Any] = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
    read_end, write_end = os.pipe()
    # A pipe of our own rather than asyncio's: else wait() would wait for whoever still holds the other end.
    with os.fdopen(read_end, "rb", buffering=0) as pipe:
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=cwd,
                env=dict(env),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=write_end,
                stderr=asyncio.subprocess.DEVNULL if quiet else asyncio.subprocess.STDOUT,
                start_new_session=True,
                **as_user,
                pass_fds=pass_fds,
            )
        finally:
            os.close(write_end)
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(_read(pipe, ends))
            timed_out = await _wait(process, deadline)
            await asyncio.wait({reading}, timeout=LAST_WORDS)
            reading.cancel()
    return Ended(ends.text(), _code(process.returncode), timed_out)


async def _read(pipe: BinaryIO, ends: Ends) -> None:
    reader = asyncio.StreamReader(limit=PIPE_CHUNK_BYTES)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        while data := await reader.read(PIPE_CHUNK_BYTES):
            ends.feed(data)
    finally:
        transport.close()


async def _wait(process: asyncio.subprocess.Process, deadline: timedelta) -> bool:
    """Wait for the end, or make it. True when time ran out."""
    try:
        async with asyncio.timeout(deadline.total_seconds()):
            await process.wait()
    except TimeoutError:
        return True
    else:
        return False
    finally:
        # Also after a normal end: what was left in the background dies with its group.
        with suppress(ProcessLookupError, PermissionError):  # gone, or (on macOS) all its members are zombies
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _code(returncode: int | None) -> int:
    if returncode is None:
        return 128 + signal.SIGKILL
    return returncode if returncode >= 0 else 128 - returncode
