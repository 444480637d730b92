"""From start to ready, and what an idle process holds."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Final

from bench.figures import Figure, middle
from bench.program import signalbox

READY: Final = 1.0  # seconds
IDLE: Final = 80.0  # MB
SETTINGS: Final = "[web]\nport = 0\n"


async def start(short: bool) -> list[Figure]:
    """The first start makes the database, so it is told apart; the bounds are for the ones after it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with signalbox(folder, SETTINGS) as first:
            seconds = first.seconds
        starts, memory = [], []
        for _ in range(1 if short else 5):
            with signalbox(folder, SETTINGS) as program:
                await asyncio.sleep(1.5)
                starts.append(program.seconds)
                memory.append(program.memory_mb)
    return [
        Figure("first start", seconds, "s"),
        Figure("start to ready", middle(starts), "s", READY),
        Figure("idle memory", middle(memory), "MB", IDLE),
    ]
