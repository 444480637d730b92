"""The store as the runtime sees it: whole transactions, grouped by who calls them.

A write is one transaction. A duplicate, a lost lease and a lost race are return values; StoreError means that nothing
is known to have been written. An owner's write repeats its fence; `False` or `None` where a fence was refused means
"this is no longer yours: drop the work".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from runtime.approvals import Approval, ApprovalState, Rights
from runtime.attention import BusyAt, RoomRules
from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Busy,
    Call,
    Content,
    Delivery,
    DeliveryId,
    Effect,
    Figures,
    FileRef,
    Identity,
    Job,
    Kind,
    Ledger,
    Links,
    ModelReply,
    NodeId,
    Person,
    Places,
    Receipt,
    Role,
    RunId,
    SessionKey,
    Signal,
    Turn,
    Verdict,
    Wire,
)
from runtime.deliveries import DeliveryState, PartEvent, PartState
from runtime.runs import RunState, StepState
from runtime.store.schedule_book import ScheduleBook
from runtime.trails import Candidate, Trail

# ------------------------------------------------------------------------------------------------------- taking in


@dataclass(frozen=True, slots=True)
class Gate:
    """What acceptance needs to know from the settings.

    `open_to_all` makes an unknown person a user at once; else `pairs` sends whoever writes directly a code. A bot that may
    speak is answered at most `bots_in_a_row` times in one conversation without a person in between. A message older than
    `freshness` is not run. `model` and `trouble`, what is wrong with an account, are told by commands.
    """

    open_to_all: bool
    busy: Busy
    rights: Rights
    agent: str = "main"
    same_words_within: timedelta = timedelta(seconds=60)
    pairs: bool = False
    rooms: RoomRules = field(default_factory=RoomRules)
    bots_in_a_row: int = 5
    freshness: timedelta = timedelta(hours=24)
    model: str = ""
    trouble: Callable[[Address], str | None] = field(default=lambda _: None, compare=False)

    def busy_in(self, address: Address) -> Busy:
        """What a message meets there that comes while the agent works."""
        return self.rooms.rule(address).busy or self.busy


@dataclass(frozen=True, slots=True)
class Taken:
    """What `accept` did: the verdict, and what to wake: a session's lane, runs to stop, addresses with deliveries.

    `claim`: the lane was idle, so the run began in the same commit; whoever made the offer works on it.
    """

    verdict: Verdict
    session: SessionKey | None = None
    lane_ready: bool = False
    stop_runs: tuple[RunId, ...] = ()
    deliveries: tuple[Address, ...] = ()
    claim: Claim | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """A node with room for one more run: a message for an idle session begins there at once."""

    lease: Lease
    busy: Busy | BusyAt


class Intake(Protocol):
    async def accept(self, signal: Signal, gate: Gate, offer: Offer | None = None) -> Taken:
        """Gate, dedupe and queue a message, or decide a click, stop or command. Nothing of a refused signal's text is
        kept, and of an ignored one nothing at all."""


# ----------------------------------------------------------------------------------------------------------- lanes


@dataclass(frozen=True, slots=True)
class Lease:
    """A node's right to act, repeated by every write it makes as an owner."""

    node: NodeId
    fence: int


@dataclass(frozen=True, slots=True)
class Lane:
    """A session that this node owns: every write of its run carries it."""

    session: SessionKey
    node: NodeId
    fence: int


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One tool call of a run. `turn` is the number of the turn that holds its result."""

    number: int
    call: Call
    effect: Effect
    arguments_hash: str
    state: StepState
    turn: int
    caution: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A run to work on. `resumed` tells that it has been worked on before; `steps` are its tool steps not done yet.

    `iterations` counts its model calls so far, `next_step` is the number of its next step. `overtaken`: other runs of
    the session wrote turns while this one was parked. `names`: the requester's name and identities, for policy. `crashes`:
    how often a process ended under it since its last recorded step. `turns`: the transcript as of now where it is short
    enough to come along, None where it must be read. `reply_to`: the wire's id of the message that began it. `since`:
    the number of the first turn that it knows. `job`: it works for an occurrence of a schedule, not for a message.
    `files`: what its tools put onto its reply so far.
    """

    lane: Lane
    run_id: RunId
    address: Address
    requester: Person | None
    resumed: bool
    iterations: int
    next_step: int
    stop: bool
    overtaken: bool = False
    names: frozenset[str] = frozenset()
    steps: tuple[ToolStep, ...] = ()
    crashes: int = 0
    turns: tuple[Turn, ...] | None = None
    reply_to: str = ""
    since: int = 0
    job: Job | None = None
    files: tuple[FileRef, ...] = ()


