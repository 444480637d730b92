"""An adapter at work as the program has it: it learns who it is, and then all its listeners listen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from runtime.contract import ChannelAdapter, Sink
from runtime.errors import StoreError

LISTEN_AGAIN: Final = timedelta(seconds=0.05)


@asynccontextmanager
async def listening(adapter: ChannelAdapter, sink: Sink, *, again: bool = False) -> AsyncIterator[None]:
    """It listens inside the block; `again` after the store was away, as the program has it.

    Errors: the first one of the block or of a listener, without the group around it.
    """
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task((served if again else attended)(adapter, sink))
            try:
                yield
            finally:
                task.cancel()
    except BaseExceptionGroup as errors:
        raise first_of(errors) from None


async def attended(adapter: ChannelAdapter, sink: Sink) -> None:
    """Learn, and listen until cancelled."""
    offered = adapter.features()
    if offered.learn:
        await offered.learn()
    async with asyncio.TaskGroup() as group:
        group.create_task(adapter.listen(sink))
        if several := offered.listeners:
            for listener in several.listeners():
                group.create_task(several.attend(listener, sink))


async def served(adapter: ChannelAdapter, sink: Sink) -> None:
    """Listen again whenever that ends since the store is away."""
    while True:
        try:
            await attended(adapter, sink)
        except* StoreError:
            pass
        await asyncio.sleep(LISTEN_AGAIN.total_seconds())


def first_of(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error of a group, however deep it lies."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
