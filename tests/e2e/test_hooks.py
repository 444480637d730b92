"""The real program with a hook: a request comes in, and the answer stands in the room, once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.e2e.house import House, open_house

pytestmark = [pytest.mark.xdist_group("e2e-nodes"), pytest.mark.timeout(120)]
SECRET = "0123456789abcdef0123456789abcdef"
SETTINGS = """
[[hooks]]
name = "deploys"
to = "web:main/ops001"
secret_env = "DEPLOYS_SECRET"
prompt = "A deployment ended."
"""
PROOF = {"Authorization": f"Bearer {SECRET}"}


async def post(http: aiohttp.ClientSession, house: House, **given: Any) -> tuple[int, Mapping[str, Any]]:
    async with http.post(f"{house.url}/hooks/deploys", **given) as answer:
        return answer.status, await answer.json()


async def entries(http: aiohttp.ClientSession, house: House) -> list[tuple[str, str]]:
    """Who said what in the room, as the page of its owner has it, once nothing is at work there."""
    async with asyncio.timeout(30):
        while True:
            async with http.get(f"{house.url}/api/rooms/ops001/timeline") as answer:
                told = await answer.json()
            if not told["busy"]:
                return [(entry["author"], entry.get("text") or entry["markdown"]) for entry in told["entries"]]
            await asyncio.sleep(0.05)


async def test_a_request_is_answered_in_the_room_once_also_over_a_kill(tmp_path: Path) -> None:
    with open_house(tmp_path, SETTINGS, variables={"DEPLOYS_SECRET": SECRET}) as house:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
            assert (await post(http, house, json={}))[0] == 401
            first = await post(http, house, json={"version": "4.2"}, headers=PROOF)
            assert first[0] == 202
            await asyncio.to_thread(house.kill)
            await asyncio.to_thread(house.start)
            again = await post(http, house, json={"version": "4.2"}, headers={**PROOF, "Host": "bot.example.org"})
            assert again == (200, {"id": first[1]["id"], "duplicate": True})
            async with http.get(house.link):
                pass  # which leaves the owner's cookie
            said, answer = await entries(http, house)
            async with http.get(f"{house.url}/metrics") as metrics:
                counted = [line for line in (await metrics.text()).splitlines() if line.startswith("signalbox_signals")]
    assert said[0] == "person"
    assert said[1].startswith('The webhook "deploys" was called.\n\nA deployment ended.')
    assert answer[0] == "agent"
    assert '"version": "4.2"' in answer[1]
    assert SECRET not in house.log()
    assert any('channel="web"' in line and 'outcome="duplicate"' in line for line in counted), counted
