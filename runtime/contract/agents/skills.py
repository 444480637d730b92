"""Skills that agents propose, as tools know them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from runtime.contract.calls import Caller
from runtime.contract.models import CallKey


@dataclass(frozen=True, slots=True)
class Proposal:
    """A new skill, or another form of one. `text` is its SKILL.md, `files` others by path, and `removed` those that go.

    `base` begins the hash of the form that it changes; empty for a new one. Files that it doesn't name stay as they are.
    """

    name: str
    text: str
    files: Mapping[str, str] = field(default_factory=dict)
    removed: Sequence[str] = ()
    base: str = ""


@dataclass(frozen=True, slots=True)
class ShownProposal:
    """A proposal as its card needs it: `said` beside its name, texts as they are by path, its description, and what stands out.

    `text` is the SKILL.md that is there; None where there is none.
    """

    said: str = ""
    text: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    warned: Sequence[str] = ()


class Proposals(Protocol):
    """Skills as they are, and as they are proposed to be."""

    async def objection(self, proposal: Proposal, by: Caller) -> str:
        """Everything for which nobody is asked about such a proposal; empty where an owner is."""

    def shown(self, proposal: Proposal) -> ShownProposal:
        """Words and texts for its card. Blocks."""

    async def install(self, proposal: Proposal, by: Caller, call: CallKey) -> str:
        """Write it and accept it, as an owner approved; words about what is there now. Errors: ToolFailed, and then nothing is."""


class ProposalUndo(Protocol):
    """The way back from a proposal that was written."""

    def kept(self, proposal: Proposal, agent: str) -> str | None:
        """All that it needs, before `agent`'s proposal is written; None where there is no way back. Blocks."""

    async def take_back(self, kept: str, call: CallKey) -> str:
        """Bring back the form before, or remove the skill that was new; words about what is there now. Errors: ToolFailed."""
