"""Schedules at the console: its API and pages, of a whole process in this one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest

from bot.operator.client import Client, connected
from bot.server.process import Ready, serving
from runtime.http.errors import Refusal
from tests.unit.bot.settings.test_settings import read

EVIL: Final = "<script>alert(1)</script>"
TEXT: Final = (
    '[web]\nport = 0\n[planning]\nzone = "Europe/Berlin"\nleast_interval_minutes = 5\n[[schedules]]\nname = "morning"\n'
    'when = "0 9 * * 1-5"\nprompt = "Good morning.\\n\\n# A heading"\nto = ["web:main/reports"]\n'
)
WRITES: Final = (
    '[[schedules]]\nname = "writes"\nwhen = "0 9 * * 1-5"\nprompt = "write the kettle is on to notes.txt"\n'
    'to = ["web:main/reports"]\n'
)
ROOM: Final = "reports"
TO: Final = f"web:main/{ROOM}"


@dataclass
class House:
    """A process, and the owner's way to it."""

    ready: Ready
    api: Client

    @asynccontextmanager
    async def browser(self, name: str, role: str) -> AsyncIterator[aiohttp.ClientSession]:
        """The browser of a person with their link."""
        await self.api.add_person(name, role)
        jar = aiohttp.CookieJar(unsafe=True)  # whose host is a number
        async with aiohttp.ClientSession(self.ready.control.url, cookie_jar=jar) as session:
            async with session.get((await self.api.link(name))["path"]) as answer:
                assert answer.status == 200
            yield session

    async def page(self, path: str) -> str:
        headers = {"Authorization": f"Bearer {self.ready.control.token}"}
        url = f"{self.ready.control.url}{path}"
        async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
            assert answer.status == 200
            return await answer.text()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(read(tmp_path, TEXT), with_link=False) as ready, connected(ready.control) as api:
        await api.say(ROOM, "hello", "message-1")  # a room of the page is there once something was said in it
        yield House(ready, api)


async def added(house: House, **more: Any) -> dict[str, Any]:
    fields = {"when": "every weekday at 7:30", "name": "news", "prompt": "What is new?", "to": [TO], **more}
    return await house.api.add_schedule(fields)


# ------------------------------------------------------------------------------------------------------------ the API


async def test_what_is_planned_is_listed_with_its_next_five(house: House) -> None:
    [morning] = await house.api.schedules()
    assert (morning["by_file"], morning["state"], morning["to"], len(morning["next"])) == (True, "active", [TO], 5)
    assert (morning["when"], morning["zone"]) == ("every weekday at 09:00 (Europe/Berlin)", "Europe/Berlin")
    assert morning["task"] == "Good morning.\n\n# A heading"
    shown = await house.api.schedule("Morning")
    assert shown == {**morning, "history": [], "source": shown["source"]}
    assert shown["source"].endswith("signalbox.toml:7"), "where it can be changed"


async def test_one_is_added_changed_and_removed(house: House) -> None:
    made = await added(house, misfire="all", catch_up=3, quiet=True, max_cost=0.25)
    assert (made["owner"], made["by_file"], made["when_text"]) == ("owner", False, "every weekday at 7:30")
    assert (made["terms"]["misfire"], made["terms"]["catch_up"], made["terms"]["max_cost"]) == ("all", 3, 0.25)
    changed = await house.api.change_schedule("news", {"when": "every 2 hours", "thread": "own", "name": "old news"})
    assert (changed["id"], changed["when_text"], changed["name"]) == (made["id"], "every 2 hours", "old news")
    assert changed["terms"] == {**made["terms"], "thread": "own"}, "what was not named is as it was"
    assert (await house.api.remove_schedule(made["id"]))["state"] == "removed"
    assert [one["name"] for one in await house.api.schedules()] == ["morning"]


async def test_what_rests_comes_after_what_is_due(house: House) -> None:
    await added(house)
    await house.api.pause_schedule("morning")
    assert [one["name"] for one in await house.api.schedules()] == ["news", "morning"]
    assert [one["name"] for one in await house.api.schedules("paused")] == ["morning"]
    assert "morning" not in await house.page("/console/schedules?state=active")
    with pytest.raises(Refusal, match="isn't one of: active, paused, ended"):
        await house.api.schedules("late")


