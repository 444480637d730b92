"""The protocol's own client, as an editor has one, talks to agents: prompts, permissions, sessions, and what is refused."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import aiohttp
import pytest
from acp import (
    Client,
    RequestError,
    connect_to_agent,
    embedded_text_resource,
    image_block,
    resource_block,
    resource_link_block,
    text_block,
)
from acp.client.connection import ClientSideConnection
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    EnvVariable,
    FileSystemCapabilities,
    McpServerStdio,
    ReadTextFileResponse,
    RequestPermissionResponse,
)

from bot.doors.acp.stdio import LINE_MAX_BYTES, expect_pipes, spoken_over
from bot.node.lock import Control
from bot.settings.settings import Settings
from bot.testing.scripted import Answer, Held
from runtime.contract import Address, ApprovalId, Call, Choice, Clicked, Effect, ModelReply, Reasoning, Signal, Usage
from runtime.errors import ConfigError
from tests.contract.runtime.stage import FakeTool, fake_tool
from tests.unit.bot.notebook import ADA, Running, running

CHANGE: Final = Call("c", "change", '{"at": 1}')
NEVER: Final = "never"
CLOSED: Final = "closed"
SERVERS: Final[list[Any]] = [
    McpServerStdio(name="notes", command="notes-server", args=[], env=[EnvVariable(name="A", value="b")])
]


class Editor:
    """Implements `acp.Client`: notes what it's told, and picks a button by its kind."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.picks = "allow_once"
        self.news = asyncio.Event()
        self.files: dict[str, str] = {}

    def on_connect(self, conn: Any) -> None:
        """Nothing is asked of it."""

    async def session_update(self, session_id: str, update: Any, **more: Any) -> None:
        self.updates.append(update.model_dump(exclude_none=True))
        self.news.set()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: Sequence[Any], **more: Any
    ) -> RequestPermissionResponse:
        self.asked.append({"call": tool_call.model_dump(exclude_none=True), "options": [one.kind for one in options]})
        self.news.set()
        if self.picks == NEVER:
            await asyncio.Event().wait()
        if self.picks == CLOSED:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        picked = next(one for one in reversed(options) if one.kind == self.picks)
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=picked.option_id))

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **more: Any
    ) -> ReadTextFileResponse:
        if path not in self.files:
            raise RequestError(-32002, "there is no such file")
        return ReadTextFileResponse(content=self.files[path])

    def said(self, kind: str = "agent_message_chunk") -> str:
        return "".join(one["content"]["text"] for one in self.updates if one["session_update"] == kind)

    def calls(self) -> list[tuple[str, str]]:
        kinds = ("tool_call", "tool_call_update")
        return [(one.get("title", ""), one["status"]) for one in self.updates if one["session_update"] in kinds]

    async def until_asked(self) -> None:
        async with asyncio.timeout(20):
            while not self.asked:
                self.news.clear()
                await self.news.wait()


class At:
    """An editor beside a running Signalbox."""

    def __init__(self, at_work: Running, editor: Editor, way: ClientSideConnection, tool: FakeTool, raw: Any) -> None:
        self.at_work, self.editor, self.way, self.tool, self.raw = at_work, editor, way, tool, raw

    async def session(self) -> str:
        return (await self.way.new_session(cwd="/work", mcp_servers=[])).session_id

    async def prompt(self, session: str, *blocks: Any) -> str:
        told = await self.way.prompt(
            session_id=session, prompt=[text_block(b) if isinstance(b, str) else b for b in blocks]
        )
        return told.stop_reason


@asynccontextmanager
async def none_begun(_settings: Settings) -> AsyncIterator[Control]:
    raise AssertionError("one runs already")
    yield  # an iterator of the same kind


@asynccontextmanager
async def editing(folder: Path, *answers: Answer, skips_servers: bool = False, **given: Any) -> AsyncIterator[At]:
    tool = fake_tool("change", Effect.WRITE)
    async with (
        running(folder / "data", answers, tools={"change": tool}, **given) as at_work,
        asyncio.TaskGroup() as group,
    ):
        ours, theirs = socket.socketpair()
        reading, writing = await asyncio.open_connection(sock=ours, limit=1 << 16)
        told, says = await asyncio.open_connection(sock=theirs, limit=1 << 26)
        settings = at_work.app.base.settings
        group.create_task(spoken_over(settings, none_begun, reading, writing, skips_servers=skips_servers))
        editor = Editor()
        way = connect_to_agent(cast("Client", editor), says, told, use_unstable_protocol=True)
        try:
            yield At(at_work, editor, way, tool, says)
        finally:
            await way.close()
            says.close()


