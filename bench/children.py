"""What it costs to hand work on: a message whose agent has another one answer, beside a message that it answers itself.

One at a time, each in a room of its own, in turns; then two hundred children at once on one node, twice; then the children of
a node that is killed. A child is a run of its own: it asks the model once, and its parent once more for its answer.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bench.failover import LONGEST, chats_in, made, warm
from bench.figures import Figure, at_most, high, middle, ratio_at_most
from bench.memory import FLAT, settled
from bench.model import HAND_ON
from bench.page import Chat, Page, page
from bench.program import Program, helper, signalbox
from bench.reply import settings
from tests.fakes.postgres import Postgres

ADDS: Final = 2.0  # x a message of ours, for each child; source: agents-work.md, section 7
MESSAGES: Final = 60
WARM: Final = 8
LEAST: Final = 1e-5  # seconds
BROODS: Final = (1, 5)  # children of one call
PARENTS: Final = 40
TOGETHER: Final = 5  # children of each of them
ROUNDS: Final = 3
DELAY: Final = 2.0  # seconds that the model thinks, so that all children are there at once, and a kill finds them
IN_FLIGHT: Final = 4  # parents whose node is killed


async def children(short: bool) -> list[Figure]:
    return [*await _costs(2 if short else MESSAGES), *await _at_once(short), await _taken_over(short)]


# ------------------------------------------------------------------------------------------- one after another


async def _costs(count: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as name, helper("bench.model", folder=Path(name)) as model:
        told = settings(f"{model.url}/v1", stream=False)
        with signalbox(made(Path(name) / "ours"), told) as ours:
            async with page(ours.link) as opened:
                return [figure for brood in BROODS for figure in await _cost(ours, opened, brood, count)]


async def _cost(ours: Program, at: Page, brood: int, count: int) -> list[Figure]:
    """A message, and one that is handed on to so many children, in turns; processor time of each kind by itself."""
    plain, more, first = [], [], WARM if count > WARM else 1
    for number in range(first + count):
        async with at.chat() as chat, at.chat() as other:
            times = await _spent(ours, chat, "hello"), await _spent(ours, other, f"{HAND_ON}{brood}")
        if number >= first:
            plain.append(times[0])
            more.append(times[1])
    return _figures(brood, plain, more)


async def _spent(ours: Program, chat: Chat, words: str) -> tuple[float, float]:
    """(seconds until the answer, processor seconds)."""
    used, began = ours.processor_seconds, time.perf_counter()
    await chat.say(words)
    await chat.answer()
    return time.perf_counter() - began, ours.processor_seconds - used


def _figures(brood: int, plain: Sequence[tuple[float, float]], more: Sequence[tuple[float, float]]) -> list[Figure]:
    """What each child adds. A processor's time is counted in hundredths, so that of all is what tells."""
    of = "a child" if brood == 1 else f"a child of {brood}"
    times, handed = [took for took, _ in plain], [took for took, _ in more]
    wall, base = added(middle(handed), middle(times)) / brood * 1000, middle(times) * 1000
    used = added(sum(cost for _, cost in more), sum(cost for _, cost in plain)) / len(more) / brood * 1000
    message = max(sum(cost for _, cost in plain), 0.01) / len(plain) * 1000
    note = f"beside: a message of ours; p99 with its parent {high(handed) * 1000:.1f} ms"
    return [
        Figure(f"{of} adds, p50", wall, "ms", base, ratio_at_most(ADDS), note),
        Figure(f"{of} adds, processor time", used, "ms", message, ratio_at_most(ADDS), "beside: a message of ours"),
    ]


def added(more: float, plain: float) -> float:
    """Seconds; of a few messages beside others' work the difference may be less than can be told."""
    return max(more - plain, LEAST)


# ------------------------------------------------------------------------------------------------- many at once


async def _at_once(short: bool) -> list[Figure]:
    parents, delay = (2, 0.1) if short else (PARENTS, DELAY)
    with (
        tempfile.TemporaryDirectory() as name,
        helper("bench.model", "--delay", str(delay), folder=Path(name)) as model,
        signalbox(made(Path(name) / "ours"), settings(f"{model.url}/v1", stream=False)) as ours,
    ):
        async with page(ours.link) as at:
            await warm(at)
            took, grown = [], []
            for _ in range(2 if short else ROUNDS):
                took.append(await _round(at, parents))
                grown.append(settled(ours, 0.0 if short else 2.0))
    count, way = parents * TOGETHER, ", ".join(f"{megabytes:.0f}" for megabytes in grown)
    told = f"{parents} parents; the model's {delay:g} s twice is in it; " + ", ".join(f"{s:.1f}" for s in took)
    return [
        Figure(f"{count} children at once", max(took), "s", note=told),
        Figure(
            f"memory, after {count} children at once",
            grown[-1],
            "MB",
            grown[0],
            ratio_at_most(FLAT),
            f"beside: after the first round; on the way {way}",
        ),
    ]


async def _round(at: Page, parents: int) -> float:
    """Seconds until all parents have answered."""
    async with AsyncExitStack() as opened:
        chats = [await opened.enter_async_context(at.chat()) for _ in range(parents)]
        began = time.perf_counter()
        await asyncio.gather(*(chat.say(f"{HAND_ON}{TOGETHER}") for chat in chats))
        await asyncio.gather(*(chat.answer() for chat in chats))
        return time.perf_counter() - began


# ----------------------------------------------------------------------------------------------- a killed node


async def _taken_over(short: bool) -> Figure:
    """Seconds from a kill until the last parent's answer, less what the model takes for a child and for its parent."""
    parents, delay = (1, DELAY / 4) if short else (IN_FLIGHT, DELAY)
    with (
        tempfile.TemporaryDirectory() as name,
        Postgres() as server,
        helper("bench.model", "--delay", str(delay), folder=Path(name)) as model,
    ):
        told = f'database_url = "{server.create_database()}"\n' + settings(f"{model.url}/v1", stream=False)
        told += "[nodes]\nlease_seconds = 2.5\n" if short else ""
        with signalbox(made(Path(name) / "one"), told) as one, signalbox(made(Path(name) / "two"), told) as two:
            times = await _killed(one, two, parents, delay)
    note = f"{parents * TOGETHER} children at work; less the model's {delay:g} s twice"
    return Figure("children of a killed node go on", max(times), "s", None, at_most(LONGEST), note)


async def _killed(one: Program, two: Program, parents: int, delay: float) -> list[float]:
    link = two.url + urlsplit(one.link).path  # one installation: a link opens the page of every node
    async with page(one.link) as here, page(link) as there, AsyncExitStack() as opened:
        await asyncio.gather(warm(here), warm(there))
        saying, hearing = await chats_in(opened, here, there, parents)
        await asyncio.gather(*(chat.say(f"{HAND_ON}{TOGETHER}") for chat in saying))
        await asyncio.sleep(delay * 1.25)  # each parent has its children by then, and those ask the model
        one.process.kill()
        killed = time.perf_counter()
        return list(await asyncio.gather(*(_answered(chat, killed + 2 * delay) for chat in hearing)))


async def _answered(chat: Chat, began: float) -> float:
    await chat.answer()
    return time.perf_counter() - began
