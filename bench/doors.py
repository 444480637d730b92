"""Doors for programs beside the page and the model itself, and the memory of a thousand open streams.

    python -m bench.doors [--rounds NUMBER]

prints the figures with the load of the machine. It isn't one of `make bench`: nothing else is measured meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import aiohttp

from bench.figures import Figure, at_most, high, middle, ratio_at_most, table
from bench.page import page
from bench.program import Program, helper, printed, signalbox
from bench.reply import settings

STREAMS: Final = 1_000
MODEL_DELAY_S: Final = "0.1"
SLOW_MODEL_DELAY_S: Final = "600"
BATCH: Final = 50
"""Streams that are opened at once."""
MESSAGE_BOUND: Final = 1.2  # source: issue 23
REPLY_BOUND: Final = 1.5
STREAMS_MB_BOUND: Final = 100.0
Once = Callable[[], Awaitable[None]]


class Door:
    """A program with a token."""

    def __init__(self, session: aiohttp.ClientSession, url: str, token: str) -> None:
        self._session = session
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}

    async def say(self, words: str) -> str:
        path, body = f"{self._url}/api/v1/rooms/bench/messages", {"text": words}
        async with self._session.post(path, json=body, headers=self._headers) as answer:
            answer.raise_for_status()
            return str((await answer.json())["id"])

    async def message(self) -> None:
        """Say something, and wait for its answer."""
        path = f"{self._url}/api/v1/messages/{await self.say('Hello there')}?wait=30"
        async with self._session.get(path, headers=self._headers) as answer:
            assert (await answer.json())["state"] == "done"

    async def completion(self) -> None:
        await completed(self._session, f"{self._url}/v1/chat/completions", "signalbox", self._headers)

    async def stream(self, message: str) -> aiohttp.ClientResponse:
        """An open stream, behind its first event."""
        path = f"{self._url}/api/v1/messages/{message}/events"
        answer = await self._session.get(path, headers=self._headers)
        answer.raise_for_status()
        await answer.content.readuntil(b"\n\n")
        return answer


async def completed(session: aiohttp.ClientSession, url: str, model: str, headers: dict[str, str]) -> None:
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": "Hello there"}]}
    async with session.post(url, json=body, headers=headers) as answer:
        assert (await answer.json())["choices"][0]["message"]["content"]


async def times(one: Once, other: Once, rounds: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each, in turns."""
    told: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for took, once in zip(told, (one, other), strict=True):
            begun = time.perf_counter()
            await once()
            if number:  # the first one loads what is loaded late
                took.append((time.perf_counter() - begun) * 1000)
    return told


async def compared(folder: Path, rounds: int) -> list[Figure]:
    with (
        helper("bench.model", folder=folder) as quick,
        helper("bench.model", "--delay", MODEL_DELAY_S, folder=folder) as model,
    ):
        (folder / "quick").mkdir()
        (folder / "delayed").mkdir()
        with (
            signalbox(folder / "quick", settings(f"{quick.url}/v1", stream=True)) as ours,
            signalbox(folder / "delayed", settings(f"{model.url}/v1", stream=True)) as delayed,
        ):
            by_api, by_page = await _messages(folder / "quick", ours, rounds)
            by_door, by_model = await _replies(folder / "delayed", delayed, model.url, rounds)
    return [
        _ratio("message by the API, p50", by_api, by_page, MESSAGE_BOUND, "beside the page's"),
        _ratio("chat completion, p50", by_door, by_model, REPLY_BOUND, f"beside a model that takes {MODEL_DELAY_S} s"),
    ]


def _ratio(name: str, ours: list[float], beside: list[float], bound: float, note: str) -> Figure:
    told = f"{note}; p99 {high(ours):.0f} ms, {high(beside):.0f} ms"
    return Figure(name, middle(ours), "ms", middle(beside), bound=ratio_at_most(bound), note=told)


async def _messages(folder: Path, ours: Program, rounds: int) -> tuple[list[float], list[float]]:
    async with aiohttp.ClientSession() as session, page(ours.link) as opened, opened.chat() as chat:
        door = Door(session, ours.url, token_of(folder))
        return await times(door.message, lambda: chat.ask("Hello there"), rounds)


async def _replies(folder: Path, ours: Program, model: str, rounds: int) -> tuple[list[float], list[float]]:
    async with aiohttp.ClientSession() as session:
        door = Door(session, ours.url, token_of(folder))
        url = f"{model}/v1/chat/completions"
        return await times(door.completion, lambda: completed(session, url, "mock", {}), rounds)


async def streams(folder: Path) -> Figure:
    """Memory of one node with `STREAMS` open streams of a message that is being worked on."""
    connector = aiohttp.TCPConnector(limit=0)
    with (
        helper("bench.model", "--delay", SLOW_MODEL_DELAY_S, folder=folder) as model,
        signalbox(folder, settings(f"{model.url}/v1", stream=True)) as ours,
    ):
        async with aiohttp.ClientSession(connector=connector) as session:
            door = Door(session, ours.url, token_of(folder))
            message = await door.say("Hello there")
            opened = [await door.stream(message)]
            await asyncio.sleep(5)
            before = ours.memory_mb
            while len(opened) < STREAMS:
                count = min(BATCH, STREAMS - len(opened))
                opened += await asyncio.gather(*(door.stream(message) for _ in range(count)))
            after = ours.memory_mb
            for one in opened:
                one.close()
    bound = at_most(STREAMS_MB_BOUND)
    return Figure(f"{STREAMS:,} open streams", after - before, "MB", bound=bound, note=f"{before:.0f} MB before")


def token_of(folder: Path) -> str:
    """A token that the program in `folder` knows."""
    told = printed("bot", "tokens", "make", "bench", "--per-minute", "6000", folder=folder)
    return next(word for word in told.split() if word.startswith("sbx_"))


async def main(rounds: int) -> None:
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="signalbox-", dir="/var/tmp") as folder:
        (Path(folder) / "streams").mkdir()
        figures = [*await compared(Path(folder), rounds), await streams(Path(folder) / "streams")]
    sys.stdout.write(f"{table(figures)}\n\n{rounds} rounds; load {load:.1f} before, {os.getloadavg()[0]:.1f} after.\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Figures of the doors for programs.")
    parser.add_argument("--rounds", type=int, default=100)
    asyncio.run(main(parser.parse_args().rounds))