async def test_a_prompt_is_answered_as_it_is_said_with_thoughts(tmp_path: Path) -> None:
    thought = ModelReply("All is well.", (), Usage("m"), reasoning=Reasoning("Hm, hm.", "m"))
    async with editing(tmp_path, "Hello there.", thought) as at:
        told = await at.way.initialize(protocol_version=1)
        session = await at.session()
        assert await at.prompt(session, "hi") == "end_turn"
        assert at.editor.said() == "Hello there."
        assert await at.prompt(session, "and?") == "end_turn"
    assert (
        told.protocol_version,
        told.agent_capabilities and told.agent_capabilities.load_session,
        told.auth_methods,
    ) == (1, True, [])
    assert at.editor.said().endswith("All is well.")
    assert at.editor.said("agent_thought_chunk") == "Hm, hm."


async def test_a_question_is_a_permission_and_runs_once_denies_or_holds_for_good(tmp_path: Path) -> None:
    other = Call("d", "change", '{"at": 2}')
    async with editing(tmp_path, CHANGE, "Done.", other, "Not done.", other, "Done again.", other, "Once more.") as at:
        session = await at.session()
        assert await at.prompt(session, "change it") == "end_turn"
        assert at.tool.calls == [{"at": 1}]
        statuses = [status for _, status in at.editor.calls()]
        assert (statuses[0], statuses[-1]) == ("pending", "completed")
        assert at.editor.asked[0]["call"]["raw_input"] == {"at": 1}
        assert {"allow_once", "allow_always", "reject_once"} == set(at.editor.asked[0]["options"])
        at.editor.picks = "reject_once"
        assert await at.prompt(session, "again") == "end_turn"
        assert len(at.tool.calls) == 1
        assert at.editor.calls()[-1][1] == "failed"
        at.editor.picks = "allow_always"
        assert await at.prompt(session, "again") == "end_turn"
        assert await at.prompt(session, "and again") == "end_turn"
        asked = [row.choice for row in await at.at_work.app.store.approvals.approvals(limit=10)]
    assert len(at.editor.asked) == 3, "the last call was not asked about"
    assert len(at.tool.calls) == 3
    assert Choice.ALWAYS in asked or Choice.CONVERSATION in asked
    assert at.editor.said() == "Done.Not done.Done again.Once more."


async def test_a_question_that_the_editor_leaves_or_others_answer_keeps_nobody(tmp_path: Path) -> None:
    async with editing(tmp_path, CHANGE, CHANGE, "Done by others.") as at:
        session = await at.session()
        at.editor.picks = CLOSED
        assert await at.prompt(session, "change it") == "end_turn"
        assert "This question stays open" in at.editor.said()
        [open_question] = await at.at_work.app.store.approvals.approvals(limit=5)
        await at.way.cancel(session_id=session)
        at.editor.picks, at.editor.asked = NEVER, []
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(at.prompt(await at.session(), "change it"))
            await at.editor.until_asked()
            rows = await at.at_work.app.store.approvals.approvals(limit=5)
            [asked] = [row for row in rows if row.id != open_question.id]
            await press(at, asked.id, asked.address)
    assert asking.result() == "end_turn"
    assert at.editor.said().endswith("Done by others.")


async def test_work_is_cancelled_and_one_prompt_is_answered_at_a_time(tmp_path: Path) -> None:
    held = Held(asyncio.Event(), "late", asyncio.Event())
    async with editing(tmp_path, held, "Again.") as at:
        session = await at.session()
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(at.prompt(session, "think"))
            async with asyncio.timeout(20):
                await held.begun.wait()
            with pytest.raises(RequestError, match="still being answered"):
                await at.prompt(session, "and?")
            await at.way.cancel(session_id=session)
        assert asking.result() == "cancelled"
        assert await at.prompt(session, "go on") == "end_turn"
    assert at.editor.said().endswith("Again.")


