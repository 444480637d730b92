"""What the process holds: idle, after the first model call, and after 10,000 messages; and a bare handler beside it.

Resident memory of the program as the operating system counts it, in MB of 10^6 bytes; after the first call that of all its
processes, in which shared pages count once (PSS). The first start in a folder makes its keys and seals with them, for which it
loads a library that later ones do without, so it is told apart. The messages come from 50 chats
at a time, 20 in each, so that no history grows without end; each 1,000 begin 50 new chats.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Final

from bench.figures import Figure, at_most, middle, ratio_at_most
from bench.load import load
from bench.program import Program, helper, signalbox
from bench.reply import settings

IDLE: Final = 95.0  # MB with one channel; source: design.md, section 12
IDLE_GOAL: Final = 80.0
LOADED: Final = 150.0  # of all our processes, with LiteLLM; source: issue 16
FLAT: Final = 1.05  # after 10,000 messages, of what it was after 1,000
CHATS: Final = 50
EACH: Final = 20
THOUSANDS: Final = 10
STARTS: Final = 3
SETTLED: Final = 2.0  # seconds until what the start needed for a moment is given back


async def memory(short: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name, helper("bench.model", folder=Path(name)) as model:
        base = f"{model.url}/v1"
        folder, told = Path(name), settings(base, stream=True, preload=False)
        wait = 0.0 if short else SETTLED
        bare = _bare(folder, base, wait)
        first, *idle = [_idle(folder, told, wait) for _ in range(1 if short else STARTS)]
        with signalbox(folder, told) as program:
            idle.append(settled(program, wait))
            load("page", program.link, chats=1, messages=1, folder=folder)
            loaded = of_all(program, wait)
            grown = _worked(program, folder, (2, 2, 2) if short else (CHATS, EACH, THOUSANDS))
    return [
        Figure("memory, first start", first, "MB", note="makes the database and keys"),
        Figure("memory, idle", middle(idle), "MB", bare[0], at_most(IDLE), f"goal {IDLE_GOAL:.0f} MB"),
        Figure("memory, after the first model call", loaded, "MB", bare[1], at_most(LOADED), "PSS"),
        _flat(grown, 4 if short else CHATS * EACH),
    ]


def _bare(folder: Path, base: str, wait: float) -> tuple[float, float]:
    """The bare handler's, which loads LiteLLM at its start: idle, and after its first call."""
    with helper("bench.bare", "--api-base", base, "--stream", folder=folder) as handler:
        idle = settled(handler, wait)
        load("bare", handler.url, chats=1, messages=1, folder=folder)
        return idle, of_all(handler, wait)


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _idle(folder: Path, told: str, wait: float) -> float:
    with signalbox(folder, told) as program:
        return settled(program, wait)


def settled(program: Program, wait: float = SETTLED) -> float:
    time.sleep(wait)
    return program.memory_mb


def of_all(program: Program, wait: float) -> float:
    time.sleep(wait)
    return program.memory_of_all_mb


def _worked(program: Program, folder: Path, size: tuple[int, int, int]) -> list[float]:
    """The memory after each load, in order."""
    chats, each, loads = size
    grown = []
    for _ in range(loads):
        load("page", program.link, chats=chats, messages=each, folder=folder)
        grown.append(program.memory_mb)
    return grown


def _flat(grown: list[float], messages: int) -> Figure:
    way = ", ".join(f"{megabytes:.0f}" for megabytes in grown)
    name = f"memory, after {len(grown) * messages:,} messages"
    return Figure(name, grown[-1], "MB", grown[0], ratio_at_most(FLAT), f"beside: after {messages:,}; on the way {way}")
