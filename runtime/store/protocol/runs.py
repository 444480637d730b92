"""Sessions at work: runs, their steps, and what they hand to the outbox."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Final, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from runtime.chat.audience import Audience
from runtime.chat.views.context import Remembered
from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Busy,
    Call,
    Child,
    Content,
    DeliveryId,
    Effect,
    FileRef,
    Job,
    Kind,
    ModelReply,
    NodeId,
    Order,
    Person,
    PersonId,
    Receipt,
    RunId,
    SessionKey,
    SignalId,
    TaskId,
    Turn,
    Usage,
    Wire,
)
from runtime.domain.agents.delegation import Brood
from runtime.domain.agents.order_budgets import Purse
from runtime.domain.approvals import Rights
from runtime.domain.routing import BusyRules
from runtime.domain.runs import RunState, StepState
from runtime.domain.transcript import WAITING_FOR_APPROVAL
from runtime.domain.triggers.kept import KeptTrigger
from runtime.policy.budgets import Allowance
from runtime.policy.grants import GrantId, Sought
from runtime.policy.limits import Limit
from runtime.policy.modes import Mode
from runtime.policy.terms import PLAIN, Terms
from runtime.store.protocol.forms import Forms
from runtime.store.protocol.leases import Duty, Lane, Lease
from runtime.store.protocol.modes import Modes


class SummaryKind(StrEnum):
    MODEL = "model"  # written by one
    EXTRACT = "extract"  # a line a turn: the model's was of no use
    HANDOFF = "handoff"  # the conversation began anew with it


@dataclass(frozen=True, slots=True)
class Summary:
    """Text that a model reads in place of turns up to number `upto`, in a conversation that began with number `since`.

    `request` is the first one of the conversation, and `facts` what must outlive its turns (JSON, see `context.digest`).
    Sizes are in tokens, as estimated: of what was condensed, and of what it became.
    """

    since: int
    upto: int
    kind: SummaryKind
    text: str
    request: str
    facts: str
    model: str = ""
    tokens_before: int = 0
    tokens_after: int = 0

    @property
    def open(self) -> list[tuple[int, int]]:
        """Numbers of calls behind it that waited when it was made, and of their results: they are read as they are now."""
        return [(call, result) for call, result in json.loads(self.facts or "{}").get("open", ())]


@dataclass(frozen=True, slots=True)
class History:
    """A conversation as a run knows it, from turn `since` on: what was condensed, and the turns after. `numbers` are theirs.

    The first `carried` turns are calls from further back, with their results, that waited when that was condensed. `open`
    are the numbers of turns whose content may still change, since a call waits there. `runs` and `at` tell the run of each
    turn and when it was said, in microseconds; `before_at` when the one before was that follows those carried, 0 for none.
    """

    turns: Sequence[Turn]
    since: int = 0
    numbers: Sequence[int] = ()
    summary: Summary | None = None
    open: frozenset[int] = frozenset()
    runs: Sequence[str] = ()
    at: Sequence[int] = ()
    before_at: int = 0
    carried: int = 0


@dataclass(frozen=True, slots=True)
class Heard:
    """Words of a conversation that decide about its calls: `outside` are the beginnings of turns that hold a text from
    outside, and `approved` the arguments of calls that people approved."""

    outside: Sequence[str] = ()
    approved: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Counted:
    """Tokens that a vendor counted for a request, and the number of the turn that answered it."""

    tokens: int
    answered_by: int


@dataclass(frozen=True, slots=True)
class Conversed:
    """A conversation as its next message will find it, by the person for whom its newest run worked. `names` are theirs."""

    session: SessionKey
    agent: str
    address: Address
    history: History
    remembered: Remembered
    requester: Person | None
    names: frozenset[str]
    around: Around


@dataclass(frozen=True, slots=True)
class Compacting:
    """A conversation that a person wants condensed, by the command's signal. `run` is where its cost belongs; None without one.

    `asker` is None where nobody knows them any more.
    """

    signal: SignalId
    session: SessionKey
    agent: str
    address: Address
    since: int
    run: RunId | None
    asker: Person | None = None


@dataclass(frozen=True, slots=True)
class ToolStep:
    """One tool call of a run. `turn` is the number of the turn that holds its result. `is_asked`: a question about it is open."""

    number: int
    call: Call
    effect: Effect
    arguments_hash: str
    state: StepState
    turn: int
    caution: str = ""
    is_asked: bool = False


@dataclass(frozen=True, slots=True)
class Ordered:
    """An order, and the words with which its child begins."""

    order: Order
    words: str


@dataclass(frozen=True, slots=True)
class HandOver:
    """A conversation that the call of a run hands over to `agent`, with `text` for it. `may` are those to which it may."""

    run: RunId
    call: str
    agent: str
    text: str
    may: tuple[str, ...] = ()


class HandedOver(StrEnum):
    """Outcome of a hand-over."""

    DONE = "done"
    SUSPENDED = "suspended"  # that agent answers once it is resumed
    ENDED = "ended"  # that agent answers nobody any more
    NOT_ALLOWED = "not allowed"
    NO_CONVERSATION = "no conversation"  # the run talks with nobody


@dataclass(frozen=True, slots=True)
class Around:
    """Facts around a run, as of its claim: the zones of its requester and its room, the mode of its conversation, whether
    the room is a private one of somebody, and how many other runs of the session wait for people or go on after that."""

    zone: str = ""
    room_zone: str = ""
    mode: Mode = Mode.NORMAL
    private: bool = False
    parked: int = 0


NOTHING_AROUND: Final = Around()


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """A question that waits, for a line in the agent's dashboard. `whom`: those who alone may decide, where a rule says so."""

    tool: str
    arguments: str
    at: datetime
    requester: str = ""
    whom: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SettledCall:
    """A question that was settled: `state` is the word of what became of it, `by` who said so and `reason` why."""

    tool: str
    arguments: str
    state: str
    at: datetime
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Board:
    """Questions of a conversation: those that wait, oldest first, and the last that were settled, newest first."""

    waiting: tuple[WaitingCall, ...] = ()
    settled: tuple[SettledCall, ...] = ()


