"""Declarations of a tool about its calls: the parts of one on its card, the ways of text through it, and its orders for others.

A tool names its arguments, and we draw each value. One that declares no flow is taken for the worst: its results are words
of strangers, and each of its arguments may carry anything anywhere. That is so for every tool of an MCP server until
somebody says more of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

from runtime.contract.people import Identity, Json, Person, RunId, SessionKey


@dataclass(frozen=True, slots=True)
class CardNote:
    """Words of the tool's own, such as `no network`. Notes stand together on one line."""

    text: str


@dataclass(frozen=True, slots=True)
class CardValue:
    """An argument on a line with its name; `also` stands beside the value, such as the name of a room."""

    argument: str
    also: str = ""


@dataclass(frozen=True, slots=True)
class CardText:
    """An argument as a text in a block. Of one with more than `lines` lines the first ones are shown, and its end."""

    argument: str
    lines: int | None = None


@dataclass(frozen=True, slots=True)
class CardChange:
    """An argument that takes the place of the text `before`: a block shows what differs."""

    argument: str
    before: str


@dataclass(frozen=True, slots=True)
class CardFiles:
    """An argument of texts by path, each in a block: as a text, of at most `lines` lines and its end, or as what differs from
    the text that `before` has for its path."""

    argument: str
    before: Mapping[str, str]
    lines: int | None = None


CardPart = CardNote | CardValue | CardText | CardChange | CardFiles


@dataclass(frozen=True, slots=True)
class CardContext:
    """Surroundings of a call that is asked about. `workspace` is the folder of the room's files."""

    workspace: Path


Card = Callable[[Mapping[str, Json], CardContext], Sequence[CardPart]]
"""Says how a call is shown, in a thread: it may look at files. An argument that no part names is added as it is."""


@dataclass(frozen=True, slots=True)
class Whole:
    """The call on a card that is one message everywhere, for a channel whose message cannot hold all of it.

    `sha256` begins the one that is frozen. `text` is all of the call, where the card itself leaves something out.
    """

    sha256: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """Somebody whom the platform is to call: by `identity`, and by `name` where people read it."""

    identity: Identity
    name: str


# --------------------------------------------------------------------------------------------------------- the flow of text


class Reads(StrEnum):
    """Authors of the words in the results of a tool."""

    OURS = "ours"  # our own, or those of people in this conversation
    PEOPLE = "people"  # those of people we know, in other rooms too
    NAMES = "names"  # names, numbers and dates that anybody may have chosen
    FILES = "files"  # whoever wrote the files that the call looks at: that is looked up for each call
    OUTSIDE = "outside"  # texts that anybody may have written


class Carries(StrEnum):
    """Kind of a value in a call, by the harm that it could do if somebody else had chosen it."""

    HOST = "host"  # an address on the web: whoever runs it reads all of it
    RECIPIENT = "recipient"  # a person, a room, an account: whoever gets something, or gets in
    THING = "thing"  # a file, an event, a title: the call is about it
    AMOUNT = "amount"  # a number that costs something
    WORDS = "words"  # a text: harmless where nobody else reads it, and checked for what it leads to elsewhere
    DETAIL = "detail"  # a time, a length, a choice of few: the tool takes nothing that could carry words


@dataclass(frozen=True, slots=True)
class Flow:
    """Declaration of a tool: where its results come from, and where its calls go.

    `source` names the origin for people: a plain word such as `mail`, or an argument in braces, such as `{url}`, of which
    the host counts, or `{path}`; of several, such as `{url}{path}`, the first that is given. `writes` are the files that a call may write, as `{path}`, the name of a folder, or `*` for any. `stays`: a call changes nothing outside this conversation. `carries` has a kind for each
    argument, and what it leaves out is a thing; without it nothing is known of any argument.
    """

    reads: Reads = Reads.OUTSIDE
    source: str = ""
    stays: bool = False
    writes: str = ""
    carries: Mapping[str, Carries] | None = None


UNDECLARED: Final = Flow()
"""The flow of a tool that says nothing."""


# ------------------------------------------------------------------------------------------------- before it is made


@dataclass(frozen=True, slots=True)
class Caller:
    """Agent that makes a call, and the person for whom it does. `in_chat`: that one waits for it in a conversation.

    `session` is the conversation of the agent.
    """

    agent: str
    person: Person | None
    in_chat: bool = True
    session: SessionKey | None = None


Refusal = Callable[[Mapping[str, Json], Caller], Awaitable[str]]
"""Says before anybody is asked about a call why it can't be made; empty where it can."""


# --------------------------------------------------------------------------------------- work for another agent

ORDER_TIME: Final = timedelta(minutes=10)
"""Time of an order that says nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Work for another agent. `files` are paths in the folder of the room; `schema` is one that a JSON answer must fit.

    `awaits`: the run that gives it waits for its end; else that is told in its conversation. `time` bounds it, and
    `budget_micros` the money that all of it may cost, in millionths of a dollar; 0 names none. `reads_only`: it and all that
    it hands on change nothing. `model` works on it, where there is one of that name; empty for the agent's own.
    """

    agent: str
    goal: str
    criteria: str = ""
    files: tuple[str, ...] = ()
    schema: Mapping[str, Json] = field(default_factory=dict)
    awaits: bool = True
    time: timedelta = ORDER_TIME
    budget_micros: int = 0
    reads_only: bool = False
    model: str = ""


Hands = Callable[[Mapping[str, Json]], Sequence[Order]]
"""Reads the orders of a call. Errors: ToolRetry for arguments that are none."""


Sleeps = Callable[[Mapping[str, Json], datetime], datetime]
"""Time for which a call waits that is made now. Errors: ToolRetry for arguments that name none."""


@dataclass(frozen=True, slots=True)
class EventWish:
    """An event that a call waits for, as triggers name it; of words, any of `words`. `room` is a glob, empty for the run's own."""

    event: str
    words: Sequence[str] = ()
    room: str = ""


Awaits = Callable[[Mapping[str, Json]], EventWish]
"""Event for which a call waits. Errors: ToolRetry."""


class ChildState(StrEnum):
    """Stages of a child. A run of it may still come to its end after it is over."""

    OPEN = "open"  # its run waits, works or is parked
    DONE = "done"  # it answered
    FAILED = "failed"  # it ended with words about what went wrong
    STOPPED = "stopped"  # a person or its parent ended it
    LATE = "late"  # its time was over


@dataclass(frozen=True, slots=True)
class Child:
    """A run that another one asked for. `chain` names the agents above it, the first one first; `id` is also its run's.

    `schema`, `budget_micros`, `reads_only`: see `Order`. `valid`: its answer fits. `answered`: its words, once it is over.
    """

    id: RunId
    agent: str
    chain: tuple[str, ...]
    goal: str
    schema: Mapping[str, Json]
    state: ChildState
    deadline: datetime
    answered: str = ""
    valid: bool = True
    created_at: datetime | None = None
    ended_at: datetime | None = None
    budget_micros: int = 0
    reads_only: bool = False

    @property
    def depth(self) -> int:
        """Levels above it."""
        return len(self.chain)
