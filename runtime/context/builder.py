"""Builds a model's request from the rows of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from runtime.context.condensing import Step, condense
from runtime.context.sizes import ToolSizes, of_text, of_turns
from runtime.context.summaries import stands_for
from runtime.contract import AssistantTurn, Effect, ModelRequest, OpenFile, ToolSpec, Turn
from runtime.domain.transcript import repair
from runtime.store.protocol import History

SHORT_PART: Final = 0.35
"""Of the window. No token is less than a character, so that a conversation of fewer characters has room in any case."""


LONG_TURNS: Final = 800
"""A conversation of so many turns is summarised as well: to read them takes time for each message."""


@dataclass(frozen=True, slots=True)
class Partitions:
    """Named parts of a request, in this order: the longer one lasts, the further up it is, so that a vendor's prompt cache
    hits; `working` stands behind the history. Only that is cut to a budget: `step` tells how far, and `is_bare` that what is
    left says too little. `tokens` is the size of the whole request before, as its vendor counts, and `sent` after, as we
    do; 0 without a budget."""

    system: str
    skills: str
    memory: str
    history: Sequence[Turn]
    working: str
    step: Step = Step.WHOLE
    tokens: int = 0
    sent: int = 0
    is_bare: bool = False

    @property
    def prompt(self) -> str:
        return "\n\n".join(filter(None, (self.system, self.skills, self.memory)))

    def request(self, run: RunFacts) -> ModelRequest:
        """The request that these are parts of."""
        return ModelRequest(self.prompt, self.history, run.tools, run.files, working=self.working)


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens that a request may take; without them it has no bound. `scale`: how many a vendor counts for one of ours."""

    tokens: int | None = None
    scale: float = 1.0


UNBOUNDED: Final = Budget()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of a run that its next request is made of. `system` is its agent's prompt for the room; `withheld` says of each
    tool that is not among `tools` why not."""

    system: str
    tools: Sequence[ToolSpec]
    files: OpenFile | None = None
    skills: str = ""
    memory: str = ""
    working: str = ""
    withheld: Mapping[str, str] = field(default_factory=dict)


TOOL_SIZES: Final = ToolSizes()


def build(run: RunFacts, history: History, budget: Budget) -> ModelRequest:
    """Build the request for a conversation, as the store has it; a strict provider accepts it."""
    return partitions(run, history, budget).request(run)


def partitions(run: RunFacts, history: History, budget: Budget, whole: Collection[int] = ()) -> Partitions:
    """The parts of that request. `whole` are the indices of turns that are cut last."""
    window = None if budget.tokens is None else int(budget.tokens / budget.scale)
    standing = stands_for(history.summary, window) if history.summary else []
    turns = repair([*standing, *history.turns] if standing else history.turns)
    if budget.tokens is None or window is None:
        return Partitions(run.system, run.skills, run.memory, turns, run.working)
    taken = (
        of_text(run.system)
        + (of_text(run.skills) if run.skills else 0)
        + of_text(run.working)
        + TOOL_SIZES.of(run.tools)
    )
    reads = frozenset(tool.name for tool in run.tools if tool.effect is Effect.READ)
    taken += of_turns(standing)
    cut = condense(history.turns, window, taken, reads, whole)
    kept = repair([*standing, *cut.turns]) if cut.step else turns
    sizes = int((taken + cut.before) * budget.scale), taken + (of_turns(cut.turns) if cut.step else cut.before)
    return Partitions(run.system, run.skills, run.memory, kept, run.working, cut.step, *sizes, cut.is_bare)


def may_be_full(history: History, window: int) -> bool:
    """True if the size of the conversation is worth a closer look, as it is of few."""
    return history.summary is not None or is_long(history) or not is_short(history.turns, window)


def is_long(history: History) -> bool:
    """True if the conversation has so many turns that to read them takes its time."""
    return len(history.turns) >= LONG_TURNS


def is_short(turns: Sequence[Turn], window: int) -> bool:
    """True if `turns` fit in any case: as most conversations do, which are looked at no further."""
    letters = 0
    for turn in turns:
        letters += len(turn.text)
        if isinstance(turn, AssistantTurn):
            letters += sum([len(call.arguments) for call in turn.calls])
    return letters < window * SHORT_PART and not any(getattr(turn, "files", ()) for turn in turns)
