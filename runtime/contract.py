"""The words of Signalbox and the seams between its layers. Imports the standard library only.

    wire event -parse-> Signal -> Session -> Run (Step, Step, ...) -> Outbox -> Delivery -render-> Part -> wire call
                                                |                        ^
                                                +- Tool needs a yes -> Approval -> buttons

Everything here is frozen: a value that was handed on never changes under its reader. Times are aware UTC datetimes,
durations are timedeltas, ids are NewTypes over str.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum, IntEnum, StrEnum
from pathlib import Path
from typing import Any, Final, NewType, Protocol, runtime_checkable

SignalId = NewType("SignalId", str)
SessionKey = NewType("SessionKey", str)
RunId = NewType("RunId", str)
ApprovalId = NewType("ApprovalId", str)
DeliveryId = NewType("DeliveryId", str)
NodeId = NewType("NodeId", str)
PersonId = NewType("PersonId", str)
Identity = NewType("Identity", str)
"""A person's account on a platform: `channel:user`, such as `web:ada`, `telegram:1001` or `slack:T1/U1`."""

Json = Any
"""What `json.loads` gives: the shape is checked where it is read."""

Now = Callable[[], datetime]
NewId = Callable[[], str]
Probe = Callable[[str], None]
"""Called with the name of each point at which a kill must be harmless. Production passes `no_probe`."""


def no_probe(point: str) -> None:
    """The probe of production: nothing happens."""


# ---------------------------------------------------------------------------------------------- people and places


class Role(IntEnum):
    """What a person may do; a higher one may do all that a lower one may."""

    VIEWER = 0
    USER = 1
    OPERATOR = 2
    OWNER = 3

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Person:
    id: PersonId
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Address:
    """Where a reply goes: `channel:account/room` or `channel:account/room/thread`.

    Inside the program `account` is the account's own identity at its platform, so that a renamed account keeps its
    conversations; the name in the settings is translated where settings are read and where people are shown one.
    """

    channel: str
    account: str
    room: str
    thread: str = ""

    def __str__(self) -> str:
        base = f"{self.channel}:{self.account}/{self.room}"
        return f"{base}/{self.thread}" if self.thread else base

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address written as `text`. Errors: ValueError says which form is expected."""
        channel, colon, rest = text.partition(":")
        parts = rest.split("/", 2)
        if not (channel and colon and len(parts) >= 2 and all(parts)):
            raise ValueError(f"{text!r} is not an address; write channel:account/room or channel:account/room/thread")
        return cls(channel, parts[0], parts[1], parts[2] if len(parts) == 3 else "")


# ------------------------------------------------------------------------------------------------------ the way in


class Urgency(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    CRITICAL = "critical"


class Busy(StrEnum):
    """What happens to a message that comes while its session's lane works."""

    STEER = "steer"  # joins the live run before its next model call
    FOLLOWUP = "followup"  # waits and gets a run of its own
    COLLECT = "collect"  # waits; all that wait share the next run


