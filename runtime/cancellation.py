"""Cancellation that is never lost: work may end in errors of its own at the very moment at which it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def cancellable(work: Coroutine[Any, Any, T]) -> T:
    """Outcome of `work`; a cancellation in the meantime takes precedence.

    A task group that ends in errors hides the cancellation that ended it too, and a loop that handles those errors would
    go on for ever. So each loop that outlives the errors of what it runs awaits that through here.

    `work` is a task of its own. On Python 3.11 a group whose block has ended before a task of it fails leaves one
    cancellation too many in its task's count, and that must not be taken for one of ours.
    """
    before = cancellations()
    try:
        return await asyncio.ensure_future(work)
    finally:
        if cancellations() > before:
            raise asyncio.CancelledError from None


def cancellations() -> int:
    """Number of requests to cancel this task; 0 outside a task."""
    task = asyncio.current_task()
    return task.cancelling() if task else 0
