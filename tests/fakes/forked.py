"""`python -m MODULE` without the second that loading takes: forked from a process that has loaded everything once.

The suite starts the program hundreds of times. Each of these is a process of its own, with its own folder, environment
and ends, that dies of a signal like any other; what it does not show is how it loads. Tests of that start a Python. Where
tests start it, it doesn't show either how a new database is made and how long the disk takes: see `new_sqlite`.
"""

from __future__ import annotations

import asyncio
import fcntl
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from io import TextIOWrapper
from multiprocessing import forkserver
from multiprocessing.context import ForkServerProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import Any, Final, TextIO

LOADED: Final = "tests.fakes.loaded"
"""What the process has loaded from which the others are forked."""

SHARED: Final = "TESTS_FORK_SERVER"
"""Variable with the address of the process from which all processes of a run of the tests fork."""

NEWEST: Path | None = None
"""Of tests: a database at the newest revision, of which each process has a copy where there is none."""

_CONTEXT: Final = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([LOADED])


class _Shared(forkserver.ForkServer):
    """One that was begun by another process, which ends it."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._forkserver_address = address
        self._forkserver_alive_fd = os.open(os.devnull, os.O_RDONLY)

    def ensure_running(self) -> None:
        pass


def share() -> None:
    """Begin the process from which others are forked, for all processes that we start from now on."""
    server: Any = forkserver._forkserver  # no name that is public
    if not hasattr(server, "_forkserver_authkey"):  # later releases of Python let in nobody else
        server.ensure_running()
        os.environ[SHARED] = server._forkserver_address


def load() -> None:
    """Wait until that process has loaded everything; else the first start stops its loop meanwhile, and time-outs run out."""
    process = _CONTEXT.Process(target=int)
    process.start()
    process.join()


if _address := os.environ.pop(SHARED, ""):
    forkserver.connect_to_new_process = _Shared(_address).connect_to_new_process


class Forked:
    """One such process, as asyncio has processes."""

    def __init__(self, process: ForkServerProcess, stdout: asyncio.StreamReader) -> None:
        assert process.pid is not None
        self.pid: int = process.pid
        self.stdout = stdout
        self._process = process
        self._over = asyncio.Event()
        asyncio.get_running_loop().add_reader(process.sentinel, self._ended)

    @property
    def returncode(self) -> int | None:
        """Less than zero is the signal that it died of."""
        return self._process.exitcode

    async def wait(self) -> int:
        await self._over.wait()
        assert self._process.exitcode is not None
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _ended(self) -> None:
        asyncio.get_running_loop().remove_reader(self._process.sentinel)
        self._over.set()


@asynccontextmanager
async def forked(module: str, *arguments: str, folder: Path, stderr: int = 2) -> AsyncIterator[Forked]:
    """`python -m module` with our environment and standard error; killed at the end of the block."""
    ours, theirs = os.pipe()
    with os.fdopen(theirs, "wb"):  # our copy of its end: while that is open nobody is told that it closed its own
        process = _process(module, arguments, folder, os.environ, {1: theirs, 2: stderr})
        process.start()
    stdout = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stdout), os.fdopen(ours, "rb", 0)
    )
    running = Forked(process, stdout)
    try:
        yield running
    finally:
        running.kill()
        await running.wait()
        transport.close()


class Begun:
    """One such process where no loop runs, as `subprocess` has processes."""

    def __init__(self, process: ForkServerProcess, stdout: TextIO) -> None:
        assert process.pid is not None
        self.pid: int = process.pid
        self.stdout = stdout
        self._process = process

    @property
    def returncode(self) -> int | None:
        """Less than zero is the signal that it died of."""
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Errors: subprocess.TimeoutExpired after so many seconds."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def begin(module: str, *arguments: str, folder: Path, environment: Mapping[str, str], stderr: int) -> Begun:
    """`python -m module`, which goes on until it ends or is killed."""
    ours, theirs = os.pipe()
    with os.fdopen(theirs, "wb"):  # as above
        process = _process(module, arguments, folder, environment, {1: theirs, 2: stderr})
        process.start()
    return Begun(process, os.fdopen(ours, encoding="utf-8"))


def at_terminal(
    terminal: int, module: str, *arguments: str, folder: Path, environment: Mapping[str, str], ignores: bool
) -> ForkServerProcess:
    """`python -m module` of somebody who sits at this terminal. With `ignores` SIGINT is ignored as it begins."""
    ends = dict.fromkeys((0, 1, 2), terminal)
    process = _process(module, arguments, folder, environment, ends, ignores)
    process.start()
    return process


def run(
    module: str, *arguments: str, folder: Path, environment: Mapping[str, str], said: bytes = b"", seconds: float
) -> subprocess.CompletedProcess[bytes]:
    """`python -m module` to its end. Errors: subprocess.TimeoutExpired, once it was killed."""
    with ExitStack() as stack:
        stdin, stdout, stderr = ends = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        stdin.write(said)
        stdin.seek(0)
        numbers = {number: end.fileno() for number, end in enumerate(ends)}
        process = _process(module, arguments, folder, environment, numbers)
        process.start()
        process.join(seconds)
        code = process.exitcode
        process.kill()
        process.join()
        process.close()
        told = []
        for end in (stdout, stderr):
            end.seek(0)
            told.append(end.read())
    if code is None:
        raise subprocess.TimeoutExpired([module, *arguments], seconds, *told)
    return subprocess.CompletedProcess([module, *arguments], code, *told)


def _process(
    module: str,
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    ends: Mapping[int, int],
    ignores: bool = False,
) -> ForkServerProcess:
    copies = {number: _End(end) for number, end in ends.items()}
    given = (module, arguments, folder, dict(environment), copies, ignores, NEWEST)
    return _CONTEXT.Process(target=_live, args=given)


class _End:
    """A file that the other process gets a copy of: over there it is the copy's number."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _detached, (DupFd(self._number),)


def _detached(copy: Any) -> int:
    number: int = copy.detach()
    return number


# ------------------------------------------------------------------------------------------------------ in the process


def _live(
    module: str,
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    ends: Mapping[int, int],
    ignores: bool,
    newest: Path | None,
) -> None:
    """Be what `python -m module` would be. Without an end for its standard input it reads nothing."""
    for number, end in {0: os.open(os.devnull, os.O_RDONLY), **ends}.items():
        os.dup2(end, number)
        os.close(end)
    if os.isatty(0):
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # keys that are signals come to whoever's terminal it is
    if ignores:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__ = _text(0), _text(1), _text(2)  # type: ignore[misc]  # typed as constants
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.path[:0] = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", *sys.path)]
    if newest is not None:
        from tests.fakes.new_sqlite import hurry  # benchmarks are of the product as it is

        hurry(newest)
    sys.argv = [module, *arguments]
    sys.modules.pop(module, None)  # what was loaded to be looked into is not what runs
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _text(number: int) -> TextIOWrapper:
    """Standard input, output or error, as Python opens them where the language is C.UTF-8."""
    raw = os.fdopen(number, "wb" if number else "rb", closefd=False)
    errors = "backslashreplace" if number == 2 else "surrogateescape"
    return TextIOWrapper(raw, encoding="utf-8", errors=errors, line_buffering=number == 2 or raw.isatty())
