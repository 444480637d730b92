"""How long answers are missing whose sends were cut on Telegram, where a lost message must be looked for.

Private chats with the waits and bounds of production. The first send of each answer is cut: before it is applied, after
it, each in turn, or in turn with the process killed a second later.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Final

from bench.channels import People, home, people
from bench.figures import Figure, at_most
from bench.program import Program, helper, signalbox
from bench.reply import settings
from tests.contract.adapters.rigs.telegram import numbered
from tests.fakes.telegram_driver import Driver

LONGEST: Final = 45.0  # seconds; source: issue 11
CHATS: Final = 50
PATIENCE: Final = 180.0  # seconds
BEFORE, AFTER = ("cut before",), ("cut after",)
MIXED: Final = ("cut before", "cut after")
SHORT: Final = "[outbox]\nsettle_first_seconds = 0.5\nsettle_second_seconds = 1.0\n"


async def cuts(short: bool) -> list[Figure]:
    each = 3 if short else CHATS
    with (
        tempfile.TemporaryDirectory() as name,
        helper("bench.model", folder=Path(name)) as model,
        people("telegram", Path(name)) as here,
    ):
        folder = await home(Path(name) / "ours", here)
        told = account(here) + settings(f"{model.url}/v1", stream=False) + SHORT * short
        chats = (int(one.address.room) for one in map(numbered, count(1)) if one.direct)
        scene = Scene(here, folder, told, chats, each)
        with signalbox(folder, told) as program:
            here.polled()
            await scene.play("warm", ())
            figures = [await scene.play(f"sends cut {words}", kinds) for words, kinds in rounds(short)]
            if not short:
                figures.append(await scene.play("sends cut in turn, killed", MIXED, program))
        return figures


def rounds(short: bool) -> Sequence[tuple[str, tuple[str, ...]]]:
    return [("in turn", MIXED)] if short else [("before", BEFORE), ("after", AFTER), ("in turn", MIXED)]


def account(here: People) -> str:
    """With the platform's own bounds on sending."""
    return "[[accounts]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in here.account().items())


class Scene:
    """`each` people of Telegram, again and again others, write at once."""

    def __init__(self, here: People, folder: Path, told: str, chats: Iterator[int], each: int) -> None:
        self._driver = Driver(str(here.account()["api_base_url"]))
        self._folder = folder
        self._told = told
        self._chats = chats
        self._each = each

    async def play(self, name: str, kinds: Sequence[str], killed: Program | None = None) -> Figure:
        chats = [next(self._chats) for _ in range(self._each)]
        for kind in [kinds[n % len(kinds)] for n in range(self._each)] if kinds else []:
            await self._driver.fault(kind)
        await asyncio.gather(*(self._driver.say("hello", chat=chat, user=chat) for chat in chats))
        if killed is None:
            return await self._told_of(name, chats)
        await asyncio.sleep(1)
        killed.process.kill()
        killed.process.wait()
        with signalbox(self._folder, self._told):
            return await self._told_of(name, chats)

    async def _told_of(self, name: str, chats: Sequence[int]) -> Figure:
        """Seconds from the commit of each answer, whose send was cut, until the store knows that it is shown."""
        end = time.monotonic() + PATIENCE
        while len(found := self._shown(chats)) < len(chats):
            if time.monotonic() > end:
                raise RuntimeError(f"{name}: {len(found)} of {len(chats)} are shown after {PATIENCE:g} s")
            await asyncio.sleep(0.2)
        seen = Counter(message["chat"]["id"] for message in (await self._driver.screen())["messages"])
        repeated = sum(seen[chat] - 1 for chat in chats)
        if repeated:
            raise RuntimeError(f"{name}: {repeated} answers are repeated")
        note = (
            f"Telegram, {len(chats)} private chats; the middle one {sorted(found)[len(found) // 2]:.1f} s; 0 repeated"
        )
        return Figure(name, max(found), "s", None, at_most(LONGEST), note)

    def _shown(self, chats: Sequence[int]) -> list[float]:
        rooms = {str(chat) for chat in chats}
        query = (
            "SELECT d.address, (p.shown_at - d.created_at) / 1e6 FROM parts p JOIN deliveries d ON d.id = p.delivery_id "
            "WHERE p.state = 'shown'"
        )
        with closing(sqlite3.connect(f"file:{self._folder}/var/signalbox.db?mode=ro", uri=True)) as database:
            return [seconds for address, seconds in database.execute(query) if address.rpartition("/")[2] in rooms]
