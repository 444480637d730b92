"""A conversation of 10,000 turns: how large its requests are, how long a message takes, and what building a request costs.

It is talked to on the page, with a mock model whose window is so small that all that is condensed is condensed often. Fresh
conversations of 10 turns are asked in turns with it, so that both meet the same neighbours.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import aiohttp

from bench.figures import Figure, at_most, middle, ratio_at_most
from bench.load import Ask
from bench.page import page
from bench.program import Program, helper, signalbox
from bench.reply import settings
from runtime.context.builder import Budget, RunFacts, partitions
from runtime.contract import AssistantTurn, Turn, UserTurn
from runtime.store.protocol import History

WINDOW: Final = 16_000  # tokens: with the tools and the prompt some hundred turns
EARLY: Final = 500  # messages: 1,000 turns
LATE: Final = 5_000
TIMED: Final = 30  # messages at the end, in turns with the sixth of so many fresh conversations
SAWTOOTH: Final = 120  # messages in which a request grows and is condensed
FEW: Final = 5  # messages before: 10 turns
WORDS: Final = "Is there anything in the notes of last week that we should look at again before Monday, number"
BUILT: Final = 1_000  # turns
TIMES: Final = 50


async def long(short: bool) -> list[Figure]:
    early, late, timed, tooth = (4, 8, 2, 2) if short else (EARLY, LATE, TIMED, SAWTOOTH)
    with tempfile.TemporaryDirectory() as name, helper("bench.model", folder=Path(name)) as model:
        told = f"{settings(f'{model.url}/v1', stream=True)}context_tokens = {WINDOW}\n"
        with signalbox(Path(name), told) as ours:
            sizes, times, fresh = await _talked(ours, model, (early, late, timed, tooth))
    first, last = (max(sizes[at - tooth : at]) / 1e3 for at in (early, late))
    return [
        Figure("request after 10,000 turns", last, "KB", first, ratio_at_most(1.1), "beside: after 1,000"),
        Figure("message after 10,000 turns, p50", middle(times), "ms", middle(fresh), ratio_at_most(1.3), "beside: 10"),
        *_building(2 if short else TIMES),
    ]


async def _talked(
    ours: Program, model: Program, size: tuple[int, int, int, int]
) -> tuple[list[int], list[float], list[float]]:
    """Bytes of each request, and the milliseconds of late messages and of those in fresh conversations."""
    early, late, timed, tooth = size
    sizes, times, fresh = [], [], []
    async with page(ours.link) as visitor, aiohttp.ClientSession() as session, AsyncExitStack() as opened:
        chat = await opened.enter_async_context(visitor.chat())
        for number in range(late):
            await chat.ask(f"{WORDS} {number}?")
            wanted = early - tooth <= number < early or late - tooth <= number
            sizes.append(await _request_bytes(session, model) if wanted else 0)
        for number in range(timed):
            async with visitor.chat() as other:
                for before in range(FEW):
                    await other.ask(f"{WORDS} {before}?")
                fresh.append(await _timed(other.ask, number))
            times.append(await _timed(chat.ask, number))
    return sizes, times, fresh


async def _request_bytes(session: aiohttp.ClientSession, model: Program) -> int:
    """Bytes of the last request that asked for an answer to the newest message."""
    async with session.get(f"{model.url}/last") as answer:
        return int(await answer.text())


async def _timed(ask: Ask, number: int) -> float:
    began = time.perf_counter()
    await ask(f"{WORDS} {number}?")
    return (time.perf_counter() - began) * 1e3


def _building(times: int) -> list[Figure]:
    """Milliseconds of building a request of 1,000 turns: one that fits, and one that is condensed in all steps."""
    turns: list[Turn] = [
        UserTurn(f"{WORDS} {number}?", "Ada") if number % 2 == 0 else AssistantTurn(f"No. {WORDS} {number}.")
        for number in range(BUILT)
    ]
    history, run = History(turns, 1, range(1, BUILT + 1)), RunFacts("You are a test.", ())
    whole = _best(lambda: partitions(run, history, Budget(1_000_000)), times)
    cut = _best(lambda: partitions(run, history, Budget(WINDOW)), times)
    return [
        Figure("building a request of 1,000 turns", whole, "ms", None, at_most(2.0)),
        Figure("building one of 1,000 turns, condensed", cut, "ms", None, at_most(10.0), "once a summary"),
    ]


def _best(build: Callable[[], object], times: int) -> float:
    """The least of some rounds: what the machine's other work adds is none of ours."""
    took: Sequence[float] = [_once(build) for _ in range(times)]
    return min(took) * 1e3


def _once(build: Callable[[], object]) -> float:
    began = time.perf_counter()
    build()
    return time.perf_counter() - began
