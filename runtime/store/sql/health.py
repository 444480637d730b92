"""Health of the store's writes, told once when it changes: everybody who works would tell it otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import structlog

from runtime.errors import StoreError

log = structlog.get_logger("store")

CALM: Final = 2.0
"""Seconds without a failure until it is over: a full disk refuses what is large and takes what is small."""


class Health:
    """`trouble` is why writes fail, None when they do not. An engine tells of each write."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.trouble: StoreError | None = None
        self._clock = clock
        self._began = self._last = 0.0
        self._closed = False

    def failed(self, error: StoreError) -> None:
        if self._closed:
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
        self.trouble = None
        log.warning("the store works again", after_seconds=round(self._clock() - self._began, 1))

    def close(self) -> None:
        """Close: what fails from now on fails because this process ends."""
        self._closed = True
