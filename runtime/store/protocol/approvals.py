"""Approvals, decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from runtime.chat.audience import Candidate
from runtime.chat.cards.exchanges import Exchange
from runtime.chat.inbox import OpenQuestion
from runtime.contract import Address, ApprovalId, Identity, Mention, ModelReply, NodeId, Person, RunId, SessionKey, Turn
from runtime.domain.approvals import Approval, ApprovalState, Rights
from runtime.policy.modes import Mode, RoomMode
from runtime.policy.terms import PLAIN, Terms
from runtime.store.protocol.grants import Grants


@dataclass(frozen=True, slots=True)
class Decided:
    """`objection` tells why nothing changed. Otherwise what to wake; `notice` is for who clicked, where it is still open.

    `form_stays`: the objection is to what was filled in, which can be put right. `settled`: the questions that one click
    settled, where it was on a card for several.
    """

    objection: str | None = None
    approval: Approval | None = None
    session: SessionKey | None = None
    lane_ready: bool = False
    deliveries: tuple[Address, ...] = ()
    notice: str | None = None
    form_stays: bool = False
    settled: tuple[ApprovalId, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the agent whose call it is about, and the names of the requester as policy knows them."""

    approval: Approval
    agent: str
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Changed:
    """A call as an approver wants it, and the terms that hold for it; with `fault` it cannot be.

    `of_hash` is the hash of the arguments that it takes the place of.
    """

    arguments: str = ""
    of_hash: str = ""
    terms: Terms = PLAIN
    policy_version: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Due:
    """A question about which people are to be called once more. `rooms`: where it stands."""

    approval: Approval
    rooms: tuple[Address, ...] = ()
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Calling:
    """A call about `asked`, of which `made` were then made. `told` names whom `rooms` reach that it did not reach before.

    `mentions` are called by the card in each room; `private` are rooms of one person, which hold only so many open cards, each with what begins a command there.
    """

    asked: Approval
    made: int
    rooms: tuple[Address, ...] = ()
    told: tuple[str, ...] = ()
    mentions: Mapping[Address, tuple[Mention, ...]] = field(default_factory=dict)
    private: Mapping[Address, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Undoing:
    """An undo that begins: of what an approved call did, wanted `by` somebody. `kept` is what its tool kept for it."""

    approval: Approval
    kept: str
    by: str
    call_id: str
    agent: str


@dataclass(frozen=True, slots=True)
class UndosToDo:
    """Approvals whose calls should be undone and aren't yet; and whether any is to be closed."""

    wanted: tuple[ApprovalId, ...] = ()
    to_close: bool = False


@dataclass(frozen=True, slots=True)
class AskedBack:
    """A question of an approver that has no answer yet: which approval, and its number there."""

    approval_id: ApprovalId
    number: int


@dataclass(frozen=True, slots=True)
class Answering:
    """A question that a node answers. `turns` are what the run knew when it was parked; without an `agent` it goes on by now.

    `step` is the number of the model call among the steps of the run, `turn` that of the turn behind which it is asked.
    """

    asked: AskedBack
    approval: Approval
    exchange: Exchange
    agent: str = ""
    iterations: int = 0
    turns: tuple[Turn, ...] = ()
    step: int = 0
    turn: int = 0


class AskingBack(Protocol):
    """Questions of approvers to the agent about calls that wait."""

    async def to_answer(self, node: NodeId) -> tuple[AskedBack, ...]:
        """Questions that no other live node is at, the oldest first, at most 20."""

    async def begin_answer(self, asked: AskedBack, node: NodeId) -> Answering | None:
        """Take a question; None where another live node has it, or it was answered."""

    async def affords(self, run: RunId) -> bool:
        """True if budgets would allow a call for `run`."""

    async def pay_answer(self, answering: Answering, node: NodeId) -> Answering | None:
        """Count its model call for the run; None where the run goes on by now, or another node has the question."""

    async def end_answer(
        self, answering: Answering, node: NodeId, reply: ModelReply | None, failed: str, rights: Rights
    ) -> tuple[Address, ...]:
        """Record the answer, or why it `failed`; where couriers are to look. Nothing happens where another node has it."""


class Approvals(Grants, AskingBack, Protocol):
    """Approvals outside of `accept`."""

    async def approved_by(self, approval: Approval, rights: Rights) -> list[str]:
        """Names of those whose approval counts so far; nobody where one is enough."""

    async def due(self, rights: Rights) -> list[Due]:
        """Questions whose next reminder or escalation has come, at most 100."""

    async def call(self, wanted: Calling, rights: Rights) -> tuple[Address, ...]:
        """Put the card into rooms; where a courier is to look. Nothing happens where somebody decided or called meanwhile."""

    async def refill(self, rights: Rights, mark: Callable[[Address], str]) -> tuple[Address, ...]:
        """Give cards to questions that stand behind a full private chat, as far as there is room; where a courier is to look.

        `mark` stands before a command in a room.
        """

    async def asked(self, approval_id: ApprovalId) -> Asked | None:
        """A question with what a policy wants to know of its request."""

    async def approval(self, approval_id: ApprovalId) -> Approval | None: ...

    async def approvals(
        self, *, state: ApprovalState | None = None, room: Address | None = None, limit: int = 200, oldest: bool = False
    ) -> list[Approval]:
        """Newest first, or the oldest; of one room with its threads, or of all."""

    async def modes(self) -> list[tuple[Address, RoomMode]]:
        """Modes of conversations that were set and are not over, newest first."""

    async def set_mode(self, agent: str, address: Address, mode: Mode, who: Person, hand: str) -> RoomMode:
        """Set the mode of a conversation, which is told in it. `hand` is who does it for `who`, for the audit."""

    async def inbox(self, who: Identity, rights: Rights) -> list[OpenQuestion]:
        """Questions that wait for the person behind an identity, oldest first; none for a stranger."""

    async def closed(self, who: Identity, questions: Sequence[ApprovalId], rights: Rights) -> list[Approval]:
        """Of these questions those that waited for the person behind an identity, and no longer do."""

    async def undos_to_do(self) -> UndosToDo: ...

    async def begin_undo(self, approval_id: ApprovalId) -> Undoing | None:
        """Mark that an undo begins; None where somebody else began it."""

    async def end_undo(self, approval_id: ApprovalId, why_not: str = "") -> tuple[Address, ...]:
        """The call was taken back, or `why_not`; where couriers are to look."""

    async def close_undos(self) -> tuple[Address, ...]:
        """Withdraw offers whose time is over, and tell of undos that were cut off; where couriers are to look."""

    async def expire(self, at: datetime | None = None) -> list[Decided]:
        """Settle questions whose time is over at `at`, which is now by default; at most 100."""
