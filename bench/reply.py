"""From a message to its reply on the page, beside a bare handler that asks the same mock model.

Three figures for each way of asking the model, streamed and whole: how long one message takes, how much processor time
it costs the measured process, and how many messages a second 50 chats get through. The model and the clients are
processes of their own. Ours and bare take turns, so that both meet the same neighbours.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import aiohttp

from bench.disk import fsync_times
from bench.figures import Figure, at_most, high, middle, ratio_at_least, ratio_at_most
from bench.load import Ask, Told, load
from bench.page import Chat, page
from bench.program import Program, helper, signalbox

MESSAGES: Final = 60
WARM: Final = 8
COMMITS: Final = 5  # flushes that a reply may wait for; source: design.md, section 12
CHATS: Final = 50
EACH: Final = 20  # messages of one chat
ROUNDS: Final = 3
FULL: Final = 0.7  # of a processor: clients or a model that need more than this may be the bottleneck themselves


@dataclass(frozen=True, slots=True)
class Stage:
    """The processes of one measurement."""

    folder: Path
    model: Program
    bare: Program
    ours: Program
    how: str


async def replies(short: bool) -> list[Figure]:
    figures: list[Figure] = []
    for stream in (True,) if short else (False, True):
        with stage(stream=stream) as here:
            figures += await _one_by_one(here, 3 if short else MESSAGES)
            figures += _many(here, (3, 2, 1) if short else (CHATS, EACH, ROUNDS))
    return figures


@contextmanager
def stage(*, stream: bool) -> Iterator[Stage]:
    with tempfile.TemporaryDirectory() as name, helper("bench.model", folder=Path(name)) as model:
        folder, base = Path(name), f"{model.url}/v1"
        flags = ["--stream"] if stream else []
        with (
            helper("bench.bare", "--api-base", base, *flags, folder=folder) as bare,
            signalbox(folder, settings(base, stream=stream)) as ours,
        ):
            yield Stage(folder, model, bare, ours, "streamed" if stream else "whole")


def settings(base: str, *, stream: bool, preload: bool = True) -> str:
    """For a program that asks the mock model at `base`."""
    return (
        f'[web]\nport = 0\n[model]\nname = "openai/mock"\napi_base = "{base}"\napi_key = "none"\n'
        f"stream = {str(stream).lower()}\npreload = {str(preload).lower()}\n"
    )


# ------------------------------------------------------------------------------------------- one after another


async def _one_by_one(here: Stage, count: int) -> list[Figure]:
    """Each message of ours in a room of its own, so that no history grows: the bare handler keeps none.

    Pages and connections are open before: what is measured is a message, not a visit.
    """
    async with page(here.ours.link) as visitor, aiohttp.ClientSession() as session, AsyncExitStack() as opened:
        bare = partial(_bare_ask, session, here.bare)
        chats = [await opened.enter_async_context(visitor.chat()) for _ in range(WARM + count)]
        await _in_turns(bare, chats[:WARM])
        before = (here.bare.processor_seconds, here.ours.processor_seconds)
        bare_times, our_times = await _in_turns(bare, chats[WARM:])
        bare_used, our_used = here.bare.processor_seconds - before[0], here.ours.processor_seconds - before[1]
    fsync = middle(fsync_times(here.folder, 100))
    most = at_most((2 * middle(bare_times) + COMMITS * fsync) * 1000)
    tails = f"2 x bare + {COMMITS} x fsync {fsync * 1000:.2f} ms; p99 {high(our_times) * 1000:.1f}, bare {high(bare_times) * 1000:.1f}"
    return [
        Figure(
            f"message to reply, {here.how}, p50", middle(our_times) * 1000, "ms", middle(bare_times) * 1000, most, tails
        ),
        Figure(
            f"processor time, {here.how}",
            our_used / count * 1000,
            "ms a message",
            max(bare_used, 0.01) / count * 1000,
            ratio_at_most(1.5),
            "goal 1.00 x",
        ),
    ]


async def _in_turns(bare: Ask, chats: Sequence[Chat]) -> tuple[list[float], list[float]]:
    """Seconds of each reply: the bare handler's, and ours."""
    times = [(await _timed(bare, number), await _timed(chat.ask, number)) for number, chat in enumerate(chats)]
    return [bare for bare, _ in times], [ours for _, ours in times]


async def _timed(ask: Ask, number: int) -> float:
    began = time.perf_counter()
    await ask(f"hello {number}")
    return time.perf_counter() - began


async def _bare_ask(session: aiohttp.ClientSession, bare: Program, words: str) -> None:
    async with session.post(f"{bare.url}/message", json={"text": words}) as answer:
        answer.raise_for_status()
        await answer.json()


# ---------------------------------------------------------------------------------------------------- many at once


@dataclass(frozen=True, slots=True)
class Round:
    """One side's load, and what it cost: processor seconds of the measured program and of the model."""

    told: Told
    used: float
    model_used: float

    @property
    def processor_ms(self) -> float:
        return self.used / self.told.replies * 1000

    @property
    def neighbours(self) -> tuple[float, float]:
        """Shares of a processor that the clients and the model needed."""
        return self.told.busy, self.model_used / self.told.seconds


def _many(here: Stage, size: tuple[int, int, int]) -> list[Figure]:
    chats, each, rounds = size
    ours, bare = [], []
    for _ in range(rounds):
        bare.append(_round(here, here.bare, "bare", here.bare.url, chats, each))
        ours.append(_round(here, here.ours, "page", here.ours.link, chats, each))
    return [
        Figure(
            f"{chats} chats, {here.how}",
            middle([one.told.rate for one in ours]),
            "messages/s",
            middle([one.told.rate for one in bare]),
            ratio_at_least(0.7),
            f"goal 1.00 x; {neighbours(ours, bare)}",
        ),
        Figure(
            f"processor time, {chats} chats, {here.how}",
            middle([one.processor_ms for one in ours]),
            "ms a message",
            middle([one.processor_ms for one in bare]),
            note=f"p50 {middle(times_of(ours)) * 1000:.0f} ms, bare {middle(times_of(bare)) * 1000:.0f} ms",
        ),
    ]


def _round(here: Stage, program: Program, kind: str, where: str, chats: int, each: int) -> Round:
    used, model_used = program.processor_seconds, here.model.processor_seconds
    told = load(kind, where, chats=chats, messages=each, folder=here.folder)
    return Round(told, program.processor_seconds - used, here.model.processor_seconds - model_used)


def times_of(rounds: list[Round]) -> list[float]:
    return [seconds for one in rounds for seconds in one.told.times]


def neighbours(ours: list[Round], bare: list[Round]) -> str:
    """How busy clients and model were, and whether they may have been what was measured."""
    said = []
    for side, rounds in (("clients and model used", ours), ("bare's", bare)):
        clients, model = (middle([one.neighbours[which] for one in rounds]) for which in (0, 1))
        warning = " (the bottleneck!)" if max(clients, model) > FULL else ""
        said.append(f"{side} {clients:.0%} and {model:.0%} of a processor{warning}")
    return ", ".join(said)
