"""The way in: what happened on a channel, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from runtime.contract.people import Address, ApprovalId, Identity, SignalId

if TYPE_CHECKING:
    from runtime.contract.deliveries import Content


class Urgency(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    CRITICAL = "critical"


class Busy(StrEnum):
    """Treatment of a message that comes while its session's lane works."""

    STEER = "steer"  # joins the live run before its next model call
    FOLLOWUP = "followup"  # waits and gets a run of its own
    COLLECT = "collect"  # waits; all that wait share the next run


class Choice(StrEnum):
    """Choice that a button stands for. `done`, `again` and `skip` answer a question about an unknown outcome, `user` to `operator` one
    about a stranger; `other` answers nothing yet, and has the card offer further roles.

    `conversation` and `always` approve and grant the same for later; `edit` approves changed arguments, `all` every open
    call of the run; `why` asks the agent back, and leaves the question open; `undo` takes back what an approved call did.
    `first` to `fourth` and `text` answer what the agent asked a person.
    """

    APPROVE = "approve"
    DENY = "deny"
    DONE = "done"
    AGAIN = "again"
    SKIP = "skip"
    USER = "user"
    NO = "no"
    OTHER = "other"
    VIEWER = "viewer"
    OPERATOR = "operator"
    CONVERSATION = "conversation"
    ALWAYS = "always"
    EDIT = "edit"
    ALL = "all"
    WHY = "why"
    UNDO = "undo"
    FIRST = "first"
    SECOND = "second"
    THIRD = "third"
    FOURTH = "fourth"
    TEXT = "text"


