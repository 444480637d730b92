"""Conversations as files, large ones: the process has its turn for everybody else meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from bot.operator.local import opened
from bot.operator.operations import Operations
from bot.settings.settings import load
from bot.wiring.owner import settle_owner
from runtime.store.store import open_store

ENTRIES: Final = 40
TEXT: Final = "a line of words, a path /srv/data/report and a number 12345\n" * 1_000  # 60 KB
TURN_MAX_SECONDS: Final = 0.02
"""Of the loop's own processor time, so that a busy machine changes nothing."""


@asynccontextmanager
async def place(folder: Path) -> AsyncIterator[Operations]:
    (folder / "signalbox.toml").write_text("")
    settings = load(folder / "signalbox.toml", environ={})
    settings.data_dir.mkdir()
    store = await open_store(settings.database_url)
    await settle_owner(store.people, [], None, with_link=False)
    await store.close()
    async with opened(settings) as operations:
        yield operations


async def turns(work: Awaitable[Any]) -> tuple[Any, float]:
    """What comes of it, and the longest turn that the loop took meanwhile."""
    longest, before = 0.0, time.thread_time()
    task = asyncio.ensure_future(work)
    while not task.done():
        await asyncio.wait([task], timeout=0.001)
        longest, before = max(longest, time.thread_time() - before), time.thread_time()
    return task.result(), longest


async def test_a_large_conversation_is_copied_while_others_have_their_turns(tmp_path: Path) -> None:
    entries = [
        {"kind": kind, "id": str(number), "at": f"2026-11-27T10:{number:02}:00+00:00", "name": "Zoe", "text": TEXT}
        for number in range(ENTRIES)
        for kind in (("message", "answer")[number % 2],)
    ]
    given = {"signalbox": "conversation", "version": 1, "title": "A talk", "entries": entries}
    async with place(tmp_path) as operations:
        made, importing = await turns(operations.import_conversation(given))
        told, exporting = await turns(operations.copy_conversation(made["room"]))
    assert [one["text"] for one in told["entries"]] == [TEXT] * ENTRIES
    assert max(importing, exporting) < TURN_MAX_SECONDS, f"{importing * 1000:.0f} and {exporting * 1000:.0f} ms"
