"""Models and tools."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from runtime.contract.calls import UNDECLARED, Awaits, Card, Flow, Hands, Refusal, Sleeps
from runtime.contract.forms import Asks
from runtime.contract.memory.facts import EVERY_SCOPE, ScopeKind
from runtime.contract.people import Address, Json, Person, RunId, SessionKey
from runtime.contract.signals import FileRef


class Effect(StrEnum):
    READ = "read"  # changes nothing; repeated after a kill
    WRITE = "write"  # changes what people own
    DANGER = "danger"  # may change anything


class Work(StrEnum):
    """Kinds of work that a model is asked for."""

    CHAT = "chat"
    CODING = "coding"
    PLANNING = "planning"
    SUMMARY = "summary"
    REPORT = "report"
    VISION = "vision"


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call as a model wrote it. `arguments` is JSON text, perhaps malformed.

    Where the leak guard took something out of them, `sealed` holds the true ones, for the call alone.
    """

    id: str
    tool: str
    arguments: str
    sealed: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class UserTurn:
    """Words of a person. `files` lie in the session's workspace; images among them are shown to models that look.

    `overheard`: they were said in the room, and not to the agent.
    """

    text: str
    author: str = ""
    files: tuple[FileRef, ...] = ()
    overheard: bool = False


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Thinking of a model before it answered. It is never part of the answer.

    `blocks` are its vendor's own form of it, as a JSON list, for vendors that sign it and want it back. `model` made it.
    """

    text: str
    model: str = ""
    blocks: str = ""

    def to_json(self) -> str:
        return json.dumps([self.text, self.model, self.blocks], ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Reasoning:
        return cls(*json.loads(text))


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    text: str
    calls: tuple[Call, ...] = ()
    reasoning: Reasoning | None = None


@dataclass(frozen=True, slots=True)
class ToolTurn:
    call_id: str
    tool: str
    text: str


Turn = UserTurn | AssistantTurn | ToolTurn


@dataclass(frozen=True, slots=True)
class Undo:
    """A way back from a tool's calls. Both parts block, and run in a thread; `take_back` may also be a coroutine function.

    `keep` is asked before a call for all that taking it back needs (at most `KEPT_MAX_CHARS`); None where it cannot be
    taken back. `take_back` gets that, and says what it did. Errors: ToolError says why nothing was taken back.
    """

    keep: Callable[[Mapping[str, Json], ToolContext], str | None]
    take_back: Callable[[str, ToolContext], str | Awaitable[str]]


KEPT_MAX_CHARS: Final = 1_500_000
"""Of what an undo keeps: 1 MiB in base64, and its name."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """Declaration of a tool. `schema` is the JSON schema of its arguments; `output_bound` counts characters.

    `undo` is the way back from its calls. `form` is all that others say of it (JSON), for a tool whose words are not ours:
    another one is asked about anew. With `asks` a person answers each call in place of the tool, which is never called; with
    `hands` other agents work on it in its place, with `sleeps` its run waits for a time, and with `awaits`
    for an event until then.
    `card` says how a call is shown to whoever may approve it; without one its names and values are. `refusal` says why one is not even asked about. `polls`: the same call
    is meant to be made again and again, until something is ready. `seldom`: models find it by `find_tools`, so that not
    every request carries it. `untold`: no model is told of it; runs call it on their own account. `flow` says where its
    results come from and where its calls go; a tool that doesn't say is taken for the worst.
    """

    name: str
    description: str
    schema: Mapping[str, Json]
    effect: Effect
    idempotent: bool = False
    timeout: timedelta = timedelta(seconds=60)
    output_bound: int = 50_000
    form: str = ""
    asks: Asks | None = None
    hands: Hands | None = None
    sleeps: Sleeps | None = None
    awaits: Awaits | None = None
    undo: Undo | None = None
    card: Card | None = field(default=None, compare=False)
    refusal: Refusal | None = field(default=None, compare=False)
    polls: bool = False
    seldom: bool = False
    untold: bool = False
    flow: Flow = UNDECLARED
    repeatable: bool = field(init=False)
    """True where a call cut in the middle may be made again without asking anyone."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "repeatable", self.effect is Effect.READ or self.idempotent)


FIND_TOOLS: Final = "find_tools"
"""The tool by which a model finds those that its request does not carry."""

HAND_OVER: Final = "hand_over"
"""The tool by which an agent hands its conversation over to another one."""

SPEND_MORE: Final = "spend_beyond_budget"
"""The call by which a run asks people to go on beyond a budget. No model is told of it."""


def found_line(spec: ToolSpec, more: str = "") -> str:
    """Line by which `find_tools` tells of a tool: `found_in` reads its name back."""
    return f"- {spec.name}: {' '.join(spec.description.split())}{more}"


def found_in(told: str) -> list[str]:
    """Names of the tools that a result of `find_tools` tells of.

    >>> found_in("- chart: Draw a chart.\\n- costs: Show costs.")
    ['chart', 'costs']
    """
    return [line[2:].partition(":")[0] for line in told.splitlines() if line.startswith("- ") and ":" in line]