VOICE_NOTE: Final = "audio/ogg; codecs=opus"
"""Type of a recording that platforms show as a voice note."""


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file in a session's workspace. `path` is relative to it, with forward slashes; `size` is in bytes.

    `remote` is the platform's handle of a file that is still there (never a link with a token in it). It is fetched
    before the model is asked, see `features.Fetch`, to a `path` that is decided when the message is taken in: an
    adapter may leave that empty. `size` is then what the platform says, 0 where it does not; `mime` is what the platform
    calls the file, perhaps wrongly.
    """

    name: str
    path: str
    size: int
    remote: str = ""
    mime: str = ""


def files_json(files: Iterable[FileRef]) -> str:
    """Files as they are stored; without what only files still at their platform have, where there is none."""
    rows = ([f.name, f.path, f.size, f.remote, f.mime] for f in files)
    return json.dumps([row if row[3] or row[4] else row[:3] for row in rows], ensure_ascii=False)


def files_of(text: str) -> tuple[FileRef, ...]:
    """The files that `files_json` wrote."""
    return tuple(FileRef(*row) for row in json.loads(text))


@dataclass(frozen=True, slots=True)
class Said:
    """A person wrote something to the agent.

    `replaces`: the message of their own that they say this in place of, such as the same words once more. It counts where
    that one is the newest of the room; else this is a message as any other.
    """

    text: str
    files: tuple[FileRef, ...] = ()
    replaces: SignalId | None = None


@dataclass(frozen=True, slots=True)
class Clicked:
    """A person pressed a button of a card, or sent the form behind one. The id is as the platform sent it: perhaps forged.

    `values` are what was typed into the form's fields, by their names; nothing in there is checked yet.
    """

    approval_id: ApprovalId
    choice: Choice
    reason: str = ""
    values: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Stopped:
    """A person asked that the work in this room ends; with `own`, what they asked for themselves.

    `deletes`: the conversation is over with it, and its texts are to be removed.
    """

    own: bool = False
    deletes: bool = False


@dataclass(frozen=True, slots=True)
class Commanded:
    """A person gave a command, such as `/status`. `name` is in `COMMANDS`, without its slash; or unknown."""

    name: str
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Amended:
    """A person edited a message (`Signal.message_id`): if no run consumed it yet, these are its words now."""

    text: str


@dataclass(frozen=True, slots=True)
class Moved:
    """The platform gives this room (`Signal.address`) another id from now on. Rows keep the old one: see `Places`."""

    room: str


Body = Said | Clicked | Stopped | Commanded | Amended | Moved

COMMANDS: Final[Mapping[str, str]] = {
    "help": "What I can do, and these commands",
    "new": "Forget this conversation and start fresh",
    "context": "How full the model's window is",
    "compact": "Condense this conversation now",
    "stop": "Stop the work in this room",
    "status": "What's going on in this room",
    "approvals": "Questions waiting for you, with buttons",
    "agent": "Which agent answers here",
    "agents": "All agents, and how to reach them",
    "model": "Which model answers here",
    "think": "What I thought before my last answer",
    "usage": "Tokens and cost, for this room and for you",
    "schedules": "What's planned in this room",
    "task": "Work on something in the background, and tell you here",
    "tasks": "Tasks of this room, and how they stand",
    "goal": "Work on a goal in turns until another model accepts the result",
    "workflow": "Start a workflow: its steps are done one after another",
    "workflows": "Workflows, and how far those at work here are",
    "children": "What agents handed on for you here, and how it stands",
    "memory": "What I keep for you here",
    "forget": "Have me forget something for good",
    "docs": "Search the documents that I was given",
    "skills": "Skills for particular tasks, and how they stand",
    "skill": "Use a skill: its name, then what you want",
    "timezone": "The time zone for times you mention",
    "grants": "Calls I make without asking (for operators and owners)",
    "mode": "How much I may do here without asking",
    "away": "Have me ask others while you're away",
    "back": "Tell me you're back, so I ask you again",
}
"""Each command with its one line of help. `/stop` arrives as `Stopped`, wherever an adapter can tell."""
ARGUMENTS: Final[Mapping[str, str]] = {
    "timezone": "A zone, such as Europe/Berlin",
    "grants": "To end one: revoke ID",
    "agent": "A name, such as ops; or default",
    "task": "What to do",
    "tasks": "To end one: drop ID",
    "goal": "What is to come of it; stop ends it",
    "workflow": "Its name, and inputs as key=value",
    "memory": "why; accept, pin or unpin ID; summary on, off or TEXT",
    "forget": "Words, an ID, or all",
    "docs": "A question",
    "skills": "For owners: approve NAME",
    "skill": "A name, then what you want",
    "model": "A name, such as sonnet; or default",
    "mode": "normal, read-only, plan, or trusted 2h",
    "away": "How long: until Monday, or 2d; off when you're back",
}
"""What may be written behind a command, for those that take something."""
UNREAD: Final = "unread"
"""The command that an adapter makes of a message which it cannot read, from somebody who speaks to the agent alone.

