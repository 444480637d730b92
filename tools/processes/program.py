"""One program that lives on: its pipes, its family, its end."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from runtime.errors import ToolFailed
from tools.processes.ring import Ring
from tools.sandbox.launcher import Order
from tools.sandbox.sandbox import launcher_argv

PIPE_CHUNK_BYTES: Final = 64 * 1024
FLOOD_BYTES: Final = 4 << 20
"""Bytes a second that are read of what a program says, at most."""
INPUT_TIME: Final = timedelta(seconds=10)
"""Longest wait for a program that reads nothing of what it is sent."""
STOP_GRACE: Final = timedelta(seconds=2)
"""Time to come to an end once it was asked to."""
OUTPUT_GRACE: Final = 0.5  # seconds for output still in the pipe once it is dead


class Program:
    """A process group in the sandbox. `ended` is set once it is dead, all it said was read, and that is noted."""

    def __init__(self, process: asyncio.subprocess.Process, output: int, given: asyncio.StreamWriter) -> None:
        self.ring = Ring()
        self.ended = asyncio.Event()
        self.news = asyncio.Event()
        self._process = process
        self._output = output
        self._input = given

    @classmethod
    async def start(cls, order: Order, workspace: Path) -> Program:
        """Errors: ToolFailed when it can't be started."""
        argv = launcher_argv(order)
        # Pipes of our own: of those that asyncio makes, its `wait` waits for whoever still holds the other end.
        (read_end, said), (heard, write_end) = os.pipe(), os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=workspace,
                env={},
                stdin=heard,
                stdout=said,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except BaseException as error:
            os.close(read_end)
            os.close(write_end)
            if isinstance(error, OSError):
                raise ToolFailed(f"The command could not be started: {error.strerror}.") from error
            raise
        finally:
            os.close(said)
            os.close(heard)
        try:
            return cls(process, read_end, await _writer(write_end))
        except BaseException:  # the call is cut, and nobody would look after the program
            _signal(process.pid, signal.SIGKILL)
            os.close(read_end)
            raise

    @property
    def exit_code(self) -> int | None:
        """128 + n if signal n killed it; None while it runs."""
        code = self._process.returncode
        return None if code is None else code if code >= 0 else 128 - code

    async def run(self, time: timedelta) -> bool:
        """Keep what it says until it ends; false where it was killed since its time was over."""
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(self._read())
            in_time = await self._wait(time)
            await asyncio.wait({reading}, timeout=OUTPUT_GRACE)
            reading.cancel()
        return in_time

    def over(self) -> None:
        """Tell whoever waits for the end that it is noted."""
        self.ended.set()
        self.news.set()

    async def write(self, text: str, *, close: bool) -> None:
        """Errors: ToolFailed where it takes no input any more."""
        if self._input.is_closing() or self.exit_code is not None:
            raise ToolFailed("The process takes no input any more.")
        try:
            async with asyncio.timeout(INPUT_TIME.total_seconds()):
                self._input.write(text.encode())
                await self._input.drain()
        except TimeoutError as error:
            raise ToolFailed(f"The process read nothing for {INPUT_TIME.total_seconds():g} s.") from error
        except OSError as error:
            raise ToolFailed("The process takes no input any more.") from error
        if close:
            self._input.close()

    async def stop(self) -> None:
        """Ask it to end, then make it."""
        self._ask()
        for _ in range(2):
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_GRACE.total_seconds()):
                    await self.ended.wait()
                    return
            _signal(self._process.pid, signal.SIGKILL)

    def _ask(self) -> None:
        for group in _groups(self._process.pid):
            _signal(group, signal.SIGTERM)

    async def _wait(self, time: timedelta) -> bool:
        try:
            async with asyncio.timeout(time.total_seconds()):
                await self._process.wait()
        except TimeoutError:
            return False
        else:
            return True
        finally:
            await asyncio.shield(self._end())

    async def _end(self) -> None:
        if self._process.returncode is None:
            self._ask()
            with suppress(TimeoutError):
                async with asyncio.timeout(STOP_GRACE.total_seconds()):
                    await self._process.wait()
        # Also after a normal end: what was left in the background dies with its group.
        _signal(self._process.pid, signal.SIGKILL)
        self._input.close()
        await self._process.wait()

    async def _read(self) -> None:
        reader = asyncio.StreamReader(limit=PIPE_CHUNK_BYTES)
        loop = asyncio.get_running_loop()
        pipe = os.fdopen(self._output, "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            while data := await reader.read(PIPE_CHUNK_BYTES):
                self.ring.feed(data)
                self.news.set()
                if len(data) >= PIPE_CHUNK_BYTES // 2:  # it floods, and shall wait for us
                    await asyncio.sleep(len(data) / FLOOD_BYTES)
        finally:
            transport.close()


async def _writer(pipe: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    open_pipe = os.fdopen(pipe, "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, open_pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)


def _groups(pid: int) -> list[int]:
    """Process groups that are asked to end: where the process is bubblewrap, what is in there, since that dies with bubblewrap."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        inside = [group for child in map(int, children) if (group := os.getpgid(child)) != pid]
        below = [
            group
            for child in map(int, children)
            for each in Path(f"/proc/{child}/task/{child}/children").read_text().split()
            if (group := os.getpgid(int(each))) != pid
        ]
    except OSError:  # gone by now, or no such file here
        return [pid]
    return list(dict.fromkeys([*inside, *below])) or [pid]


def _signal(group: int, how: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):  # gone, or (on macOS) all its members are zombies
        os.killpg(group, how)
