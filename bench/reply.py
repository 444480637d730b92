"""From a message to its reply on the page, beside a bare handler that asks the same mock model.

Three figures for each way of asking the model, streamed and whole: how long one message takes, how much processor time
it costs the measured process, and how many messages a second 50 chats get through. The model and the clients are
processes of their own. Ours and bare take turns, so that both meet the same neighbours.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import aiohttp

from bench import sides
from bench.figures import Figure
from bench.load import Ask, Told, rounds
from bench.page import Chat, page
from bench.program import Program, helper, signalbox
from bench.sides import Round, Took

MESSAGES: Final = 60
WARM: Final = 8
CHATS: Final = 50
EACH: Final = 4  # messages of one chat in a round, in which its conversation goes on
ROUNDS: Final = 5


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
    names = f"message to reply, {here.how}, p50", f"processor time, {here.how}"
    return sides.one_by_one(names, Took(our_times, our_used), Took(bare_times, bare_used), here.folder)


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


def _many(here: Stage, size: tuple[int, int, int]) -> list[Figure]:
    chats, each, times = size
    ours, bare = [], []
    folder = here.folder
    with (
        rounds("bare", here.bare.url, chats=chats, messages=each, folder=folder) as of_bare,
        rounds("page", here.ours.link, chats=chats, messages=each, folder=folder) as of_ours,
    ):
        for _ in range(times):
            bare.append(_round(here, here.bare, of_bare))
            ours.append(_round(here, here.ours, of_ours))
    names = f"{chats} chats, {here.how}", f"processor time, {chats} chats, {here.how}"
    return sides.many(names, ours, bare)


def _round(here: Stage, program: Program, again: Callable[[], Told]) -> Round:
    used, model_used = program.processor_seconds, here.model.processor_seconds
    told = again()
    return Round(told, program.processor_seconds - used, here.model.processor_seconds - model_used)
