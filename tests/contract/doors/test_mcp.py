"""The protocol's own client talks to agents in both revisions: tools, progress, questions, resources, and what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.contract.doors.conftest import Doors

REVISIONS: Final = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
USER_TOOLS: Final = {"ask_agent", "send_message", "message", "rooms", "search_messages"}


@asynccontextmanager
async def client(doors: Doors, name: str, mode: str = "auto", **given: Any) -> AsyncIterator[Client]:
    token = doors.tokens.get(name) or await doors.make(name, **given)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as web:
        transport = streamable_http_client(f"{doors.house.url}/mcp", http_client=web)
        async with Client(transport, mode=mode) as made:
            yield made


async def tried(app: Client, tool: str, /, **arguments: Any) -> tuple[bool, str, Any]:
    result = await app.call_tool(tool, arguments)
    content: Any = result.content[0]
    return bool(result.is_error), content.text, result.structured_content


@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_agent_answers_once_a_key_and_tells_how_far_it_is(doors: Doors, revision: str) -> None:
    told: list[str] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async with client(doors, "app", REVISIONS[revision]) as app:
        assert app.protocol_version == revision
        assert {one.name for one in (await app.list_tools()).tools} == USER_TOOLS
        asked = {"text": "Hello there", "room": "notes", "agent": "ops", "key": "once"}
        first = await app.call_tool("ask_agent", asked, progress_callback=progress)
        failed, words, data = await tried(app, "ask_agent", **asked)
        assert (failed, data["state"], data["agent"]) == (False, "done", "ops")
        assert "Hello there" in words
        assert first.structured_content == data
        assert first.structured_content["id"] in told[0]
        assert len(await doors.house.api.runs()) == 1
        failed, words, _ = await tried(app, "ask_agent", **{**asked, "text": "Other"})
        assert (failed, "Idempotency-Key" in words) == (True, True)
        (room,) = (await tried(app, "rooms"))[2]["rooms"]
        (found, *_) = (await tried(app, "search_messages", query="hello"))[2]["found"]
        assert found["room"] == room["room"] == data["room"]
        (listed,) = (await app.list_resources()).resources
        transcript: Any = (await app.read_resource(str(listed.uri))).contents[0]
        assert "Hello there" in transcript.text


async def test_a_question_in_mid_run_ends_the_call_and_is_decided_only_where_the_settings_say_so(
    doors: Doors, tmp_path: Path
) -> None:
    async with client(doors, "app") as app, client(doors, "boss", role="operator") as boss:
        failed, words, data = await tried(app, "ask_agent", text="run: uname -a")
        assert (failed, data["state"]) == (False, "asking")
        assert data["id"] in words
        (question,) = (await tried(boss, "approvals_list"))[2]["rows"]
        assert question["id"] == data["questions"][0]["id"]
        failed, words, _ = await tried(boss, "decide", id=question["id"], choice="deny")
        assert (failed, "There is no tool 'decide'" in words) == (True, True)
        settings = tmp_path / "signalbox.toml"
        settings.write_text(f"{settings.read_text()}[programs]\ndecide_over_mcp = true\n")
        await doors.house.api.reload()
        failed, words, _ = await tried(app, "decide", id=question["id"], choice="deny")
        assert failed
        failed, words, _ = await tried(boss, "decide", id=question["id"], choice="deny")
        assert not failed, words
        failed, words, data = await tried(app, "message", id=data["id"], wait_seconds=20)
        assert (failed, data["state"]) == (False, "done")


async def test_operators_have_runs_schedules_and_reports_and_narrow_tokens_their_rooms_alone(doors: Doors) -> None:
    async with client(doors, "boss", role="operator") as boss:
        said = await tried(boss, "ask_agent", text="Hello there", room="mornings")
        made = {"name": "morning", "when": "0 9 * * 1-5", "prompt": "Good morning.", "to": [said[2]["room"]]}
        assert not (await tried(boss, "schedules_add", **made))[0]
        assert (await tried(boss, "schedules_pause", name="morning", reason="holidays"))[2]["state"] == "paused"
        assert (await tried(boss, "schedules_resume", name="morning"))[2]["state"] == "active"
        (row,) = (await tried(boss, "schedules_list"))[2]["rows"]
        assert row["name"] == "morning"
        assert not (await tried(boss, "schedules_remove", name="morning"))[0]
        reports = [uri for one in (await boss.list_resources()).resources if "reports/" in (uri := str(one.uri))]
        text: Any = (await boss.read_resource(reports[0])).contents[0]
        assert text.text
        assert [one["id"] for one in (await tried(boss, "runs"))[2]["rows"]] == [said[2]["run"]]
    async with client(doors, "narrow", role="operator", rooms=["builds"], agents=["ops"]) as narrow:
        failed, words, _ = await tried(narrow, "schedules_list")
        assert (failed, "some rooms or agents only" in words) == (True, True)
        assert (await narrow.list_resources()).resources == []
        with pytest.raises(MCPError):
            await narrow.read_resource("signalbox://rooms/web%3Amain%2Fmornings")
        failed, words, _ = await tried(narrow, "ask_agent", text="Hello", agent="finance", room="builds")
        assert (failed, "There are: ops" in words) == (True, True)


async def test_what_is_no_request_of_a_program_is_refused_with_its_reason(doors: Doors) -> None:
    await doors.make("app")
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    assert (await doors.ask("nobody", "POST", "/mcp", ping, **accept)).status == 401
    assert (await doors.ask("app", "GET", "/mcp", **accept)).status == 405
    evil = {"Origin": "http://evil.example.com", "Host": "evil.example.com"}
    assert (await doors.ask("app", "POST", "/mcp", ping, **accept, **evil)).status == 403
    many = await asyncio.gather(*(doors.ask("app", "POST", "/mcp", ping, **accept) for _ in range(5)))
    assert {one.status for one in many} == {200}
