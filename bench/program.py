"""The processes of a measurement: the program as its operator starts it, and helpers that print their URL."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

from tests.fakes import forked
from tests.fakes.forked import Begun

TOKEN: Final = "a-token-of-the-benchmarks"
ROOT: Final = Path(__file__).parents[1]
LAST: Final = 2_000  # characters of what a failed process said

are_forked = False
"""Whether they are forked from a process that has loaded everything, instead of started: when nothing is judged."""


def fork_them() -> None:
    global are_forked
    are_forked = True


@dataclass(frozen=True, slots=True)
class Program:
    """A running process. `seconds` passed between its start and its first line, which says that it is ready."""

    process: subprocess.Popen[str] | Begun
    url: str
    link: str
    seconds: float

    @property
    def memory_mb(self) -> float:
        return psutil.Process(self.process.pid).memory_info().rss / 1e6

    @property
    def memory_of_all_mb(self) -> float:
        """Of the process and all that it started; a page that several share counts once (PSS)."""
        process = psutil.Process(self.process.pid)
        each = [process, *process.children(recursive=True)]
        return float(sum(one.memory_full_info().pss for one in each)) / 1e6

    @property
    def processor_seconds(self) -> float:
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)


@dataclass(frozen=True, slots=True)
class Started:
    """A process that may not have said anything yet. Its standard error is in `log`, as under a service manager."""

    process: subprocess.Popen[str] | Begun
    began: float
    log: Path

    def line(self) -> str:
        """Its next line. Errors: RuntimeError with its last words when it ended instead."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            status, words = self.process.wait(), self.log.read_text()[-LAST:]
            raise RuntimeError(f"{self.log.stem} ended with {status}:\n{words}")
        return line.strip()

    @property
    def age(self) -> float:
        return time.perf_counter() - self.began


@contextmanager
def signalbox(folder: Path, settings: str) -> Iterator[Program]:
    """`signalbox run` in `folder` with these settings, ready to take messages."""
    (folder / "signalbox.toml").write_text(settings)
    with _started("bot", "run", folder=folder) as started:
        first = started.line()
        seconds = started.age
        url = first.rsplit(" ", 1)[-1]
        yield Program(started.process, url, f"{url}/link/{TOKEN}", seconds)


@contextmanager
def bare_handler(module: str, *arguments: str, folder: Path) -> Iterator[Program]:
    """A bare handler on a platform: it prints a line, and talks to nobody but its platform and the model."""
    with _started(module, *arguments, folder=folder) as started:
        started.line()
        yield Program(started.process, "", "", started.age)


@contextmanager
def helper(module: str, *arguments: str, folder: Path) -> Iterator[Program]:
    """Another process of the benchmark that prints its URL."""
    with _started(module, *arguments, folder=folder) as started:
        url = started.line()
        yield Program(started.process, url, "", started.age)


def printed(module: str, *arguments: str, folder: Path) -> str:
    """What `python -m module` prints on its way to a good end."""
    place: dict[str, Any] = {"folder": folder, "environment": _environment()}
    if are_forked:
        ended = forked.run(module, *arguments, **place, seconds=1_800)
    else:
        command = [sys.executable, "-m", module, *arguments]
        ended = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, timeout=1_800, check=False)
    if ended.returncode:
        raise RuntimeError(f"{module} ended with {ended.returncode}:\n{ended.stderr.decode()[-LAST:]}")
    return ended.stdout.decode()


@contextmanager
def _started(module: str, *arguments: str, folder: Path) -> Iterator[Started]:
    log = folder / f"{module}.log"
    with log.open("a") as errors:
        began = time.perf_counter()
        process = _begun(module, arguments, folder, errors.fileno())
    try:
        yield Started(process, began, log)
    finally:
        process.terminate()
        process.wait(timeout=15)
        if process.stdout:
            process.stdout.close()


def _begun(module: str, arguments: Sequence[str], folder: Path, log: int) -> subprocess.Popen[str] | Begun:
    if are_forked:
        return forked.begin(module, *arguments, folder=folder, environment=_environment(), stderr=log)
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(command, cwd=folder, env=_environment(), stdout=subprocess.PIPE, stderr=log, text=True)


def _environment() -> dict[str, str]:
    """Ours, without a proxy: everything that is measured talks to this machine alone. The page's link is known."""
    ours = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return ours | {"PYTHONPATH": str(ROOT), "SIGNALBOX_WEB__TOKEN": TOKEN}
