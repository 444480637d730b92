"""Stages for tests of the courier: `stage` in memory, `any_stage` over each store; `kind` is how the platform settles."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.testing.channel.server import Channel, ChannelKind
from bot.testing.clocks import HandClock
from bot.testing.serve import serving
from runtime.store.store import open_store
from tests.contract.courier.stage import Stage
from tests.contract.runtime.conftest import clock, url
from tests.contract.runtime.stores import memory_store

__all__ = ["clock", "url"]


@pytest.fixture
def kind() -> ChannelKind:
    """Look-up, unless a test names others."""
    return ChannelKind.LOOKUP


@pytest.fixture
async def stage(clock: HandClock, kind: ChannelKind) -> AsyncIterator[Stage]:
    store, channel = memory_store(clock), Channel(kind=kind)
    async with serving(channel.app()) as at:
        yield Stage(store, clock, channel, at)
    await store.close()


@pytest.fixture
async def any_stage(url: str, clock: HandClock, kind: ChannelKind) -> AsyncIterator[Stage]:
    store, channel = await open_store(url, now=clock), Channel(kind=kind)
    async with serving(channel.app()) as at:
        yield Stage(store, clock, channel, at)
    await store.close()
