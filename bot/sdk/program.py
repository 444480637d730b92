"""The process of one program: built of its settings, at work inside a block, and spoken to as one caller."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bot.doors.callers import Caller
from bot.doors.conversing import Conversing
from bot.doors.live.hearing import Hearing
from bot.doors.places import PlaceDoors
from bot.doors.rooms import ProgramRooms
from bot.operator.operations import Operations
from bot.sdk.plugins import check_new
from bot.server.app import App, build
from bot.server.process import serving
from bot.settings.settings import Settings
from bot.wiring.channels import MakeAdapters, no_adapters
from runtime.contract import Identity, Model, Now, Person, Progress, Resting, Role, Tool, Working
from runtime.domain.agents.manifest import MAIN
from runtime.domain.programs.token import PROGRAM_NAME, ProgramToken
from runtime.errors import AgentClosed, ConfigError, Declined
from runtime.http.errors import Refusal
from runtime.store.protocol import Claim

if TYPE_CHECKING:
    from bot.operator.context import OperatorContext

AGENT_CLOSED: Final = (
    "This agent is closed. Ask it inside its `async with` block; what it had taken in is stored, and the next one with this "
    "data_dir goes on with it."
)
OTHER_LOOP: Final = "This agent belongs to another event loop, in which it was opened. Open one in each loop."
BAD_NAME: Final = (
    'name: {name!r} is no name of a program. Use up to 40 small letters, digits and "-", such as "nightly".'
)
NO_TOOL_FOR_AGENT: Final = (
    "tools: the agent {agent} may not use {name}. Its table in [[agents]] bounds its tools: name {name} in `tools` there, or "
    "raise `effects`."
)
NAME_TAKEN: Final = "name: there are people called {name} and api:{name} already. Call the program otherwise."
CLOSING_TOPIC: Final = "sdk closing"
PERSON_GONE: Final = (
    "This program is no longer among the people of this data folder. Open the agent anew to have it added."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """Parts that a program brings beside its settings. `model`, `now` and `adapters` are for tests."""

    tools: Mapping[str, Tool] = field(default_factory=dict)
    model: Model | None = None
    now: Now | None = None
    adapters: MakeAdapters = no_adapters


class Program:
    """One process, and the caller as which the program speaks there."""

    def __init__(self, app: App, caller: Caller, url: str) -> None:
        self.app = app
        self.caller = caller
        self.url = url
        self.context: OperatorContext = app.http.operators
        rooms = ProgramRooms(self.context)
        self.conversing = Conversing(self.context, rooms)
        self.places = PlaceDoors(self.context, rooms)
        self.hearing = Hearing()
        self.operations = Operations(self.context, caller.actor)
        self._loop = asyncio.get_running_loop()
        self._is_open = True
        self.context.overhear(self._heard)

    def must_be_open(self) -> None:
        """Errors: AgentClosed, also in another event loop."""
        if not self._is_open:
            raise AgentClosed(AGENT_CLOSED)
        if asyncio.get_running_loop() is not self._loop:
            raise AgentClosed(OTHER_LOOP)

    def close(self) -> None:
        """From now on nothing is taken in, and whoever waits is told."""
        self._is_open = False
        self.app.base.notifier.notify_here(CLOSING_TOPIC)

    def _heard(self, claim: Claim, event: Progress) -> None:
        """A run of this process tells how far it is: those who follow it look again, at its rows where those changed."""
        self.hearing.heard(claim, event)
        has_rows = isinstance(event, Working | Resting)
        self.app.base.notifier.notify_here(rows_topic(claim.run_id) if has_rows else live_topic(claim.run_id))


def rows_topic(run: str) -> str:
    """Rung when rows of a run changed."""
    return f"sdk rows {run}"


def live_topic(run: str) -> str:
    """Rung when a run said more."""
    return f"sdk live {run}"


@asynccontextmanager
async def running(settings: Settings, name: str, role: Role, agent: str, brought: Brought) -> AsyncIterator[Program]:
    """The process is at work inside the block, and has drained after it.

    Errors: ConfigError where another one has the data folder, too; StoreError. An error of the block itself comes out as it is,
    and not as one among those of the process.
    """
    made: list[App] = []
    failure: BaseException | None = None

    async def make(chosen: Settings) -> App:
        made.append(await _built(chosen, agent, brought))
        return made[0]

    async with serving(settings, make=make, with_link=False) as ready:
        program = Program(made[0], await _caller(made[0], name, role), ready.control.url)
        try:
            yield program
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - raised again, once all has drained
            failure = error
        finally:
            program.close()
    if failure is not None:
        raise failure


async def _built(settings: Settings, agent: str, brought: Brought) -> App:
    app = await build(settings, model=brought.model, now=brought.now, adapters=brought.adapters)
    try:
        check_new(brought.tools, app.engine.toolkit.toolbox.tools)
        app.engine.toolkit.toolbox.add(brought.tools)
        there = app.engine.agents[agent or MAIN].tools
        if missing := next((one for one in brought.tools if one not in there), None):
            raise ConfigError(NO_TOOL_FOR_AGENT.format(agent=agent or MAIN, name=missing))
    except BaseException:
        await app.store.close()
        raise
    return app


async def _caller(app: App, name: str, role: Role) -> Caller:
    """The program as somebody who is known, added at its first start; its role stays what people made of it."""
    token = ProgramToken(name=name, role=role)
    people = app.store.people

    async def still() -> tuple[ProgramToken, Person]:
        found = await people.identified(token.identity)
        if found is None:
            raise Refusal(401, PERSON_GONE)
        return token, found

    person = await people.identified(token.identity)
    for free in (name, str(token.identity)):
        person = person or await people.add_person(free, role, [Identity(token.identity)], actor=name)
    person = person or await people.identified(token.identity)  # another node may have added it just now
    if person is None:
        raise ConfigError(NAME_TAKEN.format(name=name))
    return Caller(token, person, still)


def check_name(name: str) -> None:
    """Errors: ConfigError for what is no name of a program."""
    if not re.fullmatch(PROGRAM_NAME, name):
        raise ConfigError(BAD_NAME.format(name=name))


@contextmanager
def declining() -> Iterator[None]:
    """Turn what the doors refuse into an error of the program. Errors: Declined."""
    try:
        yield
    except Refusal as error:
        # The doors speak to holders of tokens; a program in this process has none.
        raise Declined(error.sentence.replace("this token", "this program"), status=error.status) from error
