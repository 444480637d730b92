"""How long the work of a killed node lies: two nodes on one PostgreSQL, one of them ended by SIGKILL in mid-work."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bench.figures import Figure, at_most
from bench.page import Chat, Page, page
from bench.program import Program, helper, signalbox
from bench.reply import settings
from tests.fakes.postgres import Postgres

LONGEST: Final = 6.0  # seconds: lease 5 s, a reaper each 0.5 s; source: design.md, section 10
IN_FLIGHT: Final = 20
DELAY: Final = 2.0  # seconds that the model thinks, so that the kill finds all of them waiting for it


async def failover(short: bool) -> list[Figure]:
    count, delay = (2, DELAY / 4) if short else (IN_FLIGHT, DELAY)
    with (
        tempfile.TemporaryDirectory() as name,
        Postgres() as server,
        helper("bench.model", "--delay", str(delay), folder=Path(name)) as model,
    ):
        told = f'database_url = "{server.create_database()}"\n' + settings(f"{model.url}/v1", stream=False)
        told += "[nodes]\nlease_seconds = 2.5\n" if short else ""
        with signalbox(made(Path(name) / "one"), told) as one, signalbox(made(Path(name) / "two"), told) as two:
            times = await _taken_over(one, two, count, delay)
    note = f"{count} runs in flight, the first answered after {min(times):.1f} s; less the model's {delay:g} s"
    return [Figure("failover of a killed node", max(times), "s", None, at_most(LONGEST), note)]


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def _taken_over(one: Program, two: Program, count: int, delay: float) -> list[float]:
    """Seconds from the kill of `one` until `two` had each message at the model again."""
    link = two.url + urlsplit(one.link).path  # one installation: a link opens the page of every node
    async with page(one.link) as here, page(link) as there, AsyncExitStack() as opened:
        await asyncio.gather(warm(here), warm(there))
        saying, hearing = await chats_in(opened, here, there, count)
        await asyncio.gather(*(chat.say("hello") for chat in saying))
        await asyncio.sleep(delay / 4)
        one.process.kill()
        killed = time.perf_counter()
        return list(await asyncio.gather(*(_replied(chat, killed + delay) for chat in hearing)))


async def warm(at: Page) -> None:
    """Both have their model's client loaded: its import is no part of a failover."""
    async with at.chat() as chat:
        await chat.ask("hello")


async def chats_in(opened: AsyncExitStack, here: Page, there: Page, count: int) -> tuple[list[Chat], list[Chat]]:
    """So many rooms, each open at both."""
    rooms = [secrets.token_hex(8) for _ in range(count)]
    saying, hearing = [[await opened.enter_async_context(at.chat(room)) for room in rooms] for at in (here, there)]
    return saying, hearing


async def _replied(chat: Chat, began: float) -> float:
    await chat.reply()
    return time.perf_counter() - began
