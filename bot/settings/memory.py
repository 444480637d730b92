"""`[memory]`: what agents keep beyond a conversation."""

from __future__ import annotations

from pydantic import Field

from runtime.settings.types import Section, Whole


class MemorySection(Section):
    """Memories of people, rooms and agents: [memory.md](memory.md)."""

    enabled: bool = Field(
        default=True, description="Agents can keep and recall facts. With `false` nothing is kept or read; rows stay."
    )
    given: Whole = Field(
        default=5, ge=0, le=20, description="Memories that a run is given unasked before its first model call, at most."
    )
    given_tokens: Whole = Field(default=2_000, ge=100, le=20_000, description="Tokens that those may take, estimated.")
    proposals: bool = Field(
        default=True,
        description="When a long conversation is summarised, up to 5 facts that people said are noted as proposals: "
        "`/memory` shows them, and nothing is given unasked before a person or a use accepts it.",
    )
