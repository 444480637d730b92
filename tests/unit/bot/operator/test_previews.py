"""Schedules and reports before they are kept, a run's own stop, and its work once more; by the API of a whole process."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, cast

import pytest

from bot.operator.actor import Actor
from bot.operator.client import connected
from bot.operator.planning import report_preview
from bot.server.process import serving
from runtime.contract import Job
from runtime.http.errors import Refusal
from tests.unit.bot.operator.test_schedules import ROOM, TEXT, TO, House
from tests.unit.bot.settings.test_settings import read

TEMPLATE: Final = """+++
[options]
hours = 24
[[data]]
name = "activity"
tool = "activity"
options = ["hours"]
[[charts]]
name = "shape"
arguments = "{'kind': 'bar', 'title': 'Messages', 'labels': ['a', 'b'], 'series': [{'name': '', 'values': [1, 2]}]}"
+++
## {{ activity.messages.total | plural("message") }} <b>
"""


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(read(tmp_path, TEXT), with_link=False) as ready, connected(ready.control) as api:
        await api.say(ROOM, "hello there", "message-1")
        yield House(ready, api)


async def foreseen(house: House, **fields: Any) -> dict[str, Any]:
    return await house.api.preview_schedule({"to": [TO], "prompt": "What is new?", **fields})


async def test_the_next_five_times_are_told_before_anything_is_kept(house: House) -> None:
    seen = await foreseen(house, when="first Monday of the month at 8:30")
    assert (seen["when"], seen["zone"], seen["faults"]) == (
        "on the first Monday of every month at 08:30 (Europe/Berlin)",
        "Europe/Berlin",
        {},
    )
    assert len(seen["next"]) == len(seen["there"]) == 5
    assert all(words.startswith("Mon ") and words.endswith("08:30") for words in seen["there"])
    made = await house.api.add_schedule({"to": [TO], "prompt": "x", "when": "first Monday of the month at 8:30"})
    assert made["next"] == seen["next"], "the same as it fires"
    assert len(await house.api.schedules()) == 2, "a look keeps nothing"


async def test_each_fault_stands_at_its_field(house: House) -> None:
    await house.api.add_schedule({"to": [TO], "prompt": "x", "when": "daily at 9", "name": "news"})
    faulty = await foreseen(house, when="every foo", zone="Europe/Berln", name="x" * 61, to=["slack:work/C1"])
    assert {*faulty["faults"]} == {"zone", "name", "to"}
    assert "did you mean Europe/Berlin" in faulty["faults"]["zone"]
    for fields, field, words in (
        ({"when": "every foo"}, "when", "is not understood"),
        ({"when": "every minute"}, "when", "too often"),
        ({"when": "daily at 9", "ends": "2001-01-01 at 9:00"}, "ends", "in the past"),
        ({"when": "daily at 9", "name": "news"}, "name", "already has a schedule"),
        ({"when": "daily at 9", "to": ["nowhere"]}, "to", "nowhere"),
        ({"when": "daily at 9", "prompt": "", "template": "+++\nx"}, "template", "header"),
        ({"when": "daily at 9", "prompt": "x" * 20_001}, "prompt", "characters"),
    ):
        told = await foreseen(house, **fields)
        assert words in told["faults"].get(field, ""), (fields, told)
    assert (await foreseen(house, when=""))["faults"] == {}, "what isn't filled in yet is no fault"
    with pytest.raises(Refusal, match="There is no field `owner`"):
        await foreseen(house, owner="ada")


async def test_a_change_is_foreseen_with_what_stays(house: House) -> None:
    made = await house.api.add_schedule({"to": [TO], "prompt": "x", "when": "daily at 9 in Tokyo", "name": "news"})
    same = await house.api.preview_schedule({"schedule": made["id"]})
    assert (same["zone"], same["next"]) == ("Asia/Tokyo", made["next"])
    later = await house.api.preview_schedule({"schedule": "news", "when": "daily at 10", "name": "news"})
    assert (later["when"], later["faults"]) == ("every day at 10:00 (Asia/Tokyo)", {})
    assert (await house.api.schedule("news"))["next"] == made["next"]


async def test_a_report_is_seen_as_it_will_look_with_its_charts(house: House) -> None:
    seen = await house.api.preview_report({"template": TEMPLATE, "to": TO})
    assert seen["text"].startswith("## 1 message")
    assert "&lt;b&gt;" in seen["html"]
    assert "<h2" in seen["html"]
    [chart] = seen["charts"]
    assert base64.b64decode(chart["png"]).startswith(b"\x89PNG")
    assert "Messages" in chart["alt"]
    assert (await house.api.preview_report({"report": "approvals", "quiet": True}))["silent"]
    assert "24 hours" in (await house.api.preview_report({"report": "cost"}))["text"]


async def test_a_preview_is_bounded_and_calls_no_tool_of_others(house: House) -> None:
    calls = '+++\n[[data]]\nname = "notes"\ntool = "read_file"\narguments = { path = "x" }\n+++\n{{ notes }}'
    for fields, words in (
        ({"template": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"}, "loop"),
        ({"template": calls}, "read_file"),
        ({"template": f"+++\noptions = {'[' * 5_000}\n+++\n"}, "nested too deeply"),
        ({"template": f"+++\nabout = {'9' * 5_000}\n+++\n"}, "too long"),
        ({"template": "{{ nothing.here }}"}, "nothing"),
        ({"prompt": "What is new?"}, "An agent writes this"),
    ):
        with pytest.raises(Refusal, match=words):
            await house.api.preview_report(fields)


async def test_nobody_waits_long_behind_the_previews_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_preview, "PLACE_WAIT", timedelta())
    preview = report_preview.ReportPreview(lambda _: pytest.fail("made"), {}, None, str, asyncio.Semaphore(0))
    with pytest.raises(Refusal, match="Others are looking") as refused:
        await preview.made(cast("Job", None), cast("Actor", None))
    assert refused.value.status == 429


async def test_rooms_are_found_by_name(house: House) -> None:
    [found] = await house.api.destinations("HELLO")
    assert found == {"name": "hello there (page)", "address": TO, "channel": "web"}
    assert await house.api.destinations("nothing like it") == []


async def test_a_run_of_a_schedule_is_run_again_once_and_links_to_its_report(house: House) -> None:
    begun = await house.api.run_schedule("morning")
    run = await ended(house, begun["run"])
    assert (run["can_stop"], run["can_repeat"]) == (False, True)
    [post] = run["posted"]
    assert post["link"].startswith(f"/#{ROOM}/{post['id']}.")
    pressed = await asyncio.gather(*(house.api.run_again(begun["run"]) for _ in range(3)), return_exceptions=True)
    first = next(one for one in pressed if isinstance(one, dict))
    with pytest.raises(Refusal, match="run again already"):
        await house.api.run_again(begun["run"])
    assert (await ended(house, first["then"]))["posted"]
    history = (await house.api.schedule("morning"))["history"]
    assert len(history) == 2
    assert history[-1]["posted"][0]["link"] == post["link"]
    with pytest.raises(Refusal, match="over already"):
        await house.api.stop_run(begun["run"])


async def test_a_report_made_again_has_the_rights_of_whoever_wants_it_again(house: House) -> None:
    """And not of nobody, which are those of what the settings plan."""
    await house.api.make_report("cost", [TO], {})
    run = await run_of_report(house)
    begun = await house.api.run_again(run)
    [owner] = await house.api.people()
    assert (await ended(house, begun["then"]))["requester"] == owner["name"]


async def test_a_message_is_asked_again_by_whoever_wrote_it(house: House) -> None:
    [row] = await house.api.runs()
    run = await ended(house, row["id"])
    assert (run["can_repeat"], run["trigger"]) == (False, "message")
    assert "You asked for it in a message. Ask again there" in run["why_not_again"]
    with pytest.raises(Refusal, match="asked for it in a message"):
        await house.api.run_again(row["id"])


async def run_of_report(house: House) -> str:
    """The run that makes a report, once it is over."""
    async with asyncio.timeout(20):
        while True:
            found = [row["id"] for row in await house.api.runs() if row["trigger"] == "manual"]
            if found:
                return str((await ended(house, found[0]))["id"])
            await asyncio.sleep(0.05)


async def ended(house: House, run: str) -> dict[str, Any]:
    """The run once its answer is on screen. It begins a moment after its instant."""
    async with asyncio.timeout(20):
        while True:
            with suppress(Refusal):
                found = await house.api.run(run)
                if found["ended_at"] and any(post["link"] for post in found["posted"]):
                    return found
            await asyncio.sleep(0.05)