Attach = Callable[[FileRef], None]
"""Puts a file of the workspace onto the reply; kept with the call's result."""

OwnWords = Callable[[], Awaitable[bool]]


async def nobody_vouches() -> bool:
    """Words of a run about which nothing is known."""
    return False


@dataclass(frozen=True, slots=True)
class CallKey:
    """Names by which the very same call is known when it is made again. `call` is its id in that run."""

    run: RunId
    session: SessionKey
    call: str


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Surroundings of a call. `workspace` is the folder of the room's files; it exists.

    `address` is where the run's answer goes, and `requester` for whom it works: None for a program that nobody asked.
    `scheduled`: nobody asked now, it is the work of a schedule. `tools`: those that may perhaps be called here, for the
    tool that finds them. `agent` is the name of the one that calls, and `is_child` tells that another run asked for its work.
    `tell` shows people in the room how far the call is, in a few words from outside: some of them, and never for sure.
    `own_words`: people of the room alone led to the call: no child, no schedule, and nothing from outside. `memory` are the
    scopes of memory that the agent has. `repeats`: a resumed workflow makes that call of an earlier run again, since nobody knows
    what came of it. `above` are the agents who had the calling one work: it may do no more than each of them.
    """

    workspace: Path
    session: SessionKey
    run_id: RunId
    call_id: str
    address: Address | None = None
    requester: Person | None = None
    attach: Attach = lambda _: None
    scheduled: bool = False
    tools: Callable[[], Sequence[ToolSpec]] = tuple
    agent: str = ""
    is_child: bool = False
    own_words: OwnWords = nobody_vouches
    memory: Sequence[ScopeKind] = EVERY_SCOPE
    tell: Callable[[str], None] = lambda _: None
    repeats: CallKey | None = None
    above: tuple[str, ...] = ()

    @property
    def key(self) -> CallKey:
        """By which what the call leads to is known, so that a repeat leads to nothing twice."""
        return self.repeats or CallKey(self.run_id, self.session, self.call_id)


REHEARSED: Final = "Tools are only tried here: whatever you answer, nothing is done."
"""How the caution of a tool begins that does nothing. What people answered to it is no leave to do it."""


class Tool(Protocol):
    """A thing the agent may do."""

    @property
    def spec(self) -> ToolSpec: ...

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        """Do it. `arguments` may be wrong: check them. Errors: ToolError tells the model; the run goes on."""

    def caution(self) -> str:
        """A sentence for the approval card about how this tool runs here (no sandbox of ours, ...); may be empty."""


class Transcriber(Protocol):
    """Maker of words from voice notes."""

    async def transcribe(self, recording: BinaryIO, name: str) -> str:
        """The words in `recording`, of whatever kind its platform records; `name` may tell. Errors: ToolError."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one model call. `cost_micros` is in millionths of a US dollar.

    `cached_tokens` are those of the input that its vendor had read before, and charges less for. `unpriced`: nobody knows
    what it cost.
    """

    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    cached_tokens: int = 0
    unpriced: bool = False

    def __add__(self, more: Usage) -> Usage:
        """Sum of what both calls took."""
        return Usage(
            self.model,
            self.input_tokens + more.input_tokens,
            self.output_tokens + more.output_tokens,
            self.cost_micros + more.cost_micros,
            self.cached_tokens + more.cached_tokens,
            self.unpriced or more.unpriced,
        )


OpenFile = Callable[[str], AbstractContextManager[BinaryIO]]
"""Opens a file of the conversation's workspace by its path, for reading."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Request to a model. `files` opens a file that a turn names; without it there are none to look at.

    `words_only`: the tools are those of the conversation, and none may be called: what is wanted are words for people.
    `work` is the kind of work, `wanted` the model that people chose for the conversation, `own` that of the agent, `kept` the
    one that the run began with; empty where there is none. `cheapest`: it is for the one that costs least, whatever else is so.
    `room` is where it is made for, as the settings write it. `working` is what is true at this moment, for the model alone: it stands behind all turns, since it changes most often.
    `step` is the run and the number of the step that the answer becomes, where it becomes one.
    Errors of `files`: OSError where the file is not there any more.
    """

    system: str
    turns: Sequence[Turn]
    tools: Sequence[ToolSpec]
    files: OpenFile | None = None
    words_only: bool = False
    work: Work = Work.CHAT
    wanted: str = ""
    kept: str = ""
    cheapest: bool = False
    working: str = ""
    room: str = ""
    own: str = ""
    step: str = ""


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """The model that a request was for, and `why`, in words. `instead_of` is that model where another one answered."""

    model: str = ""
    why: str = ""
    instead_of: str = ""


@dataclass(frozen=True, slots=True)
class ModelReply:
    text: str
    calls: tuple[Call, ...]
    usage: Usage
    choice: ChosenModel = ChosenModel()
    reasoning: Reasoning | None = None


OnText = Callable[[str], None]
"""Called with the text so far while a model speaks; cheap, never raises. An empty text says that words take a while."""


class Model(Protocol):
    """A language model. One that people had better begin to talk to in words of its own has them as `ideas`."""

    name: str

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        """The next turn. Errors: ModelFailed says in words for a person what went wrong."""
