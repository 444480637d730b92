"""The console's page of knowledge: packs, documents with why one can't be read, and a search."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.operator.client import connected
from bot.server.process import serving
from tests.unit.bot.operator.test_schedules import EVIL, House
from tests.unit.bot.settings.test_settings import read

PAGE = "/console/knowledge"
SETTINGS = '[web]\nport = 0\n[[knowledge]]\nname = "handbook"\nfolder = "{folder}"\n'


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "leave.md").write_text(f"# Leave\n\nEverybody has thirty days of leave a year. {EVIL}\n")
    (folder / "long.md").write_text("x" * 2_100_000)
    settings = read(tmp_path, SETTINGS.format(folder=folder))
    async with serving(settings, with_link=False) as ready, connected(ready.control) as api:
        async with asyncio.timeout(20):
            while sum(row["documents"] for row in await api.knowledge()) < 2:  # noqa: ASYNC110 - over HTTP
                await asyncio.sleep(0.02)
        yield House(ready, api)


async def test_packs_documents_and_passages_are_shown(house: House) -> None:
    packs = await house.page(PAGE)
    assert f'href="{PAGE}?pack=handbook"' in packs
    documents = await house.page(f"{PAGE}?pack=handbook")
    assert documents.index("long.md") < documents.index("leave.md")
    assert "2 MB" in documents
    found = await house.page(f"{PAGE}?pack=handbook&q=thirty+days")
    assert "thirty days of leave" in found
    assert EVIL not in documents + found
    assert "No passage has these words." in await house.page(f"{PAGE}?q=elephant")
    assert "No pack called &#x27;nosuch&#x27;" in await house.page(f"{PAGE}?pack=nosuch")
