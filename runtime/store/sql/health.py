"""Health of the store's writes, told once when it changes, since everybody who works would tell it otherwise; and of reads on
the event loop's thread, which can tell nothing while they wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import structlog

from runtime.errors import StoreError

log = structlog.get_logger("store")

CALM: Final = 2.0
"""Seconds without a failure until it is over: a full disk refuses what is large and takes what is small."""
HANGS_AFTER: Final = timedelta(seconds=5)
"""A disk that has not answered one read of a few rows by then is not slow: it hangs."""


class Health:
    """`trouble` is why writes fail, None when they do not. An engine tells of each write."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.trouble: StoreError | None = None
        self._clock = clock
        self._began = self._last = self._over_at = 0.0
        self._closed = False

    def failed(self, error: StoreError, began: float) -> None:
        """A write failed that began then, by `monotonic`. One of before the last trouble was over tells nothing new: a connection
        that was forgotten in an outage is found silent seconds after it."""
        if self._closed or (self.trouble is None and began < self._over_at):
            return
        self._last = self._clock()
        if self.trouble is None:
            self._began = self._last
        if self.trouble is None or self.trouble.trouble is not error.trouble:
            log.warning("the store is in trouble", reason=str(error), kind=error.trouble.value)
        self.trouble = error

    def worked(self) -> None:
        if self.trouble is None or self._clock() - self._last < CALM:
            return
        self.trouble, self._over_at = None, self._clock()
        log.warning("the store works again", after_seconds=round(self._over_at - self._began, 1))

    def close(self) -> None:
        """Close: what fails from now on fails because this process ends."""
        self._closed = True


class DiskWatch:
    """Says that a disk hangs, from a thread of its own: the process stands still until it answers.

    It ends nothing. Another process could not read the file either, and what is under way goes on once the disk is back;
    who watches the process from outside (systemd, a container's runtime) sees that it gives no sign, and reads here why.
    `since` is when a read began, by `perf_counter`; 0 while there is none.
    """

    def __init__(self, path: str, after: timedelta = HANGS_AFTER) -> None:
        self._path = path
        self._after = after.total_seconds()
        self.since = 0.0
        self._closed = threading.Event()
        threading.Thread(target=self._run, name="store-disk-watch", daemon=True).start()

    def close(self) -> None:
        self._closed.set()

    def _run(self) -> None:
        told = 0.0
        while not self._closed.wait(self._after):
            since = self.since
            if told and since != told:
                log.warning(
                    "the disk answers again", path=self._path, after_seconds=round(time.perf_counter() - told, 1)
                )
                told = 0.0
            elif since and not told and time.perf_counter() - since > self._after:
                why = "a read has not come back, and until it does this process stands still"
                log.error(
                    "the disk hangs", path=self._path, reason=why, fix="look at the disk, or at the server that has it"
                )
                told = since
