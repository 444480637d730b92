"""Best-effort words: private words, forms, what an assistant thread shows. Best effort, never in the way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from runtime.errors import ChannelError, StoreError

ASIDES_AT_ONCE: Final = 100
"""At once. What comes on top is left out: people wait for answers, not for these."""

Work = Callable[[], Awaitable[object]]
"""A function and no coroutine: one that is cancelled before it began would complain."""

log = logging.getLogger(__name__)


class BestEffort:
    """Tasks with an owner: the adapter's own group, while it listens."""

    def __init__(self) -> None:
        self._group: asyncio.TaskGroup | None = None
        self._running = 0

    def owned_by(self, group: asyncio.TaskGroup | None) -> None:
        self._group = group

    def begin(self, work: Work, what: str, *, needed: bool = False) -> None:
        """Do `work` beside everything else; what is not `needed` is left out where too much goes on."""
        if self._group is None or (self._running >= ASIDES_AT_ONCE and not needed):
            log.info("left out: %s", what)
            return
        self._group.create_task(self._done(work, what))

    async def _done(self, work: Work, what: str) -> None:
        self._running += 1
        try:
            await work()
        except (ChannelError, StoreError) as error:
            log.info("not done: %s: %s", what, error)
        except Exception:
            log.exception("not done: %s", what)  # a bug of ours, which must not end the connection
        finally:
            self._running -= 1