Its argument says what it is: "a poll". The person is told; `COMMANDS` does not list it, since nobody needs to give it.
"""


class Trigger(StrEnum):
    """Cause of a piece of work."""

    MESSAGE = "message"  # somebody wrote in a room
    SCHEDULE = "schedule"  # an instant of a schedule came
    MANUAL = "manual"  # a person had a schedule or a report run now
    HOOK = "hook"  # another program called a webhook
    CHILD = "child"  # a run handed work to another agent
    CHILD_ENDED = "child ended"  # work that a run handed on is over, and nobody waited for it
    HAND_OVER = "hand over"  # an agent handed its conversation over to another one
    TASK = "task"  # a task is worked on in the background
    UNKNOWN = ""  # a node of an older version began it, which does not say

    @classmethod
    def _missing_(cls, value: object) -> Trigger:
        """A word of a newer version counts as unknown."""
        return cls.UNKNOWN


class Addressing(StrEnum):
    """Way in which a message reached the agent."""

    DIRECT = "direct"  # in a room of one person and the agent
    MENTION = "mention"  # in a room of several, and it names the agent, answers it or is a command
    OVERHEARD = "overheard"  # in a room of several, and names nobody or others


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing that happened on a channel, in our words.

    `platform` is the account's own identity at its platform (not its name in the settings); with `dedupe_key` it is
    unique, so a repeat is the same event. `natural_key` is a second such key where a platform reports one thing
    under two ids. `earlier_key` is the `dedupe_key` that a repeat of this event had a while ago, where keys change with
    the time. `console` marks an event that an operator made outside the room (console page, CLI).

    `message_id` is the wire's id of the message: what a reply answers, an edit names and a gap is measured by. Where it is the
    platform's time (`1700000000.000003`), messages that wait for a run are heard in that order, and else in that of their coming.
    `joinable`: a mention makes the agent part of `address`'s thread, so that what follows there needs none. `by_bot`:
    its author is a program; our own messages never become Signals. `room_name` is what people call the room, where the
    platform told it along: "#general", "Kitchen", "@Ada" for a private one.

    `private` is how many characters its sender alone may be answered there, in `Verdict.notice`; 0 where others would
    read it. `command_mark` is how commands are written there. `alone`: the platform vouches that what was pressed is shown to
    its sender alone, and that we put it there: an ephemeral message, the home of an app, the inbox of the page.
    `agent` is the one it is for, whatever its words name and whoever answers there: a program asks one agent.
    `language` is that of its sender's own app, as platforms tell it ("de", "pt-BR"), where they alone read the answer.
    """

    platform: str
    dedupe_key: str
    actor: Identity
    actor_name: str
    address: Address
    body: Body
    received_at: datetime
    natural_key: str | None = None
    urgency: Urgency = Urgency.NORMAL
    console: bool = False
    reach: Addressing = Addressing.DIRECT
    message_id: str = ""
    joinable: bool = False
    by_bot: bool = False
    earlier_key: str | None = None
    private: int = 0
    command_mark: str = "/"
    room_name: str = ""
    trigger: Trigger = Trigger.MESSAGE
    alone: bool = False
    agent: str = ""
    language: str = ""


class Outcome(StrEnum):
    ACCEPTED = "accepted"  # it waits for a run, or joined one
    MERGED = "merged"  # the same words from the same person, still unanswered: one run for both
    DUPLICATE = "duplicate"  # this very event was taken in before
    OBSERVED = "observed"  # kept as context, without a run: the next one reads it
    DECIDED = "decided"  # a click, stop or command that was carried out, an edit that counts
    UNCHANGED = "unchanged"  # it changed nothing: late, repeated, forged, unknown or not allowed
    REFUSED = "refused"  # the gate said no
    IGNORED = "ignored"  # not for us: overheard where that needs a mention, a bot that may not speak; nothing is stored


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome of a Signal. `notice` is for the sender alone, best effort: at most `Signal.private` characters, or 200.

    `cards` are to be shown to the sender alone behind it; there are some only where `Signal.private` is more than 0.
    `form_stays`: the notice tells what is wrong with a form that was sent, so that it can be put right and sent again.
    """

    outcome: Outcome
    signal_id: SignalId
    notice: str | None = None
    cards: tuple[Content, ...] = ()
    form_stays: bool = False


Sink = Callable[[Signal], Awaitable[Verdict]]
"""Takes a Signal in, in one transaction. Errors: StoreError means that it was not taken in: do not acknowledge."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """Emoji that a person put onto a message, or took away: as the platform writes them, without skin tones or with.

    `message_id` is the platform's id of the message, as a `Receipt` has it; where people rate on our own page,
    `delivery` names the delivery instead, and `words` are what they wrote beside.
    """

    room: Address
    actor: Identity
    message_id: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    delivery: str = ""
    words: str = ""


Rated = Callable[[Reaction], Awaitable[bool]]
"""Notes what people think of a message; whether that changed anything. Errors: StoreError."""


OwnMarks = Callable[[Identity, Address], Awaitable[Mapping[str, int]]]
"""Value of each delivery in a room that somebody rated: above 0 for good. Errors: StoreError."""


async def no_marks(who: Identity, room: Address) -> Mapping[str, int]:
    """Answer where nobody keeps them."""
    return {}


async def unrated(reaction: Reaction) -> bool:
    """Answer where nobody keeps it."""
    return False
