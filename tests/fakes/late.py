"""A process that stood still, as whoever sends for it sees that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from runtime.contract import IN_TIME


@contextmanager
def late(may: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Inside the block nothing may leave any more; or as `may` tells."""
    before = IN_TIME.set(may)
    try:
        yield
    finally:
        IN_TIME.reset(before)
