"""The files of an open SQLite database: whether they are still the ones in its folder.

Who removes or replaces them under a process takes nothing from it: it goes on with what it has open, and all that is lost
when it ends. So nothing more is written then, and it is said how to save what is there. Files that come back are enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import structlog

from runtime.errors import StoreError, Trouble

SUFFIXES: Final = ("", "-wal", "-shm")
LOOK_EVERY: Final = 1.0
"""Seconds between two looks; one costs some microseconds."""

log = structlog.get_logger("store")

Known = Mapping[str, tuple[int, int]]
"""Device and number of each file that is there."""


class DatabaseFiles:
    """Of the database at `path`, as they are at this moment. Used by all threads of an engine."""

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = Path(path).absolute()
        self._clock = clock
        self._opened = self._there()
        self._next = clock() + LOOK_EVERY
        self.trouble: StoreError | None = None

    def look(self) -> StoreError | None:
        """The reason nothing may be written; None while all files are in place. Looks at the disk once a second at most."""
        now = self._clock()
        if now >= self._next:
            self._next = now + LOOK_EVERY
            self._tell(self._missing())
        return self.trouble

    def are_in_place(self) -> bool:
        """True if the files are at this moment those that were opened first."""
        return not self._missing()

    def _there(self) -> Known:
        found = {}
        for suffix in SUFFIXES:
            try:
                told = Path(f"{self._path}{suffix}").stat()
            except OSError:
                continue
            found[suffix] = (told.st_dev, told.st_ino)
        return found

    def _missing(self) -> str:
        """The first file that is not the one we have open; empty while there is none."""
        there = self._there()
        missing = next((suffix for suffix, known in self._opened.items() if there.get(suffix) != known), None)
        if missing is None:
            self._opened = there  # also one that was made since
            return ""
        return f"{self._path}{missing}"

    def _tell(self, missing: str) -> None:
        if missing and self.trouble is None:
            self.trouble = StoreError(
                f"{missing} was removed, moved or replaced while Signalbox was using it. Nothing more is accepted. Put it back, and work goes on. If you can't, save what this process still has: signalbox backup FILE. Then "
                "stop it, and: signalbox restore --force FILE",
                trouble=Trouble.LOST,
            )
            log.error("the database is lost", reason=str(self.trouble))
        elif self.trouble and not missing:
            self.trouble = None
            log.warning("the database is back in its place")