NO_BOARD: Final = Board()


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """A task that a run works on, while nobody in its room waits. `chain` are the agents who had it posted."""

    id: TaskId
    title: str
    chain: tuple[str, ...] = ()
    goal: str = ""
    criteria: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """A run to work on. `resumed` tells that it has been worked on before; `steps` are its tool steps not done yet.

    `iterations` counts its model calls so far, `next_step` is the number of its next step. `overtaken`: other runs of
    the session wrote turns while this one was parked. `names`: the requester's name and identities, for policy. `crashes`:
    how often a process ended under it since its last recorded step. `turns`: the transcript as of now where it is short
    enough to come along, None where it must be read. `reply_to`: the wire's id of the message that began it. `since`:
    the number of the first turn that it knows. `job`: it works for an occurrence of a schedule, not for a message.
    `files`: what its tools put onto its reply so far. `agent`: the name of the one whose session it is. `model`: the one
    that it began with, and `wanted` the one that people chose for the conversation. `around`: what else is
    so where it works. `allowance`: for its next call, where budgets are set. `child`: another run asked for it.
    `task`: it works on that in the background. `handed_by`: agents who handed the conversation over, one to the next.
    """

    lane: Lane
    agent: str
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
    model: str = ""
    wanted: str = ""
    around: Around = NOTHING_AROUND
    allowance: Allowance | None = None
    child: Child | None = None
    task: BackgroundTask | None = None
    handed_by: tuple[str, ...] = ()

    @property
    def above(self) -> tuple[str, ...]:
        """Agents who had this done, the first one first: the run may do no more than each of them."""
        return self.child.chain if self.child else self.task.chain if self.task else self.handed_by

    @property
    def spoken_to(self) -> str:
        """The agent with which people speak where it works: a child goes by the modes of that one's conversation."""
        return self.child.chain[0] if self.child else self.agent

    @property
    def clocks(self) -> tzinfo:
        """Clocks of its requester, else of its room, as far as this machine knows their zone."""
        for zone in filter(None, (self.around.zone, self.around.room_zone)):
            with suppress(ZoneInfoNotFoundError, ValueError):
                return ZoneInfo(zone)
        return UTC


