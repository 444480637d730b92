"""The program under measurement, as its operator starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Program:
    """A running process. `seconds` passed between its start and its first line, which says that it is ready."""

    process: subprocess.Popen[str]
    url: str
    link: str
    seconds: float

    @property
    def memory_mb(self) -> float:
        return psutil.Process(self.process.pid).memory_info().rss / 1e6

    @property
    def processor_seconds(self) -> float:
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)


@contextmanager
def signalbox(folder: Path, settings: str, variables: Mapping[str, str] | None = None) -> Iterator[Program]:
    """`signalbox run` in `folder` with these settings, ready to take messages."""
    (folder / "signalbox.toml").write_text(settings)
    with _process([sys.executable, "-m", "bot", "run"], folder, variables) as (process, began):
        first = _line(process)
        seconds = time.perf_counter() - began
        second = _line(process)
        link = second.rsplit(" ", 1)[-1] if "/link/" in second else ""
        yield Program(process, first.rsplit(" ", 1)[-1], link, seconds)


@contextmanager
def helper(module: str, *arguments: str, folder: Path) -> Iterator[Program]:
    """Another process of the benchmark that prints its URL."""
    with _process([sys.executable, "-m", module, *arguments], folder, None) as (process, began):
        url = _line(process).strip()
        yield Program(process, url, "", time.perf_counter() - began)


@contextmanager
def _process(
    command: Sequence[str], folder: Path, variables: Mapping[str, str] | None
) -> Iterator[tuple[subprocess.Popen[str], float]]:
    environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    environment |= {"PYTHONPATH": str(ROOT), **(variables or {})}
    began = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process, began
    finally:
        process.terminate()
        process.wait(timeout=15)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"the process ended with {process.wait()} before it said anything")
    return line.strip()


def said(line: str) -> object:
    """A line of JSON that a helper printed."""
    return json.loads(line)