async def test_files_come_along(tmp_path: Path) -> None:
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    async with editing(tmp_path, "Seen.", "Long.") as at:
        session = await at.session()
        notes = resource_block(embedded_text_resource("file:///notes/notes.md", "# Notes"))
        link = resource_link_block("plan", "file:///notes/plan.md")
        assert await at.prompt(session, "look", notes, image_block(picture, "image/png"), link) == "end_turn"
        assert await at.prompt(session, "x" * 10_000_000) == "end_turn"
        view = (await at.at_work.app.store.history.view(_address(at, session))).entries
    first, long = (entry for entry in view if entry.author == "person")
    assert [file.name for file in first.files] == ["notes.md", "image.png"]
    assert "[plan](file:///notes/plan.md)" in first.body
    assert [(file.name, file.size) for file in long.files] == [("prompt.txt", 10_000_000)]


async def test_linked_files_come_as_they_stand_in_the_editor(tmp_path: Path) -> None:
    async with editing(tmp_path, "Seen.", "Seen again.") as at:
        at.editor.files["/notes/my plan.md"] = "not saved yet"
        plan = resource_link_block("plan", "file:///notes/my%20plan.md")
        gone, page = (
            resource_link_block("gone", "file:///notes/gone"),
            resource_link_block("page", "https://a.example/b"),
        )
        session = await at.session()
        await at.prompt(session, "look", plan)  # it hasn't said that it reads any
        reads = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True))
        await at.way.initialize(protocol_version=1, client_capabilities=reads)
        await at.prompt(session, "look", plan, gone, page)
        view = (await at.at_work.app.store.history.view(_address(at, session))).entries
    before, then = (entry for entry in view if entry.author == "person")
    assert ([file.name for file in before.files], before.body) == ([], "look\n[plan](file:///notes/my%20plan.md)")
    assert [(file.name, file.size) for file in then.files] == [("my plan.md", 13)]
    assert (
        then.body
        == "look\n[attached: file:///notes/my%20plan.md]\n[gone](file:///notes/gone)\n[page](https://a.example/b)"
    )


async def test_servers_folders_and_forks_of_an_editor_are_refused_in_the_language_of_the_settings(
    tmp_path: Path,
) -> None:
    async with editing(tmp_path, language="de") as at:
        told = await at.way.initialize(protocol_version=1)
        session = await at.session()
        folders = ["/elsewhere"]
        for wrong, words in (
            (at.way.new_session(cwd="/work", mcp_servers=SERVERS), r"\(notes\).*--skip-mcp"),
            (at.way.load_session(cwd="/work", session_id=session, mcp_servers=SERVERS), "MCP-Server"),
            (at.way.resume_session(cwd="/work", session_id=session, mcp_servers=SERVERS), "MCP-Server"),
            (at.way.new_session(cwd="/work", mcp_servers=[], additional_directories=folders), "Dateien"),
            (at.way.fork_session(cwd="/work", session_id=session), "session/new"),
            (at.prompt(session), "nichts"),
        ):
            with pytest.raises(RequestError, match=words):
                await wrong
        [listed] = (await at.way.list_sessions(cwd="/work")).sessions
    able = told.agent_capabilities
    assert able is not None
    assert (
        able.mcp_capabilities and able.mcp_capabilities.http,
        able.session_capabilities and able.session_capabilities.fork,
    ) == (False, None)
    assert listed.session_id == session, "what was refused began none"


async def test_sessions_begin_without_the_editors_servers_where_that_was_said(tmp_path: Path) -> None:
    async with editing(tmp_path, "Hello.", skips_servers=True) as at:
        session = (await at.way.new_session(cwd="/work", mcp_servers=SERVERS)).session_id
        assert await at.prompt(session, "hi") == "end_turn"


