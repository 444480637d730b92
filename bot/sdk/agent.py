"""An agent inside a program: opened from settings, asked, given work and told of what happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Literal, Self, Unpack

from bot.doors.conversing import Wanted
from bot.doors.forms import Attended, NewSignal
from bot.doors.rest import attention_of, signal_text
from bot.sdk.deciding import Decide
from bot.sdk.options import Controls, check_agent, settings_for, warn_only
from bot.sdk.plugins import tools_of
from bot.sdk.program import AGENT_CLOSED, Brought, Program, check_name, declining, running
from bot.sdk.reading import checked, key_checked
from bot.sdk.results import Answer
from bot.sdk.run import Run
from bot.sdk.session import Session
from bot.sdk.workflow_run import WorkflowRun
from runtime.contract import Json, Role, Tool, Trigger, Urgency
from runtime.domain.ids import digest
from runtime.errors import AgentClosed, ConfigError

if TYPE_CHECKING:
    from bot.operator.api import OperatorApi
    from bot.settings.settings import Settings

KEY_ROOM_CHARS: Final = 20
SIGNAL_ROOM: Final = "signals"
NO_SETTINGS_GIVEN: Final = (
    "Make an agent with Agent.from_settings(…): it reads signalbox.toml, or the file in config=…."
)
BAD_ROLE: Final = 'role: {role!r} is none of a program. Use "operator", or "user" for one that decides nothing.'
OPEN_ALREADY: Final = "This agent is open already. Make another one, with a data_dir of its own, to have two at once."
Tools = Iterable[Tool | Callable[..., object]]


class Agent:
    """One Signalbox process in this event loop, as a program speaks with it. Open it with `async with`.

    `name` is that of the program: its conversations and keys are its own, and stay over restarts. `settings` are frozen.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        agent: str = "",
        name: str = "sdk",
        role: Role = Role.OPERATOR,
        brought: Brought | None = None,
    ) -> None:
        """Errors: ConfigError without settings: `from_settings` reads them."""
        if settings is None:
            raise ConfigError(NO_SETTINGS_GIVEN)
        check_name(name)
        self.settings = settings
        self.name = name
        self._agent = agent
        self._role = role
        self._brought = brought or Brought()
        self._program: Program | None = None
        self._stack = AsyncExitStack()

    @classmethod
    def from_settings(
        cls,
        config: Path | str | None = None,
        *,
        agent: str = "",
        name: str = "sdk",
        model: str = "",
        tools: Tools = (),
        data_dir: Path | str | None = None,
        channels: bool = False,
        role: Literal["user", "operator"] = "operator",
        settings: Mapping[str, object] | None = None,
        **controls: Unpack[Controls],
    ) -> Self:
        """An agent with the settings of the file `config`, or of `signalbox.toml` here or in the user's config folder.

        `agent` is the profile that is asked unless a call names another, and `model` goes before its own. `tools` are
        functions, which people approve unless @tool says otherwise. `settings` are further ones by dotted names. With
        `channels` it also serves the accounts, hooks and page of the settings, as `signalbox run` does.
        Errors: ConfigError with each fault and its fix.
        """
        if role not in ("user", "operator"):
            raise ConfigError(BAD_ROLE.format(role=role))
        given = tools_of(tools)
        made = settings_for(
            config,
            agent=agent,
            model=model,
            data_dir=data_dir,
            channels=channels,
            controls=controls,
            tools=given.keys(),
            more=settings or {},
        )
        warn_only(made)
        return cls(made, agent=agent, name=name, role=Role[role.upper()], brought=Brought(tools=given))

    async def __aenter__(self) -> Self:
        """Open it. Errors: ConfigError, AlreadyRunning where another process has the data folder; StoreError."""
        if self._program is not None:
            raise ConfigError(OPEN_ALREADY)
        work = running(self.settings, self.name, self._role, self._agent, self._brought)
        self._program = await self._stack.enter_async_context(work)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let runs at work come to a good place, for some seconds; what is not over goes on at the next start."""
        await self._stack.__aexit__(kind, error, trace)

    # ----------------------------------------------------------------------------------------------------- asking it

    async def ask(
        self,
        text: str,
        *,
        session: str = "",
        agent: str = "",
        key: str = "",
        decide: Decide | None = None,
        timeout: float | timedelta = 300,  # noqa: ASYNC109 - a program's own word for it
    ) -> Answer:
        """The answer to `text`, in a new conversation or in `session`; details as of `Session.ask`."""
        place = await self.session(session or self._own_room(key))
        return await place.ask(text, agent=agent, key=key, decide=decide, timeout=timeout)

    async def run(self, task: str, *, session: str = "", agent: str = "", key: str = "") -> Run:
        """Have an agent work on `task`; details as of `Session.run`."""
        place = await self.session(session or self._own_room(key))
        return await place.run(task, agent=agent, key=key)

    async def session(self, name: str) -> Session:
        """The conversation of that name, new or continued; or a room of people, by its address. Errors: Declined."""
        program = self._at_work()
        with declining():
            return Session(self, program, name, await program.conversing.place(program.caller, name))

    async def signal(
        self,
        source: str,
        type: str,
        summary: str,
        *,
        session: str = SIGNAL_ROOM,
        urgency: Urgency | str = Urgency.NORMAL,
        payload: Json = None,
        key: str = "",
        agent: str = "",
        task: str = "",
        facts: Mapping[str, str] | None = None,
    ) -> Attended:
        """Tell of something that happened; the answer says what attention decided. Equal keys are the same event.

        Errors: Declined, AgentClosed, StoreError.
        """
        given = {"source": source, "type": type, "summary": summary, "urgency": urgency, "payload": payload}
        more = {"room": session, "agent": agent, "task": task, "context": dict(facts or {})}
        new = checked(NewSignal, dedupe_key=key_checked(key), **given, **more)
        place = await self.session(session)
        with declining():
            text = signal_text(new)
        run = await self._said(place, text, agent, key or self._at_work().context.new_id(), Trigger.HOOK, new.urgency)
        return Attended.model_validate(
            {
                "id": run.id,
                "outcome": run.outcome.value,
                "attention": attention_of(run.outcome, new.urgency),
                "notice": run.notice,
            }
        )

    async def workflow(self, name: str, inputs: Mapping[str, Json] | None = None, *, session: str = "") -> WorkflowRun:
        """Begin a workflow of the settings, for a program with the role "operator". Errors: Declined names what is wrong."""
        program = self._at_work()
        place = await self.session(session or self._own_room(""))
        with declining():
            begun = await program.operations.start_workflow(name, place.room, dict(inputs or {}))
            return WorkflowRun(program, begun["id"], place.address)

    # -------------------------------------------------------------------------------------------------- around it

    @property
    def url(self) -> str:
        """Address of its page and API on this machine, where people may decide too. Errors: AgentClosed."""
        return self._at_work().url

    @property
    def api(self) -> OperatorApi:
        """All that operators can do: schedules, workflows, approvals, deliveries, … Errors of its calls: Refusal."""
        return self._at_work().operations

    def _at_work(self) -> Program:
        if self._program is None:
            raise AgentClosed(AGENT_CLOSED)
        self._program.must_be_open()
        return self._program

    def _own_room(self, key: str) -> str:
        """A conversation of its own, the same for each try with one key."""
        return f"ask-{digest(key)[:KEY_ROOM_CHARS] if key else self._at_work().context.new_id()}"

    async def _said(
        self,
        session: Session,
        text: str,
        agent: str,
        key: str,
        trigger: Trigger = Trigger.MESSAGE,
        urgency: Urgency = Urgency.NORMAL,
    ) -> Run:
        """Store it, for `Session` and signals."""
        program, asked = self._at_work(), agent or self._agent
        check_agent(asked, self.settings)
        wanted = Wanted(room=session.name, text=text, key=key, agent=asked, trigger=trigger, urgency=urgency)
        with declining():
            return Run(program, session, await program.conversing.say(program.caller, wanted), key=key)
