"""A loop for what waits by its clock alone: no test of it takes time, and no busy machine is late for an appointment."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any


class JumpingLoop(asyncio.SelectorEventLoop):
    """Its clock jumps to the next appointment."""

    def __init__(self) -> None:
        self.at = 1_000.0
        super().__init__(Jumping(self))

    def time(self) -> float:
        return self.at


class Jumping(selectors.DefaultSelector):
    def __init__(self, loop: JumpingLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise AssertionError("everybody waits for ever")
        self._loop.at += max(timeout, 0.0)
        return super().select(0)
