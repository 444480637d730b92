"""An agent of the Agent Client Protocol: sessions are conversations of the owner, and prompts are messages in them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

from acp import PROTOCOL_VERSION, RequestError, schema
from acp.interfaces import Client as Editor
from pydantic import ValidationError

from bot.doors.acp.blocks import BlockFault, linked, path_of, spoken
from bot.doors.acp.prompting import Prompt
from bot.doors.acp.refusing import expect_unused, failed, fault, no_fork
from bot.doors.acp.serving import Serving
from bot.doors.acp.sessions import Session, Sessions
from bot.doors.acp.telling import replayed
from bot.node.version import VERSION
from bot.terminal.room_wire import RoomWire, wired
from runtime.errors import BotError
from runtime.http.errors import Refusal
from runtime.text.words import marked, say

EDITOR_MODES: Final = (
    ("normal", "Normal", marked("The rules decide what is asked.")),
    ("plan", "Plan", marked("All changes of an answer are one question.")),
    ("read-only", "Read only", marked("Nothing is changed.")),
)
"""By id, name and what it does."""
AGENT_OPTION: Final = "agent"
MODEL_OPTION: Final = "model"
USUAL_CHOICE: Final = "default"
PAGE_OF_SESSIONS: Final = 50
SESSION_SHOWN_CHARS: Final = 100
RESOURCE_NOT_FOUND: Final = -32002
Options = list[schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean]
STAYS_FOR: Final = timedelta(minutes=10)
"""Time in which a Signalbox of our own ends its work after its editor left."""
READ_MAX_CHARS: Final = 1_000_000
"""Of a linked file; a longer one stays a link."""
READS_WITHIN: Final = timedelta(seconds=10)
"""Time for an editor to read all files that a prompt links to."""
SESSION_BUSY: Final = marked("A prompt of this session is still being answered. Cancel it first, or wait for its end.")
NO_SESSION: Final = marked(
    "There is no session {session} here. session/new begins one; session/list names those there are."
)
NO_SIGN_IN: Final = marked("Nothing is to be signed in to: whoever starts this program is the owner of its Signalbox.")
NO_SUCH_MODE: Final = marked("There is no mode {mode}. There are: {modes}.")
NO_SUCH_OPTION: Final = marked("There is no option {option}, or it has no value {value}.")


class EditorAgent:
    """Implements `acp.Agent` for one editor."""

    def __init__(self, serving: Serving, sessions: Sessions, *, skips_servers: bool = False) -> None:
        self._serving = serving
        self._sessions = sessions
        self._skips_servers = skips_servers
        self._editor: Editor | None = None
        self._reads_files = False
        self._prompts: dict[str, Prompt] = {}
        self._asks: dict[str, str] = {}

    def on_connect(self, conn: Editor) -> None:
        self._editor = conn

    async def initialize(
        self, protocol_version: int, client_capabilities: Any = None, client_info: Any = None, **more: Any
    ) -> schema.InitializeResponse:
        """Version 1 is the only one so far: an editor of another one decides whether it goes on."""
        files = client_capabilities.fs if client_capabilities else None
        self._reads_files = bool(files and files.read_text_file)
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[],
            agent_info=schema.Implementation(name="signalbox", title="Signalbox", version=VERSION),
        )

    async def authenticate(self, method_id: str, **more: Any) -> schema.AuthenticateResponse | None:
        raise fault(say(NO_SIGN_IN))

    # ------------------------------------------------------------------------------------------------- sessions

    async def new_session(
        self, cwd: str, additional_directories: Any = None, mcp_servers: Any = None, **more: Any
    ) -> schema.NewSessionResponse:
        self._expect_unused(mcp_servers, additional_directories)
        session = await asyncio.to_thread(self._sessions.begin, cwd)
        async with self._asked() as wire:
            modes, options = await self._settings(wire, session)
        return schema.NewSessionResponse(session_id=session.id, modes=modes, config_options=options)

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Any = None, additional_directories: Any = None, **more: Any
    ) -> schema.LoadSessionResponse:
        """Tell again what was said, and then answer."""
        self._expect_unused(mcp_servers, additional_directories)
        session = await self._session(session_id)
        async with self._asked() as wire:
            view = await wire.operator.room(session.id)
            modes, options = await self._settings(wire, session)
        for update in replayed(view["entries"]):
            await self._connected.session_update(session.id, update)
        return schema.LoadSessionResponse(modes=modes, config_options=options)

    async def resume_session(
        self, session_id: str, cwd: str, additional_directories: Any = None, mcp_servers: Any = None, **more: Any
    ) -> schema.ResumeSessionResponse:
        self._expect_unused(mcp_servers, additional_directories)
        session = await self._session(session_id)
        async with self._asked() as wire:
            modes, options = await self._settings(wire, session)
        return schema.ResumeSessionResponse(modes=modes, config_options=options)

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: Any = None,
        mcp_servers: Any = None,
        **more: Any,
    ) -> schema.ForkSessionResponse:
        raise no_fork()

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **more: Any
    ) -> schema.ListSessionsResponse:
        known = list(await asyncio.to_thread(self._sessions.newest, cwd))
        start = int(cursor) if cursor and cursor.isascii() and cursor.isdecimal() and len(cursor) < 6 else 0
        told = [
            schema.SessionInfo(
                session_id=one.id, cwd=one.cwd, title=one.title or None, updated_at=one.updated_at or None
            )
            for one in known[start : start + PAGE_OF_SESSIONS]
        ]
        end = start + PAGE_OF_SESSIONS
        return schema.ListSessionsResponse(sessions=told, next_cursor=str(end) if end < len(known) else None)

    async def close_session(self, session_id: str, **more: Any) -> schema.CloseSessionResponse:
        """End what is at work there. The conversation stays."""
        await self.cancel(session_id)
        return schema.CloseSessionResponse()

    async def set_session_mode(self, session_id: str, mode_id: str, **more: Any) -> schema.SetSessionModeResponse:
        session = await self._session(session_id)
        if mode_id not in (modes := [mode for mode, _, _ in EDITOR_MODES]):
            raise fault(say(NO_SUCH_MODE, mode=mode_id, modes=", ".join(modes)))
        async with self._asked() as wire:
            await wire.operator.set_mode(f"web:main/{session.id}", mode_id)
        return schema.SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **more: Any
    ) -> schema.SetSessionConfigOptionResponse:
        """Choose the agent or the model, by the command that people write for it."""
        session = await self._session(session_id)
        if session_id in self._prompts:
            raise fault(say(SESSION_BUSY))
        async with self._asked() as wire:
            _, options = await self._settings(wire, session)
            values = {one.id: values_of(one) for one in options}
            if value not in values.get(config_id, ()):
                raise fault(say(NO_SUCH_OPTION, option=config_id, value=value))
            await self._commanded(wire, session, f"/{config_id} {value}")
            chosen = "" if value == USUAL_CHOICE else str(value)
            await asyncio.to_thread(self._sessions.chose, session.id, **{config_id: chosen})
            _, options = await self._settings(wire, await self._session(session_id))
        return schema.SetSessionConfigOptionResponse(config_options=options)

    # -------------------------------------------------------------------------------------------------- prompts

    async def prompt(self, session_id: str, prompt: Sequence[Any], **more: Any) -> schema.PromptResponse:
        session = await self._session(session_id)
        if session.id in self._prompts:
            raise fault(say(SESSION_BUSY))
        at_work = self._prompts[session.id] = Prompt(self._serving, self._connected, session.id)
        try:
            said = spoken(prompt, await self._read(session, linked(prompt)) if self._reads_files else {})
            await asyncio.to_thread(self._sessions.spoke, session.id, said.text or said.files[0][0])
            reason = await at_work.run(said, self._asks.pop(session.id, ""))
        except BlockFault as wrong:
            raise fault(str(wrong)) from None
        except (BotError, Refusal) as error:
            raise failed(error) from error
        finally:
            del self._prompts[session.id]
        if at_work.asks:
            self._asks[session.id] = at_work.asks
        return schema.PromptResponse(stop_reason=reason)

    async def cancel(self, session_id: str, **more: Any) -> None:
        if at_work := self._prompts.get(session_id):
            await at_work.cancel()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(f"_{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Nothing of our own is told this way."""

    async def settle(self, rooms: Sequence[str]) -> None:
        """Let a Signalbox of our own answer what was asked, after the editor left. Others do so anyway."""
        if self._serving.own is None:
            return
        with suppress(TimeoutError, BotError):
            async with asyncio.timeout(STAYS_FOR.total_seconds()), wired(self._serving.own) as wire:
                for room in rooms:
                    view = await wire.operator.room(room)
                    while view["busy"]:
                        view = await wire.operator.change(room, view["version"])

    @property
    def at_work(self) -> list[str]:
        """Sessions whose prompts are being answered."""
        return list(self._prompts)

    @property
    def _connected(self) -> Editor:
        assert self._editor is not None  # noqa: S101 - the library tells it before any request
        return self._editor

    async def _session(self, session: str) -> Session:
        """Errors: RequestError for one that isn't known here."""
        found = await asyncio.to_thread(self._sessions.find, session)
        if found is None:
            raise RequestError(RESOURCE_NOT_FOUND, say(NO_SESSION, session=session[:SESSION_SHOWN_CHARS]))
        return found

    @asynccontextmanager
    async def _asked(self) -> AsyncIterator[RoomWire]:
        """The running Signalbox, for one request. Errors: RequestError with words."""
        try:
            async with wired(await self._serving.now()) as wire:
                yield wire
        except (BotError, Refusal) as error:
            raise failed(error) from error

    async def _settings(self, wire: RoomWire, session: Session) -> tuple[schema.SessionModeState, Options]:
        """Mode of the conversation, and choices of an agent and a model where there are several."""
        mode = (await wire.timeline(session.id)).get("mode") or {}
        available = [schema.SessionMode(id=one, name=name, description=say(does)) for one, name, does in EDITOR_MODES]
        modes = schema.SessionModeState(current_mode_id=mode.get("name", EDITOR_MODES[0][0]), available_modes=available)
        agents = [row["name"] for row in await wire.operator.agents()]
        models = [row["name"] for row in await wire.operator.models()]
        options = [
            *([_select(AGENT_OPTION, say("Agent"), agents, session.agent, None)] if len(agents) > 1 else []),
            *([_select(MODEL_OPTION, say("Model"), models, session.model, "model")] if len(models) > 1 else []),
        ]
        return modes, [*options]

    async def _read(self, session: Session, files: Sequence[str]) -> dict[str, str]:
        """Texts of files that a prompt links to, as they stand in the editor. One that it can't read stays a link."""
        read: dict[str, str] = {}
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(READS_WITHIN.total_seconds()):
                for uri in files:
                    with suppress(RequestError, ValidationError):
                        told = await self._connected.read_text_file(session.id, path_of(uri))
                        if len(told.content) <= READ_MAX_CHARS:
                            read[uri] = told.content
        return read

    def _expect_unused(self, servers: Any, folders: Any) -> None:
        expect_unused(servers, folders, skips_servers=self._skips_servers)

    async def _commanded(self, wire: RoomWire, session: Session, command: str) -> None:
        await wire.say(session.id, command, uuid4().hex, [])
        view = await wire.operator.room(session.id)
        while view["busy"]:
            view = await wire.operator.change(session.id, view["version"])


def _select(
    option: str, name: str, values: Sequence[str], chosen: str, category: Any
) -> schema.SessionConfigOptionSelect:
    usual = schema.SessionConfigSelectOption(value=USUAL_CHOICE, name=say("The usual one"))
    return schema.SessionConfigOptionSelect(
        id=option,
        name=name,
        type="select",
        category=category,
        current_value=chosen or USUAL_CHOICE,
        options=[usual, *(schema.SessionConfigSelectOption(value=one, name=one) for one in values)],
    )


def values_of(option: schema.SessionConfigOptionSelect | schema.SessionConfigOptionBoolean) -> list[str]:
    return [
        str(one.value) for one in getattr(option, "options", ()) if isinstance(one, schema.SessionConfigSelectOption)
    ]
