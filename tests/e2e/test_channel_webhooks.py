"""Platforms that come to us: their requests reach the real program past the guard of its page, and nobody else's do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import pytest

from tests.contract.adapters.rigs.slack import RIGS as SLACK
from tests.contract.adapters.rigs.slack import SlackRig
from tests.contract.adapters.rigs.telegram import polling
from tests.e2e.house import House
from tests.e2e.test_channel_nodes import answered, is_ready
from tests.fakes.ports import free_port
from tests.unit.bot.doctor.test_channels import toml

pytestmark = [pytest.mark.xdist_group("e2e-nodes"), pytest.mark.timeout(120)]
OPEN = '[access]\ndefault = "allow"\n'


async def post(url: str, **headers: str) -> int:
    async with aiohttp.ClientSession() as session, session.post(url, json={"a": 1}, headers=headers) as answer:
        return answer.status


async def test_slack_brings_signed_events(tmp_path: Path) -> None:
    async with SLACK["slack-http"](tmp_path, process=True) as rig:
        assert isinstance(rig, SlackRig)
        house = House(tmp_path, OPEN + toml(rig.settings()))
        await asyncio.to_thread(house.start)
        try:
            hook = f"{house.url}/slack/work/events"
            await rig.driver.hook(hook)
            await rig.say(rig.rooms().direct, "good morning")
            await answered(rig, rig.rooms().direct, "good morning")
            assert await post(hook, Host="bot.example.org") == 401
        finally:
            house.kill()


async def test_telegram_brings_updates_with_their_secret(tmp_path: Path) -> None:
    async with polling(tmp_path, process=True) as rig:
        here = f"http://127.0.0.1:{free_port()}"
        table = {**rig.settings(), "mode": "webhook", "webhook_url": here}
        house = House(tmp_path, OPEN + toml(table))
        house.url = here
        await asyncio.to_thread(house.start)
        try:
            await is_ready(house)
            await rig.say(rig.rooms().direct, "good morning")
            await answered(rig, rig.rooms().direct, "good morning")
            assert await post(f"{here}/telegram/tg", Host="bot.example.org") == 401
        finally:
            house.kill()
