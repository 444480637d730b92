"""Grants for operators: the API, the console's page and the command line, of a whole process in this one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.operator.client import Client, connected
from bot.server.process import serving
from runtime.contract import Effect, ToolSpec
from runtime.http.errors import Refusal
from runtime.policy.grant_patterns import exactly
from runtime.policy.grants import Grant, GrantId, form_of
from runtime.store.protocol import Granted
from tests.contract.runtime.stage import FakeTool
from tests.unit.bot.fake_store import FakeStore, context_of
from tests.unit.bot.operator.test_schedules import House
from tests.unit.bot.settings.test_settings import read

ROOM = "reports"
TEXT = "[web]\nport = 0\n"


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with serving(read(tmp_path, TEXT), with_link=False) as ready, connected(ready.control) as api:
        yield House(ready, api)


async def granted(house: House, words: str = "write hello to a.txt") -> dict[str, Any]:
    """A call that somebody asked for, allowed for its conversation."""
    await house.api.say(ROOM, words, "event-0001")
    question = await first(house.api)
    assert question["choices"]["conversation"] == "This conversation"
    assert (await house.api.decide(question["id"], "conversation"))["choice"] == "conversation"
    [grant] = await house.api.grants()
    return grant


async def first(api: Client) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while not (rows := await api.approvals("pending")):  # noqa: ASYNC110 - over HTTP
            await asyncio.sleep(0.02)
    return rows[0]


async def test_a_grant_is_listed_shown_and_ended(house: House) -> None:
    grant = await granted(house)
    assert (grant["state"], grant["tool"], grant["where"], grant["by"]) == (
        "active",
        "write_file",
        "one conversation",
        "owner",
    )
    assert grant["pattern"] == "content = hello\npath = a.txt"
    assert (grant["room"], grant["address"]) == ("write hello to a.txt (page)", f"web:main/{ROOM}")
    assert await house.api.grant(grant["id"][:10]) == grant
    ended = await house.api.revoke(grant["id"])
    assert ended["state"] == "revoked"
    with pytest.raises(Refusal, match="has already ended"):
        await house.api.revoke(grant["id"])
    with pytest.raises(Refusal, match="There is no grant nothing"):
        await house.api.grant("nothing")


async def done(house: House, runs: int) -> dict[str, Any]:
    """The newest of so many runs, once all are over."""
    async with asyncio.timeout(20):
        while True:
            rows = await house.api.runs()
            if [row["state"] for row in rows] == ["done"] * runs:
                return rows[0]
            await asyncio.sleep(0.02)


async def test_the_run_that_used_it_and_its_trace_name_it(house: House) -> None:
    grant = await granted(house)
    await done(house, 1)
    await house.api.say(ROOM, "write hello to a.txt", "event-0002")
    run = await done(house, 2)
    [step] = [one for one in (await house.api.run(run["id"]))["steps"] if one["kind"] == "tool"]
    assert step["grant"] == f"{grant['id']} by owner"
    told = (await house.api.trace(run["id"]))["trace"]
    assert any(f"the grant {grant['id']} by owner" in event["words"] for event in told["events"])
    assert f"by the grant {grant['id']} by owner" in await house.page(f"/console/runs/{run['id']}")


async def test_the_page_lists_them_with_a_button_that_ends_each(house: House) -> None:
    grant = await granted(house, "write <script> to a.txt")
    text = await house.page("/console/grants")
    assert "write_file" in text
    assert "content = &lt;script&gt;" in text
    assert f'action="/console/api/grants/{grant["id"]}/revoke"' in text
    await house.api.revoke(grant["id"])
    text = await house.page("/console/grants?state=revoked")
    assert "write_file" in text
    assert "/revoke" not in text
    assert "write_file" not in await house.page("/console/grants?state=active")


async def test_the_page_names_the_room(house: House) -> None:
    await granted(house, "write hello to a.txt")
    assert "one conversation: write hello to a.txt (page)" in await house.page("/console/grants")


ALWAYS = {"pattern": "path = notes/*\ncontent = *", "where": "this room", "until": "", "uses": "2"}


async def test_a_call_is_allowed_from_now_on_by_the_form_of_the_console(house: House) -> None:
    await house.api.say(ROOM, "write hello to notes/a.txt", "event-0001")
    question = await first(house.api)
    page = await house.page("/console/approvals")
    assert f'action="/console/api/approvals/{question["id"]}/always"' in page
    assert "path = notes/a.txt" in page
    with pytest.raises(Refusal, match=r"\w"):
        await house.api.always(question["id"], {**ALWAYS, "uses": "many"})
    assert (await house.api.approval(question["id"]))["state"] == "pending"
    assert (await house.api.always(question["id"], ALWAYS))["choice"] == "always"
    [grant] = await house.api.grants()
    assert (grant["where"], grant["uses_left"], grant["by"]) == ("one room", 2, "owner")
    assert grant["pattern"] == "path = notes/*\ncontent = *"
    await done(house, 1)
    await house.api.say(ROOM, "write more to notes/b.txt", "event-0002")
    await done(house, 2)
    assert [one["uses_left"] for one in await house.api.grants()] == [1]


async def test_a_call_that_grants_nothing_has_no_such_form(tmp_path: Path) -> None:
    rules = f'{TEXT}[[policy]]\ntool = "write_file"\nresult = "ask"\ngrants = false\n'
    async with serving(read(tmp_path, rules), with_link=False) as ready, connected(ready.control) as api:
        await api.say(ROOM, "write hello to a.txt", "event-0001")
        question = await first(api)
        assert question["always"] == []
        assert "/always" not in await House(ready, api).page("/console/approvals")
        with pytest.raises(Refusal):
            await api.always(question["id"], ALWAYS)


@pytest.mark.parametrize(("role", "status"), [("operator", 200), ("user", 403), ("viewer", 403)])
async def test_only_operators_see_them(house: House, role: str, status: int) -> None:
    async with house.browser("Otto", role) as browser:
        for path in ("/console/grants", "/console/api/grants"):
            async with browser.get(path) as answer:
                assert answer.status == status


async def test_a_grant_whose_tool_is_gone_or_another_by_now_is_kept_and_has_no_effect() -> None:
    context = context_of(FakeStore())
    spec = ToolSpec("write_file", "Writes.", {}, Effect.WRITE)
    held = Grant(
        id=GrantId("g1"),
        agent="main",
        tool="write_file",
        form=form_of(spec, ""),
        pattern=exactly({"path": "a"}),
        by="p1",
        from_approval="a1",
        until=context.now() + timedelta(days=1),
        created_at=context.now(),
    )
    found = Granted(held, "Ada")

    def now(*tools: ToolSpec) -> str:
        return replace(context, tools=lambda: {one.name: FakeTool(one) for one in tools}).effect_of(found)

    assert now(spec) == "active"
    assert now() == "no effect"
    assert now(replace(spec, effect=Effect.DANGER)) == "no effect"
    assert replace(context, tools=dict).effect_of(replace(found, giver="")) == "no effect"