async def test_one_is_paused_resumed_and_run(house: House) -> None:
    paused = await house.api.pause_schedule("morning", "holiday")
    assert (paused["state"], paused["reason"], paused["next"]) == ("paused", "holiday", [])
    begun = await house.api.run_schedule("morning")
    assert (begun["manual"], begun["state"]) == (True, "started")
    assert (await house.api.resume_schedule("morning"))["state"] == "active"
    [only] = await house.api.schedule_history("morning", 5)
    assert (only["id"], only["manual"], only["run"]) == (begun["id"], True, begun["run"])


REFUSED: Final[list[tuple[dict[str, Any], int, str]]] = [
    ({"when": "every foo"}, 409, '"every foo" is not understood. For example: "every weekday at 9:30"'),
    ({"when": "every minute"}, 409, "is too often"),
    ({"to": []}, 400, "`to` is missing"),
    ({"to": "slack:work/C1"}, 409, "No account here serves slack:work/C1"),
    ({"to": "nowhere"}, 404, "nowhere"),
    ({"to": [7]}, 400, "a list of addresses"),
    ({"to": "web:main/empty1"}, 409, "There is no such conversation"),
    ({"prompt": "  "}, 409, "Say what the agent should do"),
    ({"report": "cost"}, 400, "`prompt` and `report` are both given"),
    ({"prompt": "", "report": "costs"}, 400, 'There is no report "costs". The reports are: activity'),
    ({"prompt": "", "template": "+++\nx"}, 400, "header"),
    ({"options": [1]}, 400, "`options` must be an object"),
    ({"misfire": "never"}, 400, '`misfire`: got text "never"; expected "skip", "once", "all" or "window"'),
    ({"max_cost": -1}, 400, "`max_cost`: got a number -1; expected at least 0"),
    ({"zone": "Europe/Berln"}, 409, "did you mean Europe/Berlin"),
    ({"owner": "ada"}, 400, "There is no field `owner`"),
    ({"name": "x" * 61}, 409, "at most 60 characters"),
    ({"name": ["x"]}, 400, "`name` must be text"),
    ({"ends": "2001-01-01 at 9:00"}, 409, "is in the past"),
]


async def test_what_cannot_be_planned_is_refused_in_words(house: House) -> None:
    for fields, status, words in REFUSED:
        with pytest.raises(Refusal) as refused:
            await added(house, **fields)
        assert (refused.value.status, words in str(refused.value)) == (status, True), str(refused.value)
    assert len(await house.api.schedules()) == 1


async def test_what_stands_in_the_file_is_changed_there(house: House) -> None:
    for refused in (
        house.api.change_schedule("morning", {"when": "every day at 9"}),
        house.api.remove_schedule("morning"),
    ):
        with pytest.raises(Refusal, match=r"is in the settings file\. Change it there, then reload"):
            await refused
    with pytest.raises(Refusal, match="There is no schedule called 'evening'"):
        await house.api.pause_schedule("evening")


async def test_a_name_may_be_anything_that_is_one_line(house: House) -> None:
    made = await added(house, name="a/b ?#%2F é")
    assert (await house.api.schedule("a/b ?#%2F é"))["id"] == made["id"]


async def test_what_one_of_the_file_wants_to_do_is_asked_in_its_first_room(tmp_path: Path) -> None:
    """It acts for nobody, so whoever may approve there answers."""
    async with serving(read(tmp_path, TEXT + WRITES), with_link=False) as ready, connected(ready.control) as api:
        begun = await api.run_schedule("writes")
        seen = await api.room(ROOM)
        async with asyncio.timeout(20):
            while not seen["approvals"]:
                seen = await api.change(ROOM, seen["version"])
            [question] = seen["approvals"]
            assert (question["tool"], question["address"]) == ("write_file", TO)
            await api.decide(question["id"], "approve")
            while (await api.run(begun["run"]))["state"] != "done":
                seen = await api.change(ROOM, seen["version"])
        [only] = await api.schedule_history("writes")
        assert (only["state"], only["wanted"]) == ("done", 1)
        assert 0 < only["seconds"] < 20, "not by its two times, which are told to the second"
        assert (await api.run(begun["run"]))["requester"] == ""


