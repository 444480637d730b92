"""The program under test as a process that dies as planned and is started again at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from tests.fakes.forked import Forked, forked
from tests.fakes.serve import ROOT

T = TypeVar("T")

GLANCE: Final = 0.1  # seconds between two things that people do, or looks at whether a process lives
LOOK: Final = 0.04  # seconds between two looks at what another process shows
PATIENCE: Final = 100.0  # seconds; nine kills and restarts in a row take that long on a busy machine
LEAVES_WITHIN: Final = 10.0  # seconds after SIGTERM


@dataclass(frozen=True, slots=True)
class Kill:
    """Where a life of the process ends: at the `hit`-th time that it passes `point`; `armed`: since `Program.arm`."""

    point: str
    hit: int = 1
    armed: bool = False

    def __str__(self) -> str:
        return f"{self.point} (time {self.hit})"


class Program:
    """`python -m tests.faults.app` over one data folder, one life after another."""

    def __init__(self, data: Path, *arguments: str, module: str = "tests.faults.app") -> None:
        self.data = data
        self.kills: list[Kill] = []
        self.spent = asyncio.Event()
        self.url = ""
        self._arguments = arguments
        self._module = module
        self._up = asyncio.Event()
        self._process: Forked | None = None
        self._over = asyncio.Event()

    def add(self, *arguments: str) -> None:
        """More for its command line, from its next life on; the later of two equal settings counts."""
        self._arguments = (*self._arguments, *arguments)

    async def run(self, plan: Sequence[Kill] = ()) -> None:
        """Live and die by `plan`, then live until `leave`. Errors: RuntimeError when it ends in any other way."""
        for kill in plan:
            when = ("--armed", str(self._armed)) if kill.armed else ()
            code = await self._live("--kill", kill.point, "--hit", str(kill.hit), *when)
            if code != -signal.SIGKILL:
                raise RuntimeError(f"not killed at {kill}: ended with {code}\n{self.log()}")
            self.kills.append(kill)
        self.spent.set()
        code = await self._live()
        if code != 0:
            raise RuntimeError(f"left with {code}\n{self.log()}")

    def arm(self) -> None:
        """From now on the next kill that waits for this counts."""
        self._armed.touch()

    @property
    def is_armed(self) -> bool:
        """True until it was killed."""
        return self._armed.exists()

    @property
    def _armed(self) -> Path:
        return self.data.parent / "armed"

    async def up(self) -> str:
        """Where it listens, as soon as it does."""
        await self._up.wait()
        return self.url

    async def leave(self) -> float:
        """Ask it to go; how many seconds it took."""
        await self.up()
        assert self._process is not None
        began = asyncio.get_running_loop().time()
        self._process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):  # how long it may take has a test of its own
            await self._over.wait()
        return asyncio.get_running_loop().time() - began

    def kill(self) -> None:
        """End it this moment, wherever it is."""
        assert self._process is not None
        self._process.kill()

    def log(self) -> str:
        """The last lines it logged."""
        path = self._log_file()
        return "\n".join(path.read_text(encoding="utf-8").splitlines()[-30:]) if path.exists() else ""

    def _log_file(self) -> Path:
        return self.data.parent / "log"

    async def _live(self, *more: str) -> int:
        command = (self._module, "--data", str(self.data), *self._arguments, *more)
        self._over.clear()
        try:
            with self._log_file().open("ab") as log:
                async with forked(*command, folder=ROOT, stderr=log.fileno()) as self._process:
                    if line := await self._process.stdout.readline():
                        self.url = line.decode().strip()
                        self._up.set()
                    return await self._process.wait()
        finally:
            self._up.clear()
            self._over.set()


@asynccontextmanager
async def living(program: Program, plan: Sequence[Kill] = ()) -> AsyncIterator[None]:
    """The program lives inside the block; a block that did not ask it to leave kills it at the end.

    Errors: the first of whatever went wrong, in the block or with the program.
    """
    program.spent.clear()
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(program.run(plan))
            try:
                yield
            finally:
                task.cancel()
    except BaseExceptionGroup as errors:
        raise first(errors) from None


def first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def until(look: Callable[[], Awaitable[T | None]], what: str, seconds: float = PATIENCE) -> T:
    """What `look` gives once it gives something. Errors: AssertionError names what did not come."""
    end = asyncio.get_running_loop().time() + seconds
    while (found := await look()) is None:
        if asyncio.get_running_loop().time() > end:
            raise AssertionError(f"within {seconds:g} s there was no sign of {what}")
        await asyncio.sleep(LOOK)
    return found
