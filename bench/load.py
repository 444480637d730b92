"""Many who ask at once, in a process of their own: so the measured program shares nothing with them.

    python -m bench.load page LINK --chats 50 --messages 20
    python -m bench.load bare URL  --chats 50 --messages 20

Each chat says its next words when the reply to the last is there. Prints a line of JSON (see `Told`). With `--rounds` the
chats stay open: it prints its URL, and each POST to it is a round, in which each chat says so many more messages.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import aiohttp
from aiohttp import web

from bench.page import page
from bench.program import helper, printed
from bot.testing.serve import serve_until_told

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


@contextmanager
def rounds(kind: str, where: str, *, chats: int, messages: int, folder: Path) -> Iterator[Callable[[], Told]]:
    """A process whose chats stay open. Each call is a round: so many more messages of each chat."""
    counts = ["--chats", str(chats), "--messages", str(messages)]
    with helper("bench.load", kind, where, *counts, "--rounds", folder=folder) as process:

        def again() -> Told:
            with urllib.request.urlopen(process.url, b"", timeout=1_800) as answer:
                return Told(**json.load(answer))

        yield again


# ------------------------------------------------------------------------------------------ the process itself


class Crowd:
    """Chats that are open. Each round goes on where the last one ended."""

    def __init__(self, chats: Sequence[Ask]) -> None:
        self._chats = chats
        self._said = 0

    async def round(self, messages: int) -> Told:
        times: list[float] = []
        turns = range(self._said, self._said + messages)

        async def talk(number: int, ask: Ask) -> None:
            for turn in turns:
                began = time.perf_counter()
                await ask(f"hello {turn} of chat {number}")
                times.append(time.perf_counter() - began)

        began, used = time.perf_counter(), time.process_time()
        async with asyncio.TaskGroup() as group:
            for number, ask in enumerate(self._chats):
                group.create_task(talk(number, ask))
        self._said = turns.stop
        return Told(len(times), time.perf_counter() - began, time.process_time() - used, times)


@asynccontextmanager
async def crowd(opened: Open, chats: int) -> AsyncIterator[Crowd]:
    """Every chat is open before the first word is said."""
    async with AsyncExitStack() as stack:
        yield Crowd([await stack.enter_async_context(opened()) for _ in range(chats)])


@asynccontextmanager
async def at_the_page(link: str, chats: int) -> AsyncIterator[Crowd]:
    async with page(link) as opened:

        @asynccontextmanager
        async def chat() -> AsyncIterator[Ask]:
            async with opened.chat() as one:
                yield one.ask

        async with crowd(chat, chats) as here:
            yield here


@asynccontextmanager
async def at_the_bare(url: str, chats: int) -> AsyncIterator[Crowd]:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(words: str) -> None:
            async with session.post(f"{url}/message", json={"text": words}) as answer:
                answer.raise_for_status()
                await answer.json()

        yield Crowd([ask] * chats)


async def serve(here: Crowd, messages: int) -> None:
    async def again(_request: web.Request) -> web.Response:
        return web.json_response(asdict(await here.round(messages)))

    app = web.Application()
    app.router.add_post("/", again)
    await serve_until_told(app, 0)


async def talk(opened: AbstractAsyncContextManager[Crowd], messages: int, *, in_rounds: bool) -> None:
    async with opened as here:
        if in_rounds:
            await serve(here, messages)
        else:
            print(json.dumps(asdict(await here.round(messages))))


def main() -> None:
    parser = argparse.ArgumentParser(description="Many who ask at once.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("where", help="the person's link to the page, or the bare handler's URL")
    parser.add_argument("--chats", type=int, default=50)
    parser.add_argument("--messages", type=int, default=20)
    parser.add_argument("--rounds", action="store_true", help="stay, and talk for each POST")
    chosen = parser.parse_args()
    opened = at_the_page if chosen.kind == "page" else at_the_bare
    asyncio.run(talk(opened(chosen.where, chosen.chats), chosen.messages, in_rounds=chosen.rounds))


if __name__ == "__main__":
    main()