async def test_sessions_are_listed_loaded_and_have_modes(tmp_path: Path) -> None:
    async with editing(tmp_path, "Hello.") as at:
        session = await at.session()
        await at.prompt(session, "hi there")
        await at.way.set_session_mode(session_id=session, mode_id="plan")
        before = len(at.editor.updates)
        loaded = await at.way.load_session(cwd="/work", session_id=session, mcp_servers=[])
        resumed = await at.way.resume_session(cwd="/work", session_id=session)
        listed = (await at.way.list_sessions(cwd="/work")).sessions
        nothing = (await at.way.list_sessions(cwd="/elsewhere")).sessions
        for wrong in (
            at.way.load_session(cwd="/work", session_id="nope", mcp_servers=[]),
            at.prompt("nope", "hi"),
            at.prompt(session),
            at.way.set_session_mode(session_id=session, mode_id="wild"),
            at.way.set_config_option(config_id="model", session_id=session, value="x"),
            at.way.authenticate(method_id="x"),
        ):
            with pytest.raises(RequestError):
                await wrong
    told = [(one["session_update"], one["content"]["text"]) for one in at.editor.updates[before:]]
    assert told[:2] == [("user_message_chunk", "hi there"), ("agent_message_chunk", "Hello.")]
    assert [told.modes and told.modes.current_mode_id for told in (loaded, resumed)] == ["plan", "plan"]
    assert [(one.session_id, one.title) for one in listed] == [(session, "hi there")]
    assert nothing == []


async def test_an_editor_chooses_the_agent(tmp_path: Path) -> None:
    ops = {"name": "ops", "prompt": "You are ops."}
    async with editing(tmp_path, "I am ops.", agents=[ops]) as at:
        told = await at.way.new_session(cwd="/work", mcp_servers=[])
        session = told.session_id
        chosen = await at.way.set_config_option(config_id="agent", session_id=session, value="ops")
        await at.prompt(session, "who are you?")
        [row] = await at.at_work.app.store.operations.runs(limit=5)
        before = len(at.editor.updates)
        await at.way.load_session(cwd="/work", session_id=session, mcp_servers=[])
    assert [(one.id, one.current_value) for one in told.config_options or []] == [("agent", "default")]
    assert [(one.id, one.current_value) for one in chosen.config_options] == [("agent", "ops")]
    assert row.session.startswith("ops|")
    replayed = [one["content"]["text"] for one in at.editor.updates[before:]]
    assert replayed[0] == "who are you?", "the command that chose is no part of what was said"


async def test_garbage_is_answered_and_ends_nothing(tmp_path: Path) -> None:
    async with editing(tmp_path, "Hello.") as at:
        for line in (b"hello\n", b"[1]\n", b"7\n", b'{"method": 5}\n', b"\xff\n", b"[" * 200_000 + b"\n", b"\n"):
            at.raw.write(line)
        for _ in range((LINE_MAX_BYTES >> 20) + 2):
            at.raw.write(b"x" * (1 << 20))
            await at.raw.drain()
        at.raw.write(b"\n" + json.dumps({"jsonrpc": "2.0", "method": "no/such"}).encode() + b"\n")
        with pytest.raises(RequestError, match="Method not found"):
            await at.way.ext_method("no/such", {})
        assert await at.prompt(await at.session(), "hi") == "end_turn"


async def press(at: At, question: ApprovalId, address: Address) -> None:
    """An owner presses Approve elsewhere."""
    click = Clicked(question, Choice.APPROVE)
    await at.at_work.app.sink(Signal("notebook-1", "press", ADA, "Ada", address, click, datetime.now(UTC)))


def _address(at: At, session: str) -> Address:
    page = next(account for account in at.at_work.app.at.accounts if account.channel == "web")
    return Address("web", page.identity, session)


async def test_the_pages_wire_opens_to_the_token_of_this_machine_alone(tmp_path: Path) -> None:
    async with editing(tmp_path) as at:
        where, path = at.at_work.url, "/api/rooms/acp0000000000/timeline"
        for token, status in ((at.at_work.app.control_token, 200), ("wrong", 401), ("", 401)):
            headers = {"Authorization": f"Bearer {token}", "Origin": where}
            async with aiohttp.ClientSession(headers=headers) as web, web.get(f"{where}{path}") as answer:
                assert answer.status == status


def test_a_file_in_place_of_a_pipe_is_refused_with_how_an_editor_starts_it(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with (tmp_path / "out").open("wb") as file, Path(os.devnull).open("rb") as nothing:
        expect_pipes(reading, writing)
        with pytest.raises(ConfigError, match=r"its standard output is none\. The editor starts it"):
            expect_pipes(reading, file.fileno())
        with pytest.raises(ConfigError, match="its standard input is none"):
            expect_pipes(nothing.fileno(), writing)
    os.close(reading)
    os.close(writing)
