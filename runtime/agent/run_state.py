"""State of a run at work, and what ends that work before its time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from runtime.agent.guard import LoopGuard
from runtime.agent.registry import Agent
from runtime.context.builder import RunFacts
from runtime.contract import Attach, CallKey, FileRef, Model, OwnWords, ToolContext, ToolSpec, Turn
from runtime.policy.budgets import Allowance
from runtime.policy.taint import Known
from runtime.store.protocol import Board, Claim, History, ToolStep

if TYPE_CHECKING:
    from runtime.agent.duties.skilled import Given

T = TypeVar("T")
MADE_ROUNDS_MAX: Final = 10_000
"""Answers of a maker: more than the longest workflow needs."""


class Dropped(Exception):
    """The lane is not surely ours any more: whoever owns it goes on, and we say nothing more."""


class Ended(Exception):
    """A person asked that this run ends. `after` is the tool whose end it waited for, if there was one."""

    def __init__(self, after: str = "") -> None:
        super().__init__(after)
        self.after = after


class Maker(Model, Protocol):
    """Speaks in place of the model, by rules alone: each of its runs comes to an end, and it must read all that was called.

    One that `goes_on` is asked again as soon as one of its calls is over, while others are waited for. A reply without calls and
    words then says that it waits.
    """

    @property
    def goes_on(self) -> bool: ...

    def recall(self, turns: Sequence[Turn]) -> None:
        """Look at what was called before. It is told so ahead of calls that another process began, and before it speaks."""

    def is_fixed(self, call: str) -> bool:
        """Tell whether all words of a call, by its id, are those of people who wrote the rules."""

    def limit(self, call: str) -> timedelta | None:
        """The time that the rules give a call; None for its tool's own."""

    def repeated(self, call: str) -> CallKey | None:
        """The call of an earlier run that this one is made again for, if nobody knows what came of that."""


@dataclass(slots=True)
class LiveRun:
    """A claim, the agent it is for, how many model calls the run made, and the number of its next step.

    `turns` came along with the claim, for its first model call. `stopped` is set when a person ends it; `cuts` are the
    waits that end with it at once. `files` are what its tools put onto its reply so far, and `said` is the text that the
    model call at work has written. `is_full`: its conversation will soon need a summary. `has_ended`: its lane was given up.
    `model` is the one that it began with: all its calls go there. `long`: words for whoever sent what is too large to be
    read at once. `guard` judges its calls, once it makes one; `warnings` stand behind the results of those that it warned
    about, by id. `board` are the questions of its conversation, once they were looked at, and `facts` those of its last
    model call. `allowance` is for its next one, where budgets are set. `lapsed` are calls that are asked about after all.
    `handed`: a call of it is in the hands of others. `corrected`: its answer was sent back once.
    `remembered` are the memories that it was given, and `skills` its skills, once they were looked for. `maker` speaks in place of
    its model. `asked` are calls that people are still to be asked about, and `awaits`: some that it made are not over;
    `watches`: for one of them an event is waited for. `goes_on` is its maker's. `told_at` is when a tool last said how far it
    is, by the loop's clock.
    `history` is what the model read last, and `known` what that says of where text came from, once a call asked for it.
    """

    claim: Claim
    agent: Agent
    iterations: int
    next_step: int
    turns: Sequence[Turn] | None = None
    stopped: bool = False
    cuts: set[asyncio.Timeout] = field(default_factory=set)
    files: list[FileRef] = field(default_factory=list)
    said: str = ""
    is_full: bool = False
    has_ended: bool = False
    long: list[str] = field(default_factory=list)
    guard: LoopGuard | None = None
    warnings: dict[str, str] = field(default_factory=dict)
    board: Board | None = None
    facts: RunFacts | None = None
    model: str = ""
    allowance: Allowance | None = None
    lapsed: list[ToolStep] = field(default_factory=list)
    history: History | None = None
    known: Known | None = None
    handed: bool = False
    corrected: bool = False
    own_call: str = ""
    remembered: str | None = None
    skills: Given | None = None
    maker: Maker | None = None
    asked: list[ToolStep] = field(default_factory=list)
    awaits: bool = False
    goes_on: bool = False
    watches: bool = False
    told_at: float = 0.0

    def stop(self) -> None:
        """A person ends this run: what may be cut ends at once."""
        self.stopped = True
        for cut in self.cuts:
            cut.reschedule(0)  # a moment long past: it expires now

    def context(
        self,
        call_id: str,
        attach: Attach,
        tools: Callable[[], Sequence[ToolSpec]],
        own_words: OwnWords,
        tell: Callable[[str], None],
    ) -> ToolContext:
        """Surroundings of a call of it."""
        claim = self.claim
        return ToolContext(
            self.agent.workspaces.folder(claim.address),
            claim.lane.session,
            claim.run_id,
            call_id,
            claim.address,
            claim.requester,
            attach,
            scheduled=claim.job is not None,
            tools=tools,
            agent=self.agent.name,
            is_child=claim.child is not None,
            own_words=own_words,
            memory=self.agent.manifest.memory,
            tell=tell,
            above=claim.above,
            repeats=self.maker.repeated(call_id) if self.maker else None,
        )

    def obey(self, stop: bool, *, after: str = "") -> None:
        """Errors: Ended where a person ended the run, here or, as the store says by `stop`, elsewhere."""
        if stop or self.stopped:
            raise Ended(after)

    async def unless_stopped(self, work: Awaitable[T]) -> T:
        """The outcome of `work`, which is cancelled at once when a person stops the run. Errors: Ended."""
        cut = asyncio.timeout(None)
        try:
            async with cut:
                self.cuts.add(cut)
                if self.stopped:  # since we last looked
                    cut.reschedule(0)
                return await work
        except TimeoutError:
            if cut.expired():
                raise Ended from None
            raise
        finally:
            self.cuts.discard(cut)


def own(written: T | None) -> T:
    """The outcome of an owner's write. Errors: Dropped when its fence was refused."""
    if written is None:
        raise Dropped
    return written
