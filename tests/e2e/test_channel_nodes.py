"""Two processes share the accounts of one database: one listens where only one may, and its end is no end of answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import aiohttp
import pytest

from tests.contract.adapters.rig import Place, Rig
from tests.e2e.house import House
from tests.fakes.postgres import Postgres
from tests.unit.bot.doctor.test_channels import MAKERS, toml

pytestmark = [pytest.mark.xdist_group("e2e-nodes"), pytest.mark.timeout(180)]

PATIENCE: Final = 45.0  # seconds: the machine may be busy with other tests


@pytest.fixture(params=[pytest.param(one, marks=() if one == "discord" else pytest.mark.soak) for one in MAKERS])
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    folder = tmp_path / "platform"
    folder.mkdir()
    async with MAKERS[request.param](folder, process=True) as made:
        yield made


@contextmanager
def houses(folder: Path, postgres: Postgres, rig: Rig) -> Iterator[list[House]]:
    database = f"database_url = {json.dumps(postgres.newest_database())}\n"
    settings = f'{database}[access]\ndefault = "allow"\n[nodes]\nlease_seconds = 1\n{toml(rig.settings())}'
    made: list[House] = []
    try:
        for name in ("one", "two"):
            (folder / name).mkdir()
            made.append(House(folder / name, settings).start())
        yield made
    finally:
        for house in made:
            if house.process.poll() is None:
                house.kill()


async def is_ready(house: House) -> None:
    """Once `/readyz` says so: also where the other process listens."""
    async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as session:
        while True:
            async with session.get(f"{house.url}/readyz") as answer:
                if answer.status == 200:
                    return
            await asyncio.sleep(0.05)


async def answered(rig: Rig, place: Place, words: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await copies(rig, place, words):  # noqa: ASYNC110 - a screen rings no bell
            await asyncio.sleep(0.05)


async def copies(rig: Rig, place: Place, words: str) -> int:
    return len([message for message in await rig.visible(place) if words in message.text])


@pytest.mark.parametrize("end", ["kill", pytest.param("leave", marks=pytest.mark.soak)])
async def test_either_process_may_end_and_each_message_is_answered_once(
    rig: Rig, tmp_path: Path, postgres: Postgres, end: str
) -> None:
    place = rig.rooms().direct
    with houses(tmp_path, postgres, rig) as (first, second):
        await is_ready(first)
        await is_ready(second)
        await rig.say(place, "good morning one")
        await answered(rig, place, "good morning one")
        await asyncio.to_thread(getattr(first, end))
        await rig.say(place, "good morning two")
        await answered(rig, place, "good morning two")
        await asyncio.to_thread(first.start)
        await is_ready(first)
        await asyncio.to_thread(getattr(second, end))
        await rig.say(place, "good morning three")
        await answered(rig, place, "good morning three")
        await asyncio.sleep(0.3)  # for a second copy, if there were one
        for number in ("one", "two", "three"):
            assert await copies(rig, place, f"good morning {number}") == 1
