"""Sessions at work: runs, their steps, and what they hand to the outbox."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from runtime.chat.audience import Audience
from runtime.contract import (
    Address,
    Busy,
    Call,
    Child,
    FileRef,
    ModelReply,
    NodeId,
    Person,
    PersonId,
    RunId,
    SessionKey,
    SignalId,
    Turn,
    Usage,
)
from runtime.domain.agents.bounds import Bounds
from runtime.domain.agents.delegation import Brood
from runtime.domain.agents.order_budgets import Purse
from runtime.domain.approvals import Rights
from runtime.domain.routing import BusyRules
from runtime.domain.runs import RunState
from runtime.domain.triggers.kept import KeptTrigger
from runtime.policy.budgets import Allowance
from runtime.policy.grants import GrantId, Sought
from runtime.policy.limits import Limit
from runtime.store.protocol.forms import Forms
from runtime.store.protocol.leases import Lane, Lease
from runtime.store.protocol.modes import Modes
from runtime.store.protocol.running.claim import (
    Below,
    Claim,
    HandedOver,
    HandOver,
    NewStep,
    Ordered,
    Recorded,
    Released,
)
from runtime.store.protocol.running.conversations import Board, Compacting, Conversed, Counted, Heard, History, Summary
from runtime.store.protocol.running.deliveries import NewDelivery, Question


class Runs(Forms, Modes, Protocol):
    async def claim(self, lease: Lease, busy: Busy | BusyRules) -> Claim | None:
        """The next session's run, oldest first; None when no lane is ready or the node is dead.

        Errors: StoreError; RowDamaged.
        """

    async def claim_suspect(self, lease: Lease, busy: Busy | BusyRules, *, most: int) -> Claim | None:
        """A run under which processes died more than once; None when there is none, or another one is at work.

        One that `most` processes died under is written down as set aside: who claimed it ends it. Errors: as `claim`.
        """

    async def keep_unread(self, session: SessionKey, node: NodeId, reason: str) -> bool:
        """Keep a conversation apart whose rows cannot be read. False where it was so already, or is another's."""

    async def lanes_of(self, lease: Lease) -> list[Lane]:
        """The lanes that the node owns, as the store sees it."""

    async def turns(self, session: SessionKey, since: int | None = None) -> list[Turn]:
        """The transcript as recorded, oldest first; calls without a result have their placeholder.

        From turn `since` on, as a run knows it; without it from where a person last asked to begin anew.
        """

    async def history(self, session: SessionKey, since: int) -> History:
        """The conversation that began with turn `since`, and what stands for its beginning."""

    async def conversation(self, agent: str, address: Address) -> Conversed:
        """The conversation with an agent there as its next message will find it, with its summaries."""

    async def counted(self, session: SessionKey, since: int) -> Counted | None:
        """Count of a vendor for the last request of the conversation that began with turn `since`; None where it did not tell."""

    async def keep_summary(self, run: RunId, lane: Lane | None, summary: Summary, usage: Usage | None) -> bool:
        """Keep a summary, and what it cost `run`, which owns `lane` or, without one, has ended.

        Shape:  False where it was not kept: the lane is another's, or the run goes on elsewhere. One that is there
                already stays, and what this one cost is recorded.
        """

    async def to_compact(self, node: NodeId) -> Sequence[SignalId]:
        """Requests to condense a conversation that no other live node is at, the oldest first."""

    async def begin_compacting(self, signal: SignalId, node: NodeId) -> Compacting | None:
        """Take one; None where somebody else has it, or a run is at work there."""

    async def end_compacting(self, of: Compacting, node: NodeId, summary: Summary | None, usage: Usage | None) -> bool:
        """Keep the summary with its cost, or none, and tell the room; False where another node did."""

    async def bounds_of(self, address: Address) -> Bounds | None:
        """Bounds with which a conversation was begun; None where it has none, or they are gone."""

    async def senders(self, session: SessionKey) -> dict[str, str]:
        """The senders of files since the model spoke last: a person's id by the path of each."""

    async def record_model(
        self, lane: Lane, run: RunId, number: int, reply: ModelReply, calls: Sequence[NewStep]
    ) -> Recorded | None:
        """One model call that asked for tools, with its calls and their placeholders; None when fenced."""

    async def calls_of(self, run: RunId) -> list[tuple[Call, str | None]]:
        """The calls of a run in their order, each with its result; None for one that has none yet."""

    async def heard(self, session: SessionKey, since: int) -> Heard:
        """Texts from outside in the conversation that began with turn `since`, also those condensed by now, and what
        people approved there."""

    async def board(self, session: SessionKey, since: int) -> Board:
        """The questions of the conversation that began with turn `since`, and what became of the last ones."""

    async def tools_used(self, since: datetime) -> list[str]:
        """Tools that runs which began `since` then called, the most used first."""

    async def until_room(self, agent: str, tool: str, person: PersonId | None, limit: Limit) -> timedelta | None:
        """Time until a limit has room for one more call of a tool; None where it has.

        Counted are the calls that `person`, or nobody, had the agent make and that the rules let through, whatever became
        of them. A call counts once it is recorded: of two nodes that look at the same moment neither sees the other's.
        """

    async def until_agent_may(self, agent: str, limit: Limit) -> timedelta | None:
        """Time until a limit has room for one more call of an agent, whatever it calls and for whom; None where it has.

        Counted on all nodes, as above.
        """

    async def granted(self, call: Sought, rights: Rights) -> GrantId | None:
        """A grant that allows a call, by somebody who may still say so; its use comes with the step."""

    async def reserve(self, lane: Lane, run: RunId) -> Allowance | None:
        """Look once more whether budgets allow a run its next call, and hold money back for it; None when fenced."""

    async def affords(self, run: RunId) -> bool:
        """True if budgets would allow a call for a run that holds nothing back, as when it has ended."""

    async def mark_tool(self, lane: Lane, run: RunId, number: int, *, changes: bool = False) -> Recorded | None:
        """The marker before a tool starts, which is barred where it `changes` something and may not by now; None when fenced."""

    async def refuse_tool(
        self, lane: Lane, run: RunId, number: int, result: str, whose: str, reason: str = ""
    ) -> Recorded | None:
        """A call that was allowed, and is not made since `whose` denies it by now, for a reason of its own; None when fenced.

        Both are in words.
        """

    async def finish_tool(
        self,
        lane: Lane,
        run: RunId,
        number: int,
        result: str,
        files: Sequence[FileRef] = (),
        kept: str | None = None,
    ) -> Recorded | None:
        """The result after it, and the files it put onto the reply; None when fenced.

        `kept` is what its tool needs to take it back: where the call was approved, that is offered.
        """

    async def steer(self, lane: Lane, run: RunId) -> Recorded | None:
        """Waiting signals become turns of this run, up to the first whose sender may do less than whom it works for.

        None when fenced. What still waits is told: it begins the next run.
        """

    async def note(self, lane: Lane, run: RunId, text: str) -> Recorded | None:
        """A user turn of our own in the transcript; None when fenced."""

    async def audience(self, run: RunId, address: Address, approvers: Collection[str]) -> Audience:
        """Request behind a question of `run`, and who may decide it as far as `approvers` of the settings go."""

    async def person_called(self, name: str) -> Person | None:
        """The person of this name, id or identity, however its letters are cased; None for nobody known."""

    async def brood(self, run: RunId) -> Brood:
        """Children of a run so far."""

    async def children_of(self, run: RunId) -> list[Child]:
        """Children of a run, the first one first."""

    async def spawn(
        self, lane: Lane, run: RunId, number: int, chain: Sequence[str], ordered: Sequence[Ordered]
    ) -> Recorded | None:
        """A child for each order of the call at step `number`, whose agents above are `chain`; None when fenced."""

    async def sleep(
        self, lane: Lane, run: RunId, number: int, until: datetime, trigger: KeptTrigger | None = None
    ) -> Recorded | None:
        """The call at step `number` waits for a time, or for what fires a trigger; None when fenced."""

    async def wake(self) -> bool:
        """End the waits whose time has come; whether a lane became ready by that."""

    async def hand_conversation(self, wanted: HandOver) -> HandedOver:
        """Have another agent answer in the room of a run, once for each of its calls."""

    async def over_budget_of(self, run: RunId) -> tuple[Purse, bool] | None:
        """The nearest spent budget of an order at or above the child that `run` is, and true where it is its own."""

    async def stop_child(self, parent: RunId, child: RunId, by: str) -> Below | None:
        """End a child of a run and all below it; None where no such child is at work."""

    async def end_left_children(self) -> Below:
        """End children whose time, run or asking run is over; parents that wait for one that is over go on."""

    async def park(
        self, lane: Lane, run: RunId, questions: Sequence[Question], *, works_on: bool = False
    ) -> Released | None:
        """Ask about every asked step, and give the lane up; None when fenced. Without questions it waits for children.

        One that `works_on` has more to do, and is ready at once.
        """

    async def finish(
        self,
        lane: Lane,
        run: RunId,
        number: int,
        reply: ModelReply | None,
        state: RunState,
        text: str,
        deliveries: Sequence[NewDelivery],
        until: datetime | None = None,
        *,
        valid: bool = True,
    ) -> Released | None:
        """The last model step, the run's end and its deliveries; None when fenced. Open steps are closed.

        `until`: a failed run could do no more before then, so that planned work waits for it and counts no failure.
        Of a child the run that asked for it is told at once, and whether its answer is `valid`.
        """

    async def release(self, lane: Lane) -> None:
        """Give the lane back with its run unfinished: another claim resumes it."""
