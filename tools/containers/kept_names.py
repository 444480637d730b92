"""Names of containers that run, kept in files, so that none outlives the process that began it.

A process holds a lock on the file of each container of its own. The kernel gives the lock up however that process ends, so
a file without a holder names a leftover.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CONTAINER_NAME: Final = re.compile(r"signalbox-[0-9a-f]{16}")


@dataclass(slots=True)
class Hold:
    """A name that is kept; `is_over` once its container is certainly gone."""

    is_over: bool = False


@dataclass(frozen=True, slots=True)
class KeptNames:
    """Files in `folder`, which is made when it is first needed."""

    folder: Path

    @contextmanager
    def kept(self, name: str) -> Iterator[Hold]:
        """Keep `name` for the block, and longer if it isn't over then. Errors: OSError."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path, hold = self.folder / name, Hold()
        lock = _locked_anew(path)
        try:
            yield hold
        finally:
            if hold.is_over:
                path.unlink(missing_ok=True)
            os.close(lock)

    @contextmanager
    def leftovers(self) -> Iterator[list[tuple[str, Hold]]]:
        """Names that nobody holds; held for the block, and forgotten behind it where they are over."""
        locks: list[tuple[Path, int, Hold]] = []
        try:
            locks += [(path, lock, Hold()) for path in self._paths() if (lock := _taken(path)) is not None]
            yield [(path.name, hold) for path, _, hold in locks]
        finally:
            for path, lock, hold in locks:
                if hold.is_over:
                    path.unlink(missing_ok=True)
                os.close(lock)

    def _paths(self) -> list[Path]:
        with suppress(FileNotFoundError):
            return sorted(path for path in self.folder.iterdir() if CONTAINER_NAME.fullmatch(path.name))
        return []


def _locked_anew(path: Path) -> int:
    """A locked file at `path`. One who looks for leftovers may take it before us, and remove it: then once more."""
    while True:
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(lock).st_ino:
                return lock
        os.close(lock)


def _taken(path: Path) -> int | None:
    """A lock on it; None while its process lives."""
    try:
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    return lock
