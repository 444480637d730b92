"""Taking signals in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from runtime.chat.views.context import Measured
from runtime.chat.views.skills import NO_SKILLS_HERE
from runtime.contract import (
    Address,
    ApprovalId,
    Busy,
    Outcome,
    RunId,
    SessionKey,
    Signal,
    SignalId,
    Verdict,
)
from runtime.domain.agents.binding import Binding
from runtime.domain.agents.manifest import Manifest
from runtime.domain.approvals import Rights
from runtime.domain.goals.contract import GoalBounds
from runtime.domain.routing import BusyRules, RoomRules
from runtime.domain.skills.skill import Skill
from runtime.domain.triggers.matching import MessageTriggers
from runtime.domain.workflows.definition import Workflow
from runtime.store.protocol.approvals import Changed
from runtime.store.protocol.leases import Lease
from runtime.store.protocol.outbox import KeptRoom, OpenDelivery
from runtime.store.protocol.running.claim import Claim
from runtime.store.protocol.running.conversations import Conversed
from runtime.text.words import say


async def unmeasured(conversed: Conversed) -> Measured | None:
    """Answer of a place where no agent is at work."""
    return None


Measure = Callable[[Conversed], Awaitable[Measured | None]]
"""Measures what would be sent for the next message of a conversation."""


@dataclass(frozen=True, slots=True)
class SkillAnswer:
    """Answer to a command about skills. With `accepts` it holds once an owner's command accepted that skill."""

    text: str
    accepts: Skill | None = None
    skill_text: str = ""


async def no_skills(agent: str, command: str, argument: str, mark: str) -> SkillAnswer:
    """Answer of a place where no agent is at work."""
    return SkillAnswer(say(NO_SKILLS_HERE))


AskSkills = Callable[[str, str, str, str], Awaitable[SkillAnswer]]
"""Answers a command about an agent's skills: its name, the command, what stands behind it, and the mark of commands."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Settings that acceptance needs.

    `agent` is the name of the one who is spoken to where none of the other `agents` is: by `bindings`, or since people chose or
    named it. `open_to_all` makes an unknown person a user at once; else `pairs` sends whoever writes directly a code. A bot that may
    speak is answered at most `bots_in_a_row` times in one conversation without a person in between. A message older than
    `freshness` is not run. `model`, the names of further `models`, `trouble`, what is wrong with an account, `packs`, which
    documents an agent may search in a room, `measure` and `skills` are told by commands. `workflows` may be started by their names; `goals`
    bounds those that people set.
    `triggers` are those for which messages are looked through; None where there are none, so that nothing is asked.
    """

    open_to_all: bool
    busy: Busy
    rights: Rights
    agent: str
    same_words_within: timedelta = timedelta(seconds=60)
    pairs: bool = False
    rooms: RoomRules = field(default_factory=RoomRules)
    bots_in_a_row: int = 5
    freshness: timedelta = timedelta(hours=24)
    model: str = ""
    models: tuple[str, ...] = ()
    agents: tuple[Manifest, ...] = ()
    bindings: tuple[Binding, ...] = ()
    trouble: Callable[[Address], str | None] = field(default=lambda _: None, compare=False)
    packs: Callable[[str, Address], Sequence[str]] = field(default=lambda agent, room: (), compare=False)
    measure: Measure = field(default=unmeasured, compare=False)
    skills: AskSkills = field(default=no_skills, compare=False)
    workflows: Mapping[str, Workflow] = field(default_factory=dict)
    goals: GoalBounds = field(default_factory=GoalBounds)
    triggers: MessageTriggers | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A parked run that a person stopped. `planned`: it worked for an instant of a schedule."""

    run: RunId
    planned: bool


@dataclass(frozen=True, slots=True)
class Taken:
    """Result of `accept`: the verdict, and what to wake: a session's lane, runs to stop, addresses with deliveries.

    `ended`: runs that waited for people and are over now. `claim`: the lane was idle, so the run began in the same commit; whoever made the offer works on it.
    `settled`: see `Decided`. `change`: that of a card in the room that was kept, where nothing else waits. `compacts`: a conversation
    is to be condensed. `remembers`: something is kept now where perhaps nothing was. `fired`: triggers began work.
    """

    verdict: Verdict
    session: SessionKey | None = None
    lane_ready: bool = False
    stop_runs: tuple[RunId, ...] = ()
    deliveries: tuple[Address, ...] = ()
    claim: Claim | None = None
    ended: tuple[Ended, ...] = ()
    settled: tuple[ApprovalId, ...] = ()
    change: OpenDelivery | None = None
    compacts: bool = False
    remembers: bool = False
    fired: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """A node with room for one more run: a message for an idle session begins there at once."""

    lease: Lease
    busy: Busy | BusyRules


Accept = Callable[[Offer | None], Awaitable[Taken]]
"""Takes one signal in; with an offer, its run may begin in the same commit."""

TakeIn = Callable[[Accept], Awaitable[Taken]]
"""Has a message taken in, with an offer to begin with it at once where there is one to make: see `Dispatch.take_in`."""


def ignored() -> Taken:
    """It is none of the agent's business: nothing is stored."""
    return Taken(Verdict(Outcome.IGNORED, SignalId("")))


class Intake(Protocol):
    async def accept(
        self,
        signal: Signal,
        gate: Gate,
        offer: Offer | None = None,
        changed: Changed | None = None,
        kept: KeptRoom | None = None,
    ) -> Taken:
        """Gate, dedupe and queue a message, or decide a click, stop or command. `changed` is the call of an edit's form; what
        a click changes in the room that is `kept` is told. Nothing of a refused signal's text is kept, and of an ignored one
        nothing at all."""
