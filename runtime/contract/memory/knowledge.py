"""Passages of documents that operators gave, with the place to cite."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from runtime.contract.memory.facts import MemoryActor
from runtime.contract.people import Address


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document. `place` is its path in the pack's folder or its URL; lines count from 1."""

    pack: str
    place: str
    title: str
    heading: str
    first_line: int
    last_line: int
    text: str
    score: float
    is_outside: bool = False  # a page, whose words are somebody else's
    id: str = ""

    @property
    def cited(self) -> str:
        """As an answer names it: `handbook/leave.md, lines 10-32`."""
        lines = (
            f"line {self.first_line}"
            if self.first_line == self.last_line
            else f"lines {self.first_line}-{self.last_line}"
        )
        return f"{self.place}, {lines}"


class KnowledgeBook(Protocol):
    """Packs of documents, for tools and commands."""

    def packs(self, agent: str, room: Address | None) -> Sequence[str]:
        """Names of the packs that an agent may search in a room."""

    async def search(
        self, query: str, packs: Collection[str], limit: int = 5, *, by: MemoryActor | None = None
    ) -> Sequence[Passage]:
        """The best passages of these packs, best first. A search by meaning counts in the budgets of `by`."""
