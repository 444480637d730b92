"""A process of ours beside a hostile MCP server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

from bot.testing.clocks import HandClock
from tests.contract.runtime.stage import Stage
from tests.contract.runtime.stores import memory_store
from tools.mcp.server import Patience

ENOUGH: Final = timedelta(milliseconds=500)
IMPATIENT: Final = Patience(connect=timedelta(milliseconds=300))
USED: Final = ("echo", "answer", "say_lines", "hang")


async def on_stage(folder: Path, play: Callable[[Stage], Awaitable[bool]]) -> bool:
    clock = HandClock()
    store = memory_store(clock)
    stage = Stage(store, clock, folder)
    await stage.open()
    try:
        return await play(stage)
    finally:
        await store.close()
