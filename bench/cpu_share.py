"""Half a core for a process, by cgroup, version 1 or 2; needs to be root there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PERIOD_MICROS: Final = 100_000
OF_VERSION_1: Final = Path("/sys/fs/cgroup/cpu")
OF_VERSION_2: Final = Path("/sys/fs/cgroup")


class NoShares(Exception):
    """This machine doesn't let us bound the processor of a process."""


@contextmanager
def share_of_a_core(name: str, share: float) -> Iterator[Path]:
    """A group whose processes together get so much of one core. Errors: NoShares."""
    group = _top() / f"signalbox-bench-{os.getpid()}-{name}"
    quota = round(PERIOD_MICROS * share)
    try:
        group.mkdir()
        if (group / "cpu.max").exists():
            (group / "cpu.max").write_text(f"{quota} {PERIOD_MICROS}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_MICROS))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
    except OSError as error:
        with suppress(OSError):
            group.rmdir()
        raise NoShares(str(error)) from error
    try:
        yield group
    finally:
        with suppress(OSError):  # a process may still be on its way out
            group.rmdir()


def put(group: Path, pid: int) -> None:
    """Errors: NoShares."""
    try:
        (group / "cgroup.procs").write_text(str(pid))
    except OSError as error:
        raise NoShares(str(error)) from error


def _top() -> Path:
    return OF_VERSION_1 if OF_VERSION_1.is_dir() else OF_VERSION_2