class Choice(StrEnum):
    """What a button says. `done`, `again` and `skip` answer a question about an unknown outcome."""

    APPROVE = "approve"
    DENY = "deny"
    DONE = "done"
    AGAIN = "again"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class FileRef:
    """A file in a session's workspace. `path` is relative to it, with forward slashes; `size` is in bytes."""

    name: str
    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Said:
    """A person wrote something to the agent."""

    text: str
    files: tuple[FileRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Clicked:
    """A person pressed a button of a card. The id is as the platform sent it: perhaps forged."""

    approval_id: ApprovalId
    choice: Choice
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Stopped:
    """A person asked that the work in this room ends."""


Body = Said | Clicked | Stopped


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing that happened on a channel, in our words.

    `platform` is the account's own identity at its platform (not its name in the settings); with `dedupe_key` it is
    unique, so a repeat is the same event. `natural_key` is a second such key where a platform reports one thing
    under two ids. `console` marks an event that an operator made outside the room (console page, CLI).
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


class Outcome(StrEnum):
    ACCEPTED = "accepted"  # it waits for a run, or joined one
    MERGED = "merged"  # the same words from the same person, still unanswered: one run for both
    DUPLICATE = "duplicate"  # this very event was taken in before
    DECIDED = "decided"  # a click or stop that changed something
    UNCHANGED = "unchanged"  # a click or stop that changed nothing: late, repeated, forged or not allowed
    REFUSED = "refused"  # the gate said no


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a Signal. `notice` (at most 200 characters) is for the sender alone, best effort."""

    outcome: Outcome
    signal_id: SignalId
    notice: str | None = None


Sink = Callable[[Signal], Awaitable[Verdict]]
"""Takes a Signal in, in one transaction. Errors: StoreError means that it was not taken in: do not acknowledge."""


# ------------------------------------------------------------------------------------------------ models and tools


class Effect(StrEnum):
    READ = "read"  # changes nothing; repeated after a kill
    WRITE = "write"  # changes what people own
    DANGER = "danger"  # may change anything


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call as a model wrote it. `arguments` is JSON text, perhaps malformed."""

    id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class UserTurn:
    text: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    text: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolTurn:
    call_id: str
    tool: str
    text: str


Turn = UserTurn | AssistantTurn | ToolTurn


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a tool declares. `schema` is the JSON schema of its arguments; `output_bound` counts characters."""

    name: str
    description: str
    schema: Mapping[str, Json]
    effect: Effect
    idempotent: bool = False
    timeout: timedelta = timedelta(seconds=60)
    output_bound: int = 50_000

    @property
    def repeatable(self) -> bool:
        """Whether a call cut in the middle may be made again without asking anyone."""
        return self.effect is Effect.READ or self.idempotent


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where a call runs. `workspace` is the session's own folder; it exists."""

    workspace: Path
    session: SessionKey
    run_id: RunId
    call_id: str


class Tool(Protocol):
    """A thing the agent may do."""

    @property
    def spec(self) -> ToolSpec: ...

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        """Do it. `arguments` may be wrong: check them. Errors: ToolError tells the model; the run goes on."""

    def caution(self) -> str:
        """A sentence for the approval card about how this tool runs here (no sandbox of ours, ...); may be empty."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one model call. `cost_micros` is in millionths of a US dollar."""

    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0


@dataclass(frozen=True, slots=True)
class ModelRequest:
    system: str
    turns: Sequence[Turn]
    tools: Sequence[ToolSpec]


@dataclass(frozen=True, slots=True)
class ModelReply:
    text: str
    calls: tuple[Call, ...]
    usage: Usage


OnText = Callable[[str], None]
"""Called with the text so far while a model speaks; cheap, never raises."""


class Model(Protocol):
    """A language model."""

    name: str

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        """The next turn. Errors: ModelFailed says in words for a person what went wrong."""


# ------------------------------------------------------------------------------------------------------- approvals


class ApprovalKind(StrEnum):
    CALL = "call"  # may this call run?
    OUTCOME = "outcome"  # this call was cut: did it happen?


CHOICES: Final[Mapping[ApprovalKind, tuple[Choice, ...]]] = {
    ApprovalKind.CALL: (Choice.APPROVE, Choice.DENY),
    ApprovalKind.OUTCOME: (Choice.DONE, Choice.AGAIN, Choice.SKIP),
}


# ----------------------------------------------------------------------------------------------------- the way out


class Kind(StrEnum):
    """What a delivery is; also its rank in a room, most urgent first."""

    APPROVAL = "approval"
    FINAL = "final"
    REPORT = "report"
    PROGRESS = "progress"

    @property
    def rank(self) -> int:
        return list(Kind).index(self) + 1


@dataclass(frozen=True, slots=True)
class Button:
    """A choice on a card. The wire carries `approval_id` and `choice` only; `label` is what people read."""

    approval_id: ApprovalId
    choice: Choice
    label: str


@dataclass(frozen=True, slots=True)
class Content:
    """What a delivery says: Markdown text (CommonMark with tables and strike-through), and buttons under it."""

    text: str
    buttons: tuple[Button, ...] = ()
    files: tuple[FileRef, ...] = ()

    def to_json(self) -> str:
        return json.dumps(
            {
                "text": self.text,
                "buttons": [[b.approval_id, b.choice, b.label] for b in self.buttons],
                "files": [[f.name, f.path, f.size] for f in self.files],
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Content:
        raw = json.loads(text)
        buttons = tuple(Button(ApprovalId(a), Choice(c), label) for a, c, label in raw["buttons"])
        return cls(raw["text"], buttons, tuple(FileRef(*f) for f in raw["files"]))


@dataclass(frozen=True, slots=True)
class Delivery:
    """One thing to show at one address.

    `edits` names an earlier delivery whose message this one replaces: its last one, which carries the buttons.
    """

    id: DeliveryId
    origin: str
    ordinal: int
    kind: Kind
    address: Address
    content: Content
    edits: DeliveryId | None = None


@dataclass(frozen=True, slots=True)
class Wire:
    """One rendered wire message: `body` and its plain twin `fallback`, both text in a form the adapter chose."""

    body: str
    fallback: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One wire message of a delivery. `id` (at most 25 characters) is stable over attempts: the idempotency key."""

    delivery_id: DeliveryId
    ordinal: int
    address: Address
    body: str
    marked_as_repeat: bool = False

    @property
    def id(self) -> str:
        return f"{self.delivery_id}.{self.ordinal}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at showing a part: its number from 1, and when its marker was committed."""

    number: int
    marked_at: datetime


@dataclass(frozen=True, slots=True)
class Receipt:
    """The channel's own id of what it shows."""

    message_id: str


@dataclass(frozen=True, slots=True)
class Shown:
    """It is on screen; this is its receipt."""

    receipt: Receipt


class Look(Enum):
    ABSENT = "absent"  # looked, and it is not there
    UNKNOWN = "unknown"  # this channel cannot tell


Settled = Shown | Look


class Capability(StrEnum):
    """What a channel can do beyond the least. Each has one written fall-back in the runtime."""

    EDIT = "edit"  # change a shown message (else: a new message)
    SETTLE = "settle"  # find out whether an uncertain part is shown (else: the repeat policy)
    STORED = "stored"  # our checkpoint is what shows it: no marker is needed, nothing is ever uncertain
    PROGRESS = "progress"  # live, unstored progress (else: nothing)


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model call began."""


@dataclass(frozen=True, slots=True)
class Speaking:
    """The text of the reply so far."""

    text: str


@dataclass(frozen=True, slots=True)
class Working:
    """A tool started (`ended` False) or ended."""

    tool: str
    arguments: str
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Resting:
    """The run ended or waits for a person: no more progress from it."""


Progress = Thinking | Speaking | Working | Resting


class ChannelAdapter(Protocol):
    """One account on one chat platform. Everything optional is a Capability.

    `channel` is the platform's word (`web`, `slack`), `account` the account's name in the settings, `identity` the
    account's own identity at its platform, under which rows are stored.
    """

    channel: str
    account: str
    identity: str
    capabilities: frozenset[Capability]

    async def listen(self, sink: Sink) -> None:
        """Hand each event to `sink` until cancelled; acknowledge it only once `sink` returns its Verdict."""

    def render(self, delivery: Delivery) -> list[Wire]:
        """Cut `delivery` into wire messages, each valid alone. Pure: called once, the result is stored."""

    async def show(self, part: Part) -> Receipt:
        """Show `part`, or raise Retryable, Uncertain or Rejected."""

    async def edit(self, receipt: Receipt, part: Part) -> Receipt:
        """Replace what `receipt` shows by `part`. Repeatable. Raises as `show` does. Only with EDIT."""

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        """Find out whether an uncertain `part` is on screen. Raises Retryable when the platform is away."""

    def progress(self, address: Address, event: Progress) -> None:
        """Show live progress, best effort, at once or never. Only with PROGRESS."""

    def ready(self) -> str | None:
        """None when connected, else the reason in words."""


class Level(StrEnum):
    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check for the operator found. `id` stays the same over releases, and begins with what was looked at.

    `why` it matters and the command or setting that mends it (`fix`) are empty when all is well.
    """

    level: Level
    id: str
    what: str
    why: str = ""
    fix: str = ""


def room_topic(address: Address) -> str:
    """The Bell's topic for whatever lasting changed in a room: a message taken in, a part shown, a run that ended."""
    return f"room:{address}"


# --------------------------------------------------------------------------------------------- seams for web pages


@dataclass(frozen=True, slots=True)
class Room:
    """A conversation as a list shows it. `title` is its first words."""

    address: Address
    title: str
    last_at: datetime
    waiting_approvals: int


class Author(StrEnum):
    PERSON = "person"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Entry:
    """One lasting thing in a room, as the page shows it.

    `id` is stable and sorts with `at`; `body` is the wire text of a shown part (author agent) or what was said.
    `version` grows when a shown message is edited. `client_id` is the dedupe key of what a person said.
    """

    id: str
    author: Author
    name: str
    at: datetime
    body: str
    files: tuple[FileRef, ...] = ()
    version: int = 0
    answered: bool = True
    client_id: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A room at one moment. `busy`: a message is not answered yet, and no approval is waited for."""

    entries: tuple[Entry, ...]
    busy: bool


class Ledger(Protocol):
    """What was committed, for those who may see it. Only reads."""

    async def rooms(self, channel: str, account: str, owner: Identity) -> list[Room]:
        """Rooms in which `owner` spoke, newest first, at most 200."""

    async def room_owner(self, address: Address) -> Identity | None:
        """Who spoke first in this room; None for a room in which nobody did."""

    async def view(self, address: Address, *, before: datetime | None = None, limit: int = 200) -> View:
        """The room as it is at one moment: the last `limit` entries older than `before`, oldest first."""


class Links(Protocol):
    """Who a web link or a session cookie belongs to."""

    async def person_of(self, token: str) -> tuple[Person, Identity] | None:
        """The person whose current link carries `token`, and the web identity under which they speak; or None."""


class Workspaces(Protocol):
    """The folder of files that belongs to the session of an address."""

    def folder(self, address: Address) -> Path:
        """That folder; it exists, and no link in its path leads elsewhere."""

    def admit(self, path: Path) -> None:
        """Give `path`, just written in a workspace, to the user as whom tools run."""


@runtime_checkable
class Bell(Protocol):
    """Wake-ups inside the process; never a source of truth."""

    def ring(self, topic: str) -> None:
        """Wake whoever waits for `topic`."""

    def listen(self, *topics: str) -> AsyncIterator[str]:
        """Topics as they ring; several rings of one topic between two looks come as one."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the composition root hands to every adapter beside its own settings."""

    ledger: Ledger
    links: Links
    workspaces: Workspaces
    bell: Bell
    now: Now
    new_id: NewId
    extra: Mapping[str, object] = field(default_factory=dict)
