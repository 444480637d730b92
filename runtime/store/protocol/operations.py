"""Reads and operations of operators; the trail of a message; the audit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from runtime.contract import (
    Address,
    Content,
    DeliveryId,
    Identity,
    Kind,
    RunId,
    SessionKey,
    Trigger,
)
from runtime.domain.approvals import Approval
from runtime.domain.deliveries import DeliveryState
from runtime.domain.runs import RunState, StepState
from runtime.store.protocol.leases import Duty
from runtime.store.protocol.outbox import OpenPart
from runtime.timeline.trail import Candidate, Thing, Trail


@dataclass(frozen=True, slots=True)
class RunRow:
    """`signals` are the words that it answers. `cost_micros` is what it cost with all that it handed on."""

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
    cost_micros: int = 0
    trigger: Trigger = Trigger.UNKNOWN
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Posted:
    """A delivery of an answer or a report, for a link to it: the ordinal and the platform's id of its first message on screen."""

    delivery: DeliveryId
    origin: str
    kind: Kind
    address: Address
    state: DeliveryState
    ordinal: int = 0
    receipt: str = ""


@dataclass(frozen=True, slots=True)
class RoomWork:
    """The state of a room's newest run with its id, None before the first; and the questions that wait in it, newest first."""

    run: RunState | None
    questions: tuple[Approval, ...]
    run_id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class StepRow:
    """`allowed_by` is the grant by which nobody was asked about it, with whose it is. A model call alone costs.

    `called_at` is when a tool was called, which may have waited from then on for `started_at`; None for what waited for nothing.
    """

    number: int
    kind: str
    tool: str
    arguments: str
    state: StepState
    result: str
    started_at: datetime | None
    ended_at: datetime | None
    allowed_by: str = ""
    called_at: datetime | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0


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
    salt: str = ""


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


@dataclass(frozen=True, slots=True)
class AuditSignature:
    """Head and checkpoint that the owner of a public `key` signed, where several nodes share a database."""

    key: str
    head: Head
    signature: str
    cut: AuditCheckpoint | None = None
    cut_signature: str = ""


class Operations(Protocol):
    """Reads and repairs of the console and the command line."""

    async def runs(
        self, *, state: RunState | None = None, room: Address | None = None, limit: int = 100
    ) -> list[RunRow]:
        """Newest first; of one room with its threads, or of all."""

    async def run(self, run_id: RunId) -> tuple[RunRow, list[StepRow]] | None: ...

    async def room_work(self, address: Address) -> RoomWork: ...

    async def posted(self, origins: Collection[str]) -> list[Posted]:
        """Answers and reports of these origins, each of which costs a look-up."""

    async def deliveries(
        self, *, state: DeliveryState | None = None, room: Address | None = None, limit: int = 100
    ) -> list[DeliveryRow]:
        """Newest first; of one room with its threads, or of all."""

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
    """Traces of messages. Only reads."""

    async def titles(self, rooms: Collection[Address], owner: Identity | None = None) -> Mapping[Address, str]:
        """The first words that were said in each of `rooms`, on one line; without those in which none are kept. Rooms to which
        `owner` gave a name have that.
        """

    async def conversations(
        self, channel: str, account: str, *, limit: int = 200, owner: Identity | None = None
    ) -> Mapping[Address, str]:
        """The rooms of an account in which people spoke last, with their titles."""

    async def find(self, words: str, *, things: Collection[Thing] = tuple(Thing), limit: int = 10) -> list[Candidate]:
        """Candidates among `things` that `words` may mean: an id, else the page's id of a message, else the first characters of an id.

        Shape:  one for an exact id, else newest first; empty for nothing, and for fewer than four first characters.
        """

    async def recent(self, address: Address | None = None, *, limit: int = 10) -> list[Candidate]:
        """The newest messages of people: of one room with its threads, or of all rooms."""

    async def platforms(self) -> list[str]:
        """The identities of accounts that ever took something in."""

    async def trail(self, about: str) -> Trail | None:
        """All rows about the message, run, approval or delivery with this id; None when there is none."""


class Audit(Protocol):
    async def seal(self, duty: Duty, head: Head, *, limit: int = 500) -> Head | None:
        """Number and link unsealed rows after `head`, oldest first; the new head, or None when the duty was lost."""

    async def audit_rows(self, after: int, *, limit: int = 1000) -> list[AuditRow]:
        """Sealed rows with a number above `after`, in order."""

    async def newest_audit(self, kind: str = "", *, limit: int) -> list[AuditRow]:
        """Rows of one kind, or of all, the newest first; sealed or not."""

    async def audit_head(self) -> Head: ...

    async def audit_unsealed(self) -> int:
        """Number of rows not sealed yet."""

    async def cut_audit(self, duty: Duty, checkpoint: AuditCheckpoint) -> bool:
        """Remove the rows up to `checkpoint`, which is signed already; False when the duty was lost."""

    async def audit_signatures(self) -> list[AuditSignature]:
        """Every head that nodes published, one by key."""

    async def publish_audit(self, signed: AuditSignature) -> None:
        """Tell other nodes of a head; the first of a key is told in the audit."""


RowKey = tuple[str | int, ...]
"""Values of a row's primary key."""


@dataclass(frozen=True, slots=True)
class TextRow:
    """Text of one row by column. `is_open`: a call may still run with what stands in it, or a grant goes by it."""

    key: RowKey
    room: Address | None
    is_open: bool
    texts: Mapping[str, str | None]


class Texts(Protocol):
    """Free text of any table, for whoever looks through old rows."""

    async def texts(self, table: str, after: RowKey | None = None, *, limit: int) -> list[TextRow]:
        """Rows behind the key `after`, in the order of the keys; from the first without it."""

    async def put_texts(self, table: str, changes: Sequence[tuple[TextRow, Mapping[str, str]]]) -> int:
        """Write other text into rows; the number of those that were still as they were read. Others are left alone."""

    async def clear_traces(self, table: str) -> None:
        """Take words that a table no longer has out of its indexes."""
