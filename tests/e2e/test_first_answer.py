"""The first message after a start: people see somebody at work before the model's client is loaded, on every wire."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.testing.openai.server import OpenAI, Reply
from bot.testing.serve import serving
from tests.contract.adapters.rig import Place, Rig
from tests.e2e.house import ROOT, open_house
from tests.e2e.test_channel_nodes import answered, is_ready
from tests.unit.bot.doctor.test_channels import MAKERS, toml

pytestmark = [pytest.mark.xdist_group("e2e-first"), pytest.mark.timeout(180)]

PATIENCE = 45.0  # seconds: the machine may be busy with other tests


@asynccontextmanager
async def platforms(folder: Path) -> AsyncIterator[list[Rig]]:
    async with AsyncExitStack() as stack:
        made = []
        for name, maker in MAKERS.items():
            (folder / name).mkdir()
            made.append(await stack.enter_async_context(maker(folder / name, process=True)))
        yield made


async def signs(rig: Any) -> Any:
    """What the platform was told of somebody being at work: typing, or the status of a thread."""
    screen = await rig.driver.screen()
    told = screen if isinstance(screen, dict) else screen.raw
    return told.get("typing") or [said for said in told.get("assistant", {}).values() if said.get("status")]


async def seen_at_work(rig: Rig) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await signs(rig):  # noqa: ASYNC110 - a platform rings no bell
            await asyncio.sleep(0.02)


def place_of(rig: Rig) -> Place:
    """A thread where only threads have a status."""
    rooms = rig.rooms()
    return rooms.thread if rooms.thread and rig.name.startswith("slack") else rooms.direct


async def test_somebody_is_seen_at_work_on_each_platform_before_the_model_is_asked(tmp_path: Path) -> None:
    """The real client is loaded, which takes seconds, and messages that come meanwhile are no worse off."""
    model = OpenAI(lambda request: Reply("Good morning.", delay=1))
    async with serving(model.app()) as url, platforms(tmp_path) as rigs:
        settings = (
            f'[model]\nname = "openai/mock"\napi_base = "{url}/v1"\napi_key = "none"\n[access]\ndefault = "allow"\n'
        )
        home = tmp_path / "home"
        home.mkdir()
        variables = {"PYTHONPATH": str(ROOT)}  # so it loads, instead of being forked
        with open_house(home, settings + "".join(toml(rig.settings()) for rig in rigs), variables=variables) as house:
            await is_ready(house)
            await asyncio.gather(*(greeted(rig, model) for rig in rigs))


async def greeted(rig: Rig, model: OpenAI) -> None:
    place = place_of(rig)
    await rig.say(place, f"good morning, {rig.name}")
    await seen_at_work(rig)
    asked = [request for request in model.requests if f"good morning, {rig.name}" in str(request)]
    assert asked == [], "somebody was seen at work only once the model was asked"
    await answered(rig, place, "Good morning.")
