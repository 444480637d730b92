"""A reload takes over what is planned in the settings, while the process works."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from bot.operator.client import Client, connected
from bot.server.process import serving
from bot.server.reload import Reload
from bot.wiring.live_rules import Live, rules_of
from bot.wiring.schedules import FileSchedules
from runtime.contract import Address
from runtime.http.errors import Refusal
from tests.contract.runtime.stores import memory_store
from tests.unit.bot.settings.test_settings import read
from tests.unit.bot.wiring.test_identities import Learning

PAGE: Final = "[web]\nport = 0\n"
NEWS: Final = '[[schedules]]\nname = "news"\nwhen = "every hour"\nprompt = "What is new?"\nto = ["web:main/room01"]\n'
BEAT: Final = '[[heartbeats]]\nname = "files"\ntool = "list_files"\nto = ["web:main/room01"]\n'


@dataclass
class House:
    file: Path
    api: Client

    async def reload(self, text: str) -> dict[str, list[str]]:
        self.file.write_text(PAGE + text)
        return await self.api.reload()

    async def names(self) -> list[str]:
        return sorted(row["name"] for row in await self.api.schedules())


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    settings = read(tmp_path, PAGE + NEWS)
    async with serving(settings, with_link=False) as ready, connected(ready.control) as api:
        assert settings.file
        yield House(settings.file, api)


async def test_schedules_come_change_and_go_with_the_file(house: House) -> None:
    assert await house.names() == ["news"]
    assert await house.reload(NEWS) == {"changed": [], "restart": [], "notes": []}
    told = await house.reload(NEWS.replace("new?", "old?") + NEWS.replace('"news"', '"more"') + BEAT)
    assert told == {
        "changed": ["schedule 'news' changed", "schedule 'more' added", "schedule 'files' added"],
        "restart": [],
        "notes": [],
    }
    assert await house.names() == ["files", "more", "news"]
    assert (await house.api.schedule("news"))["task"] == "What is old?"
    assert sorted((await house.reload(""))["changed"]) == [
        f"schedule '{name}' removed" for name in ("files", "more", "news")
    ]
    assert await house.names() == []


async def test_a_fault_changes_nothing(house: House) -> None:
    with pytest.raises(Refusal, match="every fooday"):
        await house.reload(NEWS.replace("new?", "old?") + NEWS.replace("every hour", "every fooday"))
    assert (await house.api.schedule("news"))["task"] == "What is new?"


async def test_what_people_may_plan_counts_from_then_on(house: House) -> None:
    await house.api.say("room01", "hello", "message-1")
    wish = {"when": "every 5 minutes", "prompt": "hi", "to": ["web:main/room01"]}
    limits = '[planning]\nzone = "Asia/Tokyo"\nper_person = 1\nleast_interval_minutes = 10\n'
    told = await house.reload(NEWS + limits)
    assert told["changed"][:3] == ["planning.zone", "planning.per_person", "planning.least_interval_minutes"]
    assert told["changed"][3:] == ["schedule 'news' changed"], "it names no zone of its own"
    with pytest.raises(Refusal, match="too often: runs must be at least 0:10:00"):
        await house.api.add_schedule(wish)
    made = await house.api.add_schedule(wish | {"when": "every day at 9"})
    assert made["zone"] == "Asia/Tokyo"
    with pytest.raises(Refusal, match="One person may have 1 schedules"):
        await house.api.add_schedule(wish | {"when": "every day at 10"})


async def test_a_name_that_was_taken_meanwhile_is_told(house: House) -> None:
    await house.api.say("room01", "hello", "message-1")
    await house.api.add_schedule({"when": "every day at 9", "prompt": "hi", "to": ["web:main/room01"], "name": "mine"})
    told = await house.reload(NEWS + NEWS.replace('"news"', '"mine"'))
    assert told["changed"] == []
    assert "schedule 'mine' isn't planned: web:main/room01 already has a schedule" in told["notes"][0]


async def test_an_account_that_is_learnt_late_brings_its_schedules(tmp_path: Path) -> None:
    slack = (
        '[[accounts]]\nname = "work"\nchannel = "slack"\nbot_token = "xoxb-1111-2222-abcdefABCDEF"\n'
        'app_token = "xapp-1-A111-2222-abcdef"\n'
    )
    settings = read(tmp_path, PAGE + slack + NEWS.replace("web:main/room01", "slack:work/C1"))
    store, late = memory_store(lambda: datetime.now(UTC)), Learning()
    reload = Reload(
        settings=settings,
        live=Live(rules_of(settings)),
        people=store.people,
        registry=store.cluster,
        set_level=lambda _: None,
        accounts=[late],
        schedules=FileSchedules(book=store.schedules, now=store.now, accounts=[late]).sync,
    )
    await reload.begin()
    assert await store.schedules.schedules() == []
    late.identity = "T1"
    await reload.learnt()
    [made] = await store.schedules.schedules()
    assert made.to == (Address("slack", "T1", "C1"),)
    await store.close()
