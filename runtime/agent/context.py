"""Builds a model's request from the rows of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runtime.contract import ModelRequest, OpenFile, ToolSpec, Turn
from runtime.domain.transcript import repair


@dataclass(frozen=True, slots=True)
class Partitions:
    """Named parts of a request. Texts stand in this order: the longer one lasts, the further up it is, so that a vendor's
    prompt cache hits. Only the history may be cut to a budget."""

    system: str
    skills: str
    memory: str
    working: str
    history: Sequence[Turn]

    @property
    def prompt(self) -> str:
        return "\n\n".join(filter(None, (self.system, self.skills, self.memory, self.working)))


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens that a request may take; without them it has no bound."""

    tokens: int | None = None


UNBOUNDED: Final = Budget()


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of a run that its next request is made of. `system` is its agent's prompt for the room."""

    system: str
    tools: Sequence[ToolSpec]
    files: OpenFile | None = None
    skills: str = ""
    memory: str = ""
    working: str = ""


def build(run: RunFacts, turns: Sequence[Turn], budget: Budget) -> ModelRequest:
    """Build the request for `turns`, as the store has them; a strict provider accepts it."""
    parts = partitions(run, turns, budget)
    return ModelRequest(parts.prompt, parts.history, run.tools, run.files)


def partitions(run: RunFacts, turns: Sequence[Turn], budget: Budget) -> Partitions:
    """The parts of that request. Every budget is unbounded so far, so the history is whole."""
    return Partitions(run.system, run.skills, run.memory, run.working, repair(turns))
