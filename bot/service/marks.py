"""Marks of processes: a number alone may belong to somebody else by now, after a restart of the machine even at once."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

PROC: Final = Path("/proc")
BOOT_ID: Final = PROC / "sys/kernel/random/boot_id"
STATE, STARTED = 0, 19
"""Fields behind the name in /proc/PID/stat: state, and start in ticks since the boot. Source: proc(5)."""
DEAD_STATES: Final = ("Z", "X")
PS_SECONDS: Final = 10
END_LOOK_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class ProcessMark:
    """A process that no other one can be taken for: its number, its start on which boot, and its command."""

    pid: int
    started: str
    boot: str
    command: str

    def as_json(self) -> dict[str, Any]:
        return {"pid": self.pid, "started": self.started, "boot": self.boot, "command": self.command}


def mark_in(told: object) -> ProcessMark | None:
    """A mark as `as_json` wrote it; None for anything else."""
    match told:
        case {"pid": int(pid), "started": str(started), "boot": str(boot), "command": str(command)} if pid > 1:
            return ProcessMark(pid, started, boot, command)
        case _:
            return None


def mark_of(pid: int) -> ProcessMark | None:
    """The process that has this number now; None where nobody does, or one that only waits to be buried."""
    return _of_proc(pid) if BOOT_ID.exists() else _of_ps(pid)


def is_alive(mark: ProcessMark) -> bool:
    return mark_of(mark.pid) == mark


def uptime(mark: ProcessMark) -> timedelta | None:
    """Time since its start; None where the machine doesn't tell."""
    with suppress(OSError, ValueError, IndexError):
        since_boot = float((PROC / "uptime").read_text().split()[0])
        started = int(mark.started) / os.sysconf("SC_CLK_TCK")
        return timedelta(seconds=max(0.0, since_boot - started))
    return None


@contextmanager
def held(mark: ProcessMark) -> Iterator[int | None]:
    """A handle of the very process, where there are such: its number can't pass to another one while it is asked to end."""
    handle = None
    with suppress(OSError, AttributeError):
        handle = os.pidfd_open(mark.pid)
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def send(mark: ProcessMark, number: signal.Signals) -> bool:
    """Send a signal to the marked process, and to no other one; False where it is gone."""
    with held(mark) as handle:
        if not is_alive(mark):  # behind the handle, so that it is of this process or of none
            return False
        try:
            if handle is None:
                os.kill(mark.pid, number)
            else:
                signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            return False
    return True


def wait_for_end(mark: ProcessMark, within: timedelta) -> bool:
    """True once it is gone, with all that it held; False where it still runs after this time."""
    end = time.monotonic() + within.total_seconds()
    while is_alive(mark) or _is_leaving(mark):
        if time.monotonic() >= end:
            return False
        time.sleep(END_LOOK_SECONDS)
    return True


def _of_proc(pid: int) -> ProcessMark | None:
    with suppress(OSError, ValueError, IndexError):
        state, started, command = _told_of(pid)
        if state not in DEAD_STATES and command:
            return ProcessMark(pid, started, BOOT_ID.read_text().strip(), command)
    return None


def _is_leaving(mark: ProcessMark) -> bool:
    """True if it is being ended: without its memory it has no command any more, and its locks are given back after that."""
    with suppress(OSError, ValueError, IndexError):
        state, started, command = _told_of(mark.pid)
        return state not in DEAD_STATES and started == mark.started and not command
    return False


def _told_of(pid: int) -> tuple[str, str, str]:
    """State, start and command of a process. Errors: OSError where there is none."""
    fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    command = (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return fields[STATE], fields[STARTED], command


def _of_ps(pid: int) -> ProcessMark | None:
    """On systems without /proc; the date of its start is of one boot only."""
    asked = ["ps", "-ww", "-o", "lstart=", "-o", "command=", "-p", str(pid)]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=PS_SECONDS, check=False)  # noqa: S603 - our own words
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = told.stdout.split()
    if told.returncode or len(words) <= PS_DATE_WORDS:
        return None
    return ProcessMark(pid, " ".join(words[:PS_DATE_WORDS]), "", " ".join(words[PS_DATE_WORDS:]))


PS_DATE_WORDS: Final = 5
"""`Fri Nov 27 00:16:16 2026`."""
