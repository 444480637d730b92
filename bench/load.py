"""Many who ask at once, in a process of their own: so the measured program shares nothing with them.

    python -m bench.load page LINK --chats 50 --messages 20
    python -m bench.load bare URL  --chats 50 --messages 20

Each chat says its next words when the reply to the last is there. Prints a line of JSON (see `Told`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import aiohttp

from bench.page import page
from bench.program import printed

Ask = Callable[[str], Awaitable[None]]
Open = Callable[[], AbstractAsyncContextManager[Ask]]

KINDS: Final = ("page", "bare")


@dataclass(frozen=True, slots=True)
class Told:
    """`replies` in `seconds`; `times` are the seconds of each; `processor` seconds were used by the clients."""

    replies: int
    seconds: float
    processor: float
    times: list[float]

    @property
    def rate(self) -> float:
        return self.replies / self.seconds

    @property
    def busy(self) -> float:
        """The share of one processor that the clients needed: near 1 they were the bottleneck themselves."""
        return self.processor / self.seconds


def load(kind: str, where: str, *, chats: int, messages: int, folder: Path) -> Told:
    """Run the load in its own process."""
    counts = ["--chats", str(chats), "--messages", str(messages)]
    return Told(**json.loads(printed("bench.load", kind, where, *counts, folder=folder)))


# ------------------------------------------------------------------------------------------ the process itself


async def crowd(opened: Open, chats: int, messages: int) -> Told:
    ready = asyncio.Barrier(chats + 1)  # every chat is open before the first word is said
    times: list[float] = []

    async def chat(number: int) -> None:
        async with opened() as ask:
            await ready.wait()
            for turn in range(messages):
                began = time.perf_counter()
                await ask(f"hello {turn} of chat {number}")
                times.append(time.perf_counter() - began)

    async with asyncio.TaskGroup() as group:
        for number in range(chats):
            group.create_task(chat(number))
        await ready.wait()
        began, used = time.perf_counter(), time.process_time()
    return Told(len(times), time.perf_counter() - began, time.process_time() - used, times)


async def at_the_page(link: str, chats: int, messages: int) -> Told:
    async with page(link) as opened:

        @asynccontextmanager
        async def chat() -> AsyncIterator[Ask]:
            async with opened.chat() as one:
                yield one.ask

        return await crowd(chat, chats, messages)


async def at_the_bare(url: str, chats: int, messages: int) -> Told:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(words: str) -> None:
            async with session.post(f"{url}/message", json={"text": words}) as answer:
                answer.raise_for_status()
                await answer.json()

        @asynccontextmanager
        async def chat() -> AsyncIterator[Ask]:
            yield ask

        return await crowd(chat, chats, messages)


def main() -> None:
    parser = argparse.ArgumentParser(description="Many who ask at once.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("where", help="the person's link to the page, or the bare handler's URL")
    parser.add_argument("--chats", type=int, default=50)
    parser.add_argument("--messages", type=int, default=20)
    chosen = parser.parse_args()
    run = at_the_page if chosen.kind == "page" else at_the_bare
    print(json.dumps(asdict(asyncio.run(run(chosen.where, chosen.chats, chosen.messages)))))


if __name__ == "__main__":
    main()