# ----------------------------------------------------------------------------------------------------- who may come in


@pytest.mark.parametrize(("role", "status"), [("user", 403), ("operator", 200)])
async def test_only_operators_come_in(house: House, role: str, status: int) -> None:
    async with house.browser("ada", role) as browser:
        for path in ("/console/schedules", "/console/schedules/morning", "/console/api/schedules"):
            async with browser.get(path) as answer:
                assert answer.status == status


async def test_a_page_elsewhere_cannot_press_the_buttons(house: House) -> None:
    async with house.browser("ada", "operator") as browser:
        own = {"Origin": house.ready.control.url, "Sec-Fetch-Site": "same-origin"}
        evil = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        for headers, status, state in ((evil, 403, "active"), (own, 200, "paused")):
            async with browser.post("/console/api/schedules/morning/pause", json={}, headers=headers) as answer:
                assert answer.status == status
            assert (await house.api.schedule("morning"))["state"] == state
    assert (await house.api.schedule("morning"))["reason"] == "by ada"


# ---------------------------------------------------------------------------------------------------------- the pages


async def test_the_page_lists_them_with_a_button_for_what_can_be_done(house: House) -> None:
    made = await added(house, name=EVIL, prompt=EVIL)
    page = await house.page("/console/schedules")
    assert EVIL not in page
    for ident in (made["id"], (await house.api.schedule("morning"))["id"]):
        for verb, there in (("pause", True), ("run", True), ("resume", False)):
            assert (f'action="/console/api/schedules/{ident}/{verb}"' in page) is there
    assert "settings file" in page
    assert 'action="/console/api/schedules"' in await house.page("/console/schedules/new")
    form = await house.page(f"/console/schedules/{made['id']}/edit")
    assert f'action="/console/api/schedules/{made["id"]}"' in form
    assert EVIL not in form
    of_file = await house.page("/console/schedules/morning/edit")
    assert "<form" not in of_file
    assert "signalbox.toml:7" in of_file


async def test_the_page_of_one_tells_what_is_next_and_what_was(house: House) -> None:
    made = await added(house, name=EVIL, prompt=EVIL, misfire="skip", quiet=True, max_cost=0.5, thread="own")
    await house.api.pause_schedule(made["id"], EVIL)
    await house.api.run_schedule(made["id"])
    paused = await house.page(f"/console/schedules/{made['id']}")
    assert EVIL not in paused
    for words in (
        "It&#x27;s paused and won&#x27;t run",
        "run by hand",
        "skip",
        "post nothing",
        "$0.5",
        ">Resume<",
        ">Delete<",
        ">Change<",
    ):
        assert words in paused
    page = await house.page("/console/schedules/morning")
    assert page.count("09:00 in Europe/Berlin") == 5
    assert "No past runs." in page
    assert "changed there and not here: " in page
    assert "signalbox.toml:7" in page
    assert ">Delete<" not in page
    assert ">Change<" not in page


async def test_a_form_is_sent_as_the_page_sends_it(house: House) -> None:
    """Every field as text, empty ones too."""
    form = {"when": "every day at 9", "prompt": "hi", "to": f"{TO}, {TO}", "name": "", "zone": "", "quiet": "yes"}
    headers = {"Authorization": f"Bearer {house.ready.control.token}", "Origin": house.ready.control.url}
    async with aiohttp.ClientSession(house.ready.control.url, headers=headers) as session:
        async with session.post("/console/api/schedules", json=form) as answer:
            made = await answer.json()
        assert (answer.status, made["name"], made["to"], made["terms"]["quiet"]) == (200, "hi", [TO], True)
        empty = {"when": "", "prompt": "", "to": "", "name": "still", "zone": ""}
        async with session.post(f"/console/api/schedules/{made['id']}", json=empty) as answer:
            assert {**await answer.json()} == {**made, "name": "still"}
