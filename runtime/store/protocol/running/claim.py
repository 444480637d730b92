"""A run as its owner works on it: claimed, recorded step by step, and given up."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, tzinfo
from enum import StrEnum
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from runtime.contract import Address, Call, Child, DeliveryId, Effect, FileRef, Job, Order, Person, RunId, TaskId, Turn
from runtime.domain.runs import StepState
from runtime.domain.transcript import WAITING_FOR_APPROVAL
from runtime.policy.budgets import Allowance
from runtime.policy.grants import GrantId
from runtime.store.protocol.leases import Lane
from runtime.store.protocol.running.conversations import NOTHING_AROUND, Around


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
        if self.job:
            return self.job.task.chain
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