@dataclass(frozen=True, slots=True)
class NewStep:
    """A call as policy sorted it: open, asked, or done at once with `result` (denied, refused).

    One that is open by a `grant` uses it as it is recorded; where nothing of that is left, it is asked about.
    `meanwhile` is what the model reads in place of a result that is not there yet.
    `unasked`: who is trusted, where the mode of its conversation let it run in place of a question. `guard`: "warned" or
    "refused" where the loop guard spoke.
    """

    call: Call
    effect: Effect
    arguments_hash: str
    state: StepState
    result: str = ""
    caution: str = ""
    meanwhile: str = WAITING_FOR_APPROVAL
    grant: GrantId | None = None
    unasked: str = ""
    guard: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An owner's write went in. `stop`: a person wants the run to end. `waiting`: signals of which some may be steered in.

    `told`: rooms for which the store itself made a delivery. `allowance`: for its next model call, where budgets are set.
    `barred`: the call that was marked is not to be made, since its conversation is read-only by now. `lapsed`: it is not
    marked but asked about, since the trust that spared the question is over.
    """

    stop: bool = False
    waiting: int = 0
    steps: tuple[ToolStep, ...] = ()
    told: tuple[Address, ...] = ()
    allowance: Allowance | None = None
    barred: bool = False
    lapsed: bool = False


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
    stands there before is what its courier knows; if that is wrong, `rendered` is not taken up. `ranks_as` is the kind
    whose place in the room it takes, where that isn't its own.
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
    ranks_as: Kind | None = None


@dataclass(frozen=True, slots=True)
class Previewed:
    """The preview of a run: `begun` by this very commit, or there before, with its receipt if it is on screen."""

    id: DeliveryId
    begun: bool = False
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class Further:
    """One more call that the card of a `Question` asks about, on its terms."""

    id: ApprovalId
    step: int
    caution: str
    shown: str


@dataclass(frozen=True, slots=True)
class Question:
    """An approval to be asked, with its card and `copies` of it for other rooms.

    `request` is a line of what led to it, `shown` (JSON) how the call is shown. `further` are the other calls on its card.
    `private` are private chats of those asked, each with the mark before a command there.
    """

    id: ApprovalId
    kind: ApprovalKind
    step: int
    expires_at: datetime
    policy_version: str
    caution: str
    card: NewDelivery
    terms: Terms = PLAIN
    requester_name: str = ""
    request: str = ""
    shown: str = ""
    copies: tuple[NewDelivery, ...] = ()
    next_call_at: datetime | None = None
    further: tuple[Further, ...] = ()
    private: Mapping[Address, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Released:
    """A run gave its lane up. `more`: the lane is ready again.

    `begun`: of the new deliveries those that came rendered and whose first part is marked now, or all of it shown.
    `told`: rooms for which the store itself made a delivery. `planned`: it worked for an instant of a schedule. `woken`:
    the lane of the run that had asked for it is ready.
    """

    more: bool
    begun: frozenset[DeliveryId] = frozenset()
    told: tuple[Address, ...] = ()
    planned: bool = False
    woken: bool = False


@dataclass(frozen=True, slots=True)
class Below:
    """End of children: runs at work that get the mark, rooms whose cards changed, and whether a lane became ready."""

    live: Sequence[RunId] = ()
    told: Sequence[Address] = ()
    woken: bool = False


class Runs(Forms, Modes, Protocol):
    async def claim(self, lease: Lease, busy: Busy | BusyRules) -> Claim | None:
        """The next session's run, oldest first; None when no lane is ready or the node is dead."""

    async def claim_suspect(self, lease: Lease, busy: Busy | BusyRules, *, most: int) -> Claim | None:
        """A run under which processes died more than once; None when there is none, or another one is at work.

        One that `most` processes died under is written down as set aside: who claimed it ends it.
        """

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

    async def park(self, lane: Lane, run: RunId, questions: Sequence[Question]) -> Released | None:
        """Ask about every asked step, and give the lane up; None when fenced. Without questions it waits for children."""

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
