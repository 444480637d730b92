"""Trail of one message in the rows: the values that `runtime.store.operations.trail` reads and `runtime.timeline` tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from runtime.contract import Address, DeliveryId, Effect, Kind, NodeId, RunId, SignalId
from runtime.domain.approvals import Approval
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.domain.runs import RunState, StepState


class Thing(StrEnum):
    """Kinds of things that an id names."""

    SIGNAL = "signal"
    RUN = "run"
    APPROVAL = "approval"
    DELIVERY = "delivery"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that can be traced, for a list to choose from. `text` are its words or its tool, whole."""

    id: str
    thing: Thing
    at: datetime
    who: str
    address: Address
    state: str
    text: str


@dataclass(frozen=True, slots=True)
class TracedSignal:
    """`kind` is the body's: said, clicked, commanded, … `joined_at`: when a run that was at work already took it up, if known."""

    id: SignalId
    kind: str
    who: str
    address: Address
    text: str
    files: int
    state: str
    merged_into: SignalId | None
    run_id: RunId | None
    received_at: datetime
    accepted_at: datetime
    answered_at: datetime | None
    node: NodeId | None
    joined_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TracedRun:
    """`node` is its last one; the earlier ones are in the moves."""

    id: RunId
    address: Address
    state: RunState
    requester: str
    claims: int
    error: str
    started_at: datetime
    ended_at: datetime | None
    node: NodeId | None


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and money of one model call."""

    input_tokens: int
    output_tokens: int
    cost_micros: int
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TracedStep:
    """A model call (`tool` is the model, `why` it was that one, `started_at` unknown) or a tool call."""

    number: int
    is_model: bool
    state: StepState
    tool: str
    effect: Effect | None
    result: str
    started_at: datetime | None
    ended_at: datetime | None
    node: NodeId | None
    spent: Spent | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class TracedPart:
    """`marked_at` is the last attempt's marker; None on a channel that needs none."""

    ordinal: int
    state: PartState
    attempts: int
    marked_at: datetime | None
    shown_at: datetime | None
    receipt: str | None
    node: NodeId | None


@dataclass(frozen=True, slots=True)
class TracedDelivery:
    id: DeliveryId
    kind: Kind
    address: Address
    origin: str
    edits: DeliveryId | None
    state: DeliveryState
    reason: str
    not_before: datetime
    created_at: datetime
    settled_at: datetime | None
    text: str
    parts: tuple[TracedPart, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """Something that went another way than straight on. `subject` is the id of a signal, a run or a delivery."""

    subject: str
    at: datetime
    node: NodeId | None
    what: str
    detail: str


@dataclass(frozen=True, slots=True)
class Trail:
    """All that is known about one message: its run and whatever came of it; or what came without a run.

    `behind` is the run that had the session's lane when it was taken in. `labels` name the nodes that are still known;
    `gone` are those that left, or gave no sign for longer than their lease.
    """

    about: str
    signals: tuple[TracedSignal, ...] = ()
    run: TracedRun | None = None
    behind: RunId | None = None
    steps: tuple[TracedStep, ...] = ()
    approvals: tuple[Approval, ...] = ()
    deliveries: tuple[TracedDelivery, ...] = ()
    moves: tuple[Move, ...] = ()
    labels: Mapping[NodeId, str] = field(default_factory=dict)
    gone: frozenset[NodeId] = frozenset()
