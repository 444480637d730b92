"""One node of the laboratory: a process of the program that is kept whatever is done to it, and its ways to the world."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp

from tests.fakes.forked import forked
from tests.fakes.serve import ROOT
from tests.faults.program import until
from tests.lab.points import FREEZER
from tests.lab.proxy import Proxy

STARTS_WITHIN: Final = 60.0  # seconds; under two where nothing else runs
LEAVES_WITHIN: Final = 30.0  # seconds; the checker judges, and this only ends the wait
PATIENCE: Final = 60.0  # seconds for an answer


@dataclass(frozen=True, slots=True)
class Health:
    """One look from outside. Status 0: nobody answered."""

    ready: int = 0
    healthy: int = 0
    seconds: float = 0.0
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ways:
    """What is between a node and the world. `platforms` by channel; without a server `store` and `notices` are none."""

    platforms: Mapping[str, Proxy]
    store: Proxy | None = None
    notices: Proxy | None = None
    model: Proxy | None = None


class Process(Protocol):
    """What `Forked` and asyncio's processes have."""

    pid: int

    @property
    def returncode(self) -> int | None: ...
    @property
    def stdout(self) -> asyncio.StreamReader | None: ...
    async def wait(self) -> int: ...
    def send_signal(self, number: signal.Signals) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


class Node:
    """One node. `prefix` are words before `python -m`, such as `("faketime", "+1 hour")`: then it is no fork."""

    def __init__(
        self, name: str, folder: Path, arguments: Sequence[str], ways: Ways, prefix: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.data = folder / name / "var"
        self.ways = ways
        self.url = ""
        self.arguments = list(arguments)
        self.prefix = list(prefix)
        self._log = folder / f"{name}.log"
        self._process: Process | None = None
        self._life = AsyncExitStack()

    async def start(self) -> None:
        """Begin a life; the one before is over. Errors: AssertionError with its last words."""
        await self._life.aclose()
        self.data.mkdir(parents=True, exist_ok=True, mode=0o711)
        command = ("tests.lab.app", "--data", str(self.data), *self.arguments)
        log = self._life.enter_context(self._log.open("ab"))
        if self.prefix:
            self._process = await self._life.enter_async_context(_prefixed(self.prefix, command, log.fileno()))
        else:
            self._process = await self._life.enter_async_context(forked(*command, folder=ROOT, stderr=log.fileno()))
        assert self._process.stdout
        async with asyncio.timeout(STARTS_WITHIN):
            self.url = (await self._process.stdout.readline()).decode().strip()
        if not self.url:
            raise AssertionError(f"{self.name} did not start\n{self.log()}")

    async def close(self) -> None:
        """End it, however it is."""
        await self._life.aclose()

    @property
    def platform(self) -> Proxy:
        """The way to the only platform, or to the first."""
        return next(iter(self.ways.platforms.values()))

    @property
    def store(self) -> Proxy | None:
        return self.ways.store

    @property
    def process(self) -> Process:
        assert self._process is not None
        return self._process

    @property
    def is_living(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self.process.kill()

    @property
    def freezer(self) -> Path:
        """The file that names the point at which it is to freeze; it is gone once it froze there."""
        return self.data.parent / FREEZER

    def freeze_at(self, point: str) -> None:
        """It stops itself as soon as it passes this point."""
        self.freezer.write_text(point, encoding="utf-8")

    @property
    def is_frozen(self) -> bool:
        """True while it is stopped by a signal."""
        with Path(f"/proc/{self.process.pid}/stat").open(encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "T"

    async def until_frozen(self, seconds: float = PATIENCE) -> None:
        async def look() -> bool | None:
            return self.is_frozen or None

        await until(look, f"{self.name} frozen at its point\n{self.log()}", seconds)

    async def leave(self) -> dict[str, Any]:
        """Ask it to go: its exit code, and how many seconds it took."""
        began = time.monotonic()
        self.process.terminate()
        try:
            async with asyncio.timeout(LEAVES_WITHIN):
                code: int | None = await self.process.wait()
        except TimeoutError:
            code = None
        return {"name": self.name, "code": code, "seconds": time.monotonic() - began}

    async def health(self) -> Health:
        """What it says of itself now."""
        timeout = aiohttp.ClientTimeout(total=5)
        began = time.monotonic()
        try:
            async with aiohttp.ClientSession(timeout=timeout) as http:
                async with http.get(f"{self.url}/readyz") as answer:
                    ready, told = answer.status, await answer.json()
                seconds = time.monotonic() - began
                async with http.get(f"{self.url}/healthz") as answer:
                    return Health(ready, answer.status, seconds, told.get("reasons", {}))
        except (aiohttp.ClientError, TimeoutError):
            return Health(seconds=time.monotonic() - began)

    async def until_ready(self, seconds: float = PATIENCE) -> float:
        """How many seconds it took to say that it is ready."""
        return await self._until_says(200, seconds)

    async def until_not_ready(self, seconds: float = PATIENCE) -> float:
        """How many seconds it took to say that it is not."""
        return await self._until_says(503, seconds)

    async def _until_says(self, status: int, seconds: float) -> float:
        began = time.monotonic()

        async def look() -> bool | None:
            return (await self.health()).ready == status or None

        await until(look, f"{self.name} saying {status}\n{self.log()}", seconds)
        return time.monotonic() - began

    async def ended(self, seconds: float = PATIENCE) -> int:
        """Its exit code, once it ended by itself."""
        async with asyncio.timeout(seconds):
            return await self.process.wait()

    def log(self) -> str:
        """The last lines it logged."""
        return "\n".join(self._log.read_text(encoding="utf-8").splitlines()[-40:]) if self._log.exists() else ""


@asynccontextmanager
async def _prefixed(prefix: Sequence[str], command: Sequence[str], stderr: int) -> AsyncIterator[Process]:
    """The program as a Python of its own, begun by another program; killed at the end, with its children."""
    python = sys.executable
    process = await asyncio.create_subprocess_exec(
        *prefix, python, "-m", *command, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=stderr, start_new_session=True
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