@dataclass(frozen=True, slots=True)
class NewStep:
    """A call as policy sorted it: open, asked, or done at once with `result` (denied, refused)."""

    call: Call
    effect: Effect
    arguments_hash: str
    state: StepState
    result: str = ""
    caution: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An owner's write went in. `stop`: a person wants the run to end. `waiting`: signals of which some may be steered in."""

    stop: bool = False
    waiting: int = 0
    steps: tuple[ToolStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Rendered:
    """Parts that a courier hands along with a new delivery, so that the first attempt needs no commit of its own.

    `receipts`, one a part, where the channel's screen is our store: then the commit is the showing. `floor` is stored
    with the marker of the first part.
    """

    duty: Duty
    wires: tuple[Wire, ...]
    receipts: tuple[Receipt, ...] = ()
    floor: str = ""


@dataclass(frozen=True, slots=True)
class NewDelivery:
    """Something to show. `rendered` is taken up only if nothing else waits for its address.

    `replaces` is an origin of previews: the commit looks which of them it takes the place of, and sets `edits`. What
    stands there before is what its courier knows; if that is wrong, `rendered` is not taken up.
    """

    id: DeliveryId
    origin: str
    ordinal: int
    kind: Kind
    address: Address
    content: Content
    edits: DeliveryId | None = None
    rendered: Rendered | None = None
    reply_to: str = ""
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Previewed:
    """The preview of a run: `begun` by this very commit, or there before, with its receipt if it is on screen."""

    id: DeliveryId
    begun: bool = False
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """An approval to be asked, with its card."""

    id: ApprovalId
    kind: ApprovalKind
    step: int
    expires_at: datetime
    policy_version: str
    caution: str
    card: NewDelivery


@dataclass(frozen=True, slots=True)
class Released:
    """A run gave its lane up. `more`: the lane is ready again.

    `begun`: of the new deliveries those that came rendered and whose first part is marked now, or all of it shown.
    `told`: rooms for which the store itself made a delivery.
    """

    more: bool
    begun: frozenset[DeliveryId] = frozenset()
    told: tuple[Address, ...] = ()


class Lanes(Protocol):
    async def claim(self, lease: Lease, busy: Busy | BusyAt) -> Claim | None:
        """The next session's run, oldest first; None when no lane is ready or the node is dead."""

    async def claim_suspect(self, lease: Lease, busy: Busy | BusyAt, *, most: int) -> Claim | None:
        """A run under which processes died more than once; None when there is none, or another one is at work.

        One that `most` processes died under is written down as set aside: who claimed it ends it.
        """

    async def lanes_of(self, lease: Lease) -> list[Lane]:
        """The lanes that the node owns, as the store sees it."""

    async def turns(self, session: SessionKey, since: int | None = None) -> list[Turn]:
        """The transcript as recorded, oldest first; calls without a result have their placeholder.

        From turn `since` on, as a run knows it; without it from where a person last asked to begin anew.
        """

    async def record_model(
        self, lane: Lane, run: RunId, number: int, reply: ModelReply, calls: Sequence[NewStep]
    ) -> Recorded | None:
        """One model call that asked for tools, with its calls and their placeholders; None when fenced."""

    async def mark_tool(self, lane: Lane, run: RunId, number: int) -> Recorded | None:
        """The marker before a tool starts; None when fenced."""

    async def finish_tool(
        self, lane: Lane, run: RunId, number: int, result: str, files: Sequence[FileRef] = ()
    ) -> Recorded | None:
        """The result after it, and the files it put onto the reply; None when fenced."""

    async def steer(self, lane: Lane, run: RunId) -> Recorded | None:
        """Waiting signals become turns of this run, up to the first whose sender may do less than whom it works for.

        None when fenced. What still waits is told: it begins the next run.
        """

    async def note(self, lane: Lane, run: RunId, text: str) -> Recorded | None:
        """A user turn of our own in the transcript; None when fenced."""

    async def park(self, lane: Lane, run: RunId, questions: Sequence[Question]) -> Released | None:
        """Ask about every asked step, and give the lane up; None when fenced."""

    async def finish(
        self,
        lane: Lane,
        run: RunId,
        number: int,
        reply: ModelReply | None,
        state: RunState,
        text: str,
        deliveries: Sequence[NewDelivery],
    ) -> Released | None:
        """The last model step, the run's end and its deliveries; None when fenced. Open steps are closed."""

    async def release(self, lane: Lane) -> None:
        """Give the lane back with its run unfinished: another claim resumes it."""


# ------------------------------------------------------------------------------------------------------- approvals


@dataclass(frozen=True, slots=True)
class Decided:
    """`objection` tells why nothing changed. Otherwise what to wake."""

    objection: str | None = None
    approval: Approval | None = None
    session: SessionKey | None = None
    lane_ready: bool = False
    deliveries: tuple[Address, ...] = ()


class Desk(Protocol):
    """Approvals outside of `accept`."""

    async def approval(self, approval_id: ApprovalId) -> Approval | None: ...

    async def approvals(self, *, state: ApprovalState | None = None, limit: int = 200) -> list[Approval]:
        """Newest first."""

    async def expire(self) -> list[Decided]:
        """Settle questions whose time is over, at most 100."""


# ---------------------------------------------------------------------------------------------------------- outbox


@dataclass(frozen=True, slots=True)
class OpenPart:
    """A part as the courier needs it.

    `floor` came with the newest marker. `first_at` is the first marker since it was last certain that the part is not
    on screen: after a repeat because nobody could tell it stays that of the attempt before, and a platform may still
    know the part by the key of then.
    """

    ordinal: int
    state: PartState
    body: str
    fallback: str | None
    attempts: int = 0
    marked_at: datetime | None = None
    looks: int = 0
    receipt: Receipt | None = None
    repeat_mark: bool = False
    floor: str = ""
    first_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OpenDelivery:
    """A delivery that is not settled. `rank` 0: some part is or may be on screen, so this one goes on first.

    `edit_of` is the receipt of the message this one replaces, None when there is none (yet); `over_preview` tells that
    it is a preview, whose text may still change under way. `in_doubt`: it may have been shown already, after the backup
    was taken from which it comes.
    """

    delivery: Delivery
    state: DeliveryState
    rank: int
    number: int
    not_before: datetime
    parts: tuple[OpenPart, ...]
    edit_of: Receipt | None = None
    run_id: RunId | None = None
    in_doubt: bool = False
    over_preview: bool = False


@dataclass(frozen=True, slots=True)
class Duty:
    """An exclusive role held by a node: every write made under it carries the fence."""

    role: str
    node: NodeId
    fence: int


class Outbox(Protocol):
    """All writes return False when the duty was lost, or when a person discarded the delivery meanwhile."""

    async def enqueue(self, delivery: NewDelivery) -> bool:
        """Add a delivery; False when its (origin, ordinal) is there already."""

    async def open_rooms(self, channel: str, account: str) -> list[Address]:
        """Addresses of the account with deliveries that are not settled."""

    async def open_deliveries(self, address: Address, *, limit: int = 20) -> list[OpenDelivery]:
        """Unsettled deliveries of one address by rank, then age. Later ones of one origin stay behind earlier ones."""

    async def adopt(self, duty: Duty, channel: str, account: str, look_after: timedelta) -> bool:
        """After taking the duty: parts whose marker has no outcome are unsettled; looked for `look_after` the marker."""

    async def render(
        self, duty: Duty, delivery: DeliveryId, wires: Sequence[Wire], *, mark: bool, floor: str = ""
    ) -> bool:
        """Store the parts of a queued delivery and, if `mark`, the marker of the first with `floor`. Parts of one that is
        in doubt are unsettled from the start: leave `mark` then."""

    async def render_shown(
        self, duty: Duty, delivery: DeliveryId, wires: Sequence[Wire], receipts: Sequence[Receipt]
    ) -> bool:
        """Store the parts of a queued delivery as shown at once: for channels whose screen is our store."""

    async def mark(self, duty: Duty, delivery: DeliveryId, ordinal: int, *, floor: str = "") -> bool: ...

    async def checkpoint(self, duty: Duty, delivery: DeliveryId, ordinal: int, receipt: Receipt) -> bool:
        """It is on screen. The last part settles the delivery, and a final one answers its signals."""

    async def retry(self, duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, reason: str) -> bool: ...

    async def doubt(self, duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, reason: str) -> bool:
        """Perhaps shown: look at `at`."""

    async def look_again(self, duty: Duty, delivery: DeliveryId, ordinal: int, at: datetime, *, counted: bool) -> bool:
        """Still unsettled; look again at `at`. `counted`: this look was made and found nothing."""

    async def absent(self, duty: Duty, delivery: DeliveryId, ordinal: int) -> bool: ...

    async def repeat(self, duty: Duty, delivery: DeliveryId, ordinal: int) -> bool: ...

    async def hold(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str) -> bool: ...

    async def plain(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str = "") -> bool:
        """Refused for its form: its fall-back takes its place, and what more that takes becomes parts behind the last."""

    async def give_up(self, duty: Duty, delivery: DeliveryId, ordinal: int | None, reason: str) -> bool: ...

    async def preview(self, lane: Lane, run: RunId, new: NewDelivery) -> Previewed | None:
        """Begin to show how far the run is that has the lane, with `new.rendered` marked.

        Shape:  the preview that is there already, if nothing was said in its place since. None when the lane is not
                ours any more or something waits for the room: nothing is stored then.
        """

    async def drop(self, duty: Duty, delivery: DeliveryId, ordinal: int, event: PartEvent, reason: str) -> bool:
        """Something that is not worth another try is thrown away; `event` is what became of its part."""

    async def detach(self, duty: Duty, delivery: DeliveryId, ordinal: int, reason: str) -> bool:
        """What it was to replace cannot be changed: it goes as a message of its own."""

    async def pause(self, duty: Duty, channel: str, account: str, room: str, until: datetime) -> bool:
        """The platform said to wait: for `room`, or with "" for the whole account."""

    async def paused(self, channel: str, account: str) -> Mapping[str, datetime]:
        """What of the account must still be quiet, and until when."""


# ----------------------------------------------------------------------------------------------------------- nodes


class Registry(Protocol):
    """Nodes and roles."""

    async def join(self, node: NodeId, label: str, ttl: timedelta, *, alone: bool) -> Lease:
        """Register a live node. `alone` proves every earlier node dead: they are reaped at once."""

    async def beat(self, lease: Lease, ttl: timedelta) -> bool:
        """Renew; False when this node was declared dead."""

    async def reap(self, *, but: NodeId | None = None) -> int:
        """Declare nodes dead whose lease ended; their lanes are ready and their roles free. How many.

        A node spares itself (`but`): late as it is, it works on, unless another one took over.
        """

    async def leave(self, lease: Lease) -> None:
        """A clean end: lanes and roles are given back at once."""

    async def take(self, lease: Lease, role: str) -> Duty | None:
        """An exclusive role, if it is free or already ours."""

    async def account_identity(self, channel: str, name: str, fresh: str) -> str:
        """The stored identity of a channel whose platform gives none; `fresh` is stored the first time."""

    async def note_account(self, channel: str, name: str, identity: str) -> None:
        """Keep which identity the platform gave to the account that the settings call `name`."""

    async def named_accounts(self) -> list[tuple[str, str, str]]:
        """Channel, identity and name of each account that was ever at work, by the name of its last time."""

    async def shift(self, by: timedelta) -> None:
        """The clock was set by so much: move with it what waits for its time. For a store of one node."""

    async def last_written(self) -> datetime | None:
        """When the newest fact of the audit was written, by the clock of then."""

    async def note_fact(self, kind: str, by: str, subject: str, detail: str) -> None:
        """A fact for the audit that no other transaction tells of: somebody changed how this process works."""


# ---------------------------------------------------------------------------------------------------------- people


@dataclass(frozen=True, slots=True)
class Known:
    """A person with all identities, for lists. `linked`: has a web link."""

    person: Person
    identities: tuple[Identity, ...]
    linked: bool


@dataclass(frozen=True, slots=True)
class Pairing:
    """An unknown person who was sent a code and waits for an owner to enter it."""

    identity: Identity
    name: str
    address: Address
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Paired:
    """A code was right. `address`: where the person is told."""

    person: Person
    identity: Identity
    address: Address


@dataclass(frozen=True, slots=True)
class Unpaired:
    """A code was not taken, in words for whoever entered it. `locked`: no code of theirs would be."""

    reason: str
    locked: bool = False


class People(Links, Protocol):
    async def people(self) -> list[Known]:
        """By name."""

    async def person_named(self, name: str) -> Known | None: ...

    async def add_person(self, name: str, role: Role, identities: Sequence[Identity]) -> Person | None:
        """A new person; None when the name or an identity is taken."""

    async def set_role(self, name: str, role: Role) -> Person | None:
        """None when nobody has that name."""

    async def set_link(self, name: str, token: str) -> Person | None:
        """Give a person a web link; the old one is void from now on. Only the token's hash is stored."""

    async def pairings(self) -> list[Pairing]:
        """Who waits for a code to be entered, oldest first."""

    async def pair(self, code: str, name: str, role: Role | None, by: Person) -> Paired | Unpaired:
        """Make whoever was sent `code` known: to the person called `name` if there is one, else as a new one.

        `role` is that of a new person, a user without it; a person who is there already keeps theirs unless it is named.
        """


# ----------------------------------------------------------------------------------------------- operators' reading


@dataclass(frozen=True, slots=True)
class RunRow:
    """`signals` are the words that it answers."""

    id: RunId
    session: SessionKey
    address: Address
    state: RunState
    requester: str
    started_at: datetime
    ended_at: datetime | None
    iterations: int
    error: str
    signals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RoomWork:
    """The state of a room's newest run, None before the first; and the questions that wait in it, newest first."""

    run: RunState | None
    questions: tuple[Approval, ...]


@dataclass(frozen=True, slots=True)
class StepRow:
    number: int
    kind: str
    tool: str
    arguments: str
    state: StepState
    result: str
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery for lists; `parts` is filled by `delivery()` only."""

    id: DeliveryId
    kind: Kind
    address: Address
    origin: str
    state: DeliveryState
    attempts: int
    created_at: datetime
    settled_at: datetime | None
    not_before: datetime
    reason: str
    content: Content
    parts: tuple[OpenPart, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One audit fact. Unsealed rows have no number yet."""

    id: str
    number: int | None
    at: datetime
    kind: str
    actor: str
    subject: str
    detail: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class Head:
    """The last sealed row: its number and hash. Number 0 and an empty hash before the first."""

    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class AuditCheckpoint:
    """Rows up to this one were removed for their age, `at` this time. Rows are numbered from 1, so that `number` is
    also how many there were."""

    number: int
    hash: str
    at: datetime


class Operators(Protocol):
    """What the console and the command line read and mend."""

    async def runs(self, *, state: RunState | None = None, limit: int = 100) -> list[RunRow]:
        """Newest first."""

    async def run(self, run_id: RunId) -> tuple[RunRow, list[StepRow]] | None: ...

    async def room_work(self, address: Address) -> RoomWork: ...

    async def deliveries(self, *, state: DeliveryState | None = None, limit: int = 100) -> list[DeliveryRow]:
        """Newest first."""

    async def delivery(self, delivery_id: DeliveryId) -> DeliveryRow | None: ...

    async def newest_of(self, prefix: str) -> tuple[str, int] | None:
        """Origin and ordinal of the last delivery, by these, whose origin begins with `prefix`, which is not empty."""

    async def requeue(self, delivery_id: DeliveryId, actor: str) -> DeliveryRow | None:
        """A held or dead delivery is tried again; None when there is no such one in that state."""

    async def discard(self, delivery_id: DeliveryId, actor: str) -> DeliveryRow | None:
        """An unsettled delivery that is not being sent right now is thrown away; None when there is none."""

    async def counts(self) -> Mapping[str, int]:
        """Rows by what they wait for: signals, runs, approvals, deliveries by state. For pages and `doctor`."""


class Traces(Protocol):
    """What became of a message. Only reads."""

    async def find(self, words: str, *, limit: int = 10) -> list[Candidate]:
        """What `words` may mean: an id, else the page's id of a message, else the first characters of an id.

        Shape:  one for an exact id, else newest first; empty for nothing, and for fewer than four first characters.
        """

    async def recent(self, address: Address | None = None, *, limit: int = 10) -> list[Candidate]:
        """The newest messages of people, in one room or in all."""

    async def trail(self, about: str) -> Trail | None:
        """All rows about the message, run, approval or delivery with this id; None when there is none."""

    async def platforms(self) -> list[str]:
        """The identities of accounts that ever took something in."""


class AuditBook(Protocol):
    async def seal(self, duty: Duty, head: Head, *, limit: int = 500) -> Head | None:
        """Number and link unsealed rows after `head`, oldest first; the new head, or None when the duty was lost."""

    async def audit_rows(self, after: int, *, limit: int = 1000) -> list[AuditRow]:
        """Sealed rows with a number above `after`, in order."""

    async def audit_head(self) -> Head: ...

    async def audit_unsealed(self) -> int:
        """How many rows wait to be sealed."""

    async def cut_audit(self, duty: Duty, checkpoint: AuditCheckpoint) -> bool:
        """Remove the rows up to `checkpoint`, which is signed already; False when the duty was lost."""


# ------------------------------------------------------------------------------------------------------- retention


class Stock(StrEnum):
    """What is kept for a time of its own. Events are clicks and refused messages, of which no text is kept at all, and the
    signals of schedules."""

    MESSAGES = "messages"
    TOMBSTONES = "tombstones"
    EVENTS = "events"
    DELIVERIES = "deliveries"
    RUNS = "runs"
    OCCURRENCES = "occurrences"
    SCHEDULES = "schedules"
    APPROVALS = "approvals"
    MOVES = "moves"
    USAGE = "usage"
    NODES = "nodes"
    TRANSCRIPTS = "transcripts"


@dataclass(frozen=True, slots=True)
class Swept:
    """One slice of a walk: where the next begins, whether there is one, and how many rows this one removed."""

    last: str | int
    more: bool
    removed: int


@dataclass(frozen=True, slots=True)
class Quiet:
    """Rooms that nobody used for long, from one slice of the sessions."""

    last: SessionKey
    more: bool
    rooms: tuple[Address, ...]


class Upkeep(Protocol):
    """Removes what is old. Nothing that is still open is touched."""

    async def sweep(
        self, duty: Duty, stock: Stock, after: str | int | None, before: datetime, *, limit: int = 200
    ) -> Swept | None:
        """Look at the next `limit` rows behind `after` (None: from the first) and remove those that are done with and
        older than `before`. A message leaves a tombstone: its keys and times. None when the duty was lost."""

    async def quiet_rooms(self, after: str, before: datetime, *, limit: int = 200) -> Quiet:
        """Of the next `limit` sessions behind `after`, the rooms where nothing happened since `before`."""


class Store(
    Intake,
    Lanes,
    Desk,
    Outbox,
    Registry,
    People,
    Operators,
    Traces,
    AuditBook,
    Upkeep,
    Ledger,
    Places,
    ScheduleBook,
    Figures,
    Protocol,
):
    """Everything one database does."""

    def now(self) -> datetime:
        """The store's clock: the database's on PostgreSQL, the process's on SQLite."""

    async def check(self) -> None:
        """Read something. Errors: StoreError in words for an operator."""

    async def close(self) -> None: ...
