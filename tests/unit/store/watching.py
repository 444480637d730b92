"""One who watches an engine and keeps what it is told."""

from __future__ import annotations

from runtime.errors import StoreError, Trouble


class Watching:
    """Implements `driver.Watch`."""

    def __init__(self) -> None:
        self.commits: list[tuple[int, float]] = []
        self.failures: list[Trouble] = []

    def committed(self, operations: int, seconds: float) -> None:
        self.commits.append((operations, seconds))

    def failed(self, error: StoreError) -> None:
        self.failures.append(error.trouble)
