"""The doctor, run for operators at the console: in a process of its own, which ends within a bound whatever it meets."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from runtime.contract import Now
from runtime.text.words import marked

DOCTOR_TIMEOUT: Final = timedelta(seconds=120)
"""For all checks together; each of them has a bound of its own."""
LOOK_APART: Final = timedelta(seconds=15)
"""Between the end of a look and the next one: nothing is gained by pressing twice, and each takes a second of a core."""
TOO_LATE: Final = marked(
    "The doctor didn't finish within {number} s, and was ended. Try again, or run: signalbox doctor"
)
NO_ANSWER: Final = marked("The doctor couldn't be run (exit code {number}). Run it on the machine: signalbox doctor")


@dataclass(frozen=True, slots=True)
class Examined:
    """Findings of one look. `trouble` says why there are none, with `number` in it."""

    at: datetime
    findings: Sequence[Mapping[str, Any]] = ()
    trouble: str = ""
    number: int = 0


async def examined(settings_file: Path | None, now: Now, within: timedelta = DOCTOR_TIMEOUT) -> Examined:
    """Run `signalbox doctor` as an operator would. It changes nothing, and asks no model."""
    config = ["--config", str(settings_file)] if settings_file else []
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bot", "doctor", "--json", *config),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=DEVNULL,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(within.total_seconds()):
            told, _ = await child.communicate()
    except TimeoutError:
        return Examined(now(), trouble=TOO_LATE, number=int(within.total_seconds()))
    finally:
        await _end(child)
    try:
        return Examined(now(), json.loads(told)["findings"])
    except (ValueError, KeyError, TypeError):
        return Examined(now(), trouble=NO_ANSWER, number=child.returncode or 0)


async def _end(child: Process) -> None:
    """With all that it started. Its number is ours until we have waited for it."""
    if child.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()


class Examination:
    """One look at a time, and what the last one found. Whoever asks meanwhile is told that one is under way."""

    def __init__(self, *, settings_file: Callable[[], Path | None], now: Now, leaves_out: str = "") -> None:
        """`leaves_out` begins the ids of findings that whoever looks would cause."""
        self._settings_file = settings_file
        self._now = now
        self._leaves_out = leaves_out
        self._lock = asyncio.Lock()
        self.last: Examined | None = None

    @property
    def is_running(self) -> bool:
        return self._lock.locked()

    async def look(self) -> Examined | None:
        """Look now; None where somebody else's look is under way. One that has just ended is told once more."""
        if self._lock.locked():
            return None
        if self.last is not None and self._now() - self.last.at < LOOK_APART:
            return self.last
        async with self._lock:
            found = await examined(self._settings_file(), self._now)
            kept = [one for one in found.findings if not (self._leaves_out and one["id"].startswith(self._leaves_out))]
            self.last = replace(found, findings=kept)
            return self.last
