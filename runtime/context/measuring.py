"""Sizes of a request by its partitions, whatever these are. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

from runtime.context.builder import Partitions
from runtime.context.sizes import of_text, of_tool, of_turns
from runtime.contract import ModelRequest, ToolSpec, Turn

TOOLS: Final = "tools"
"""The partition that is no text of its own: the schemas of the tools that are offered."""


@dataclass(frozen=True, slots=True)
class Preview:
    """Request to a model for the next message of a conversation. `scale`: tokens of its vendor for one of ours."""

    agent: str
    model: str
    window: int
    source: str
    parts: Partitions
    request: ModelRequest
    scale: float = 1.0
    spare: int = 0

    @property
    def sizes(self) -> dict[str, int]:
        """Tokens by partition, as the vendor counts."""
        ours = by_partition(self.parts, self.request.tools)
        return {name: round(tokens * self.scale) for name, tokens in ours.items()}


def by_partition(parts: Partitions, tools: Sequence[ToolSpec]) -> dict[str, int]:
    """Tokens of each text and of each list of turns in `parts`, by its name there, and of `tools`."""
    sizes = {field.name: _size(getattr(parts, field.name)) for field in fields(parts)}
    return {name: size for name, size in sizes.items() if size is not None} | {TOOLS: sum(map(of_tool, tools))}


def texts_of(parts: Partitions) -> dict[str, str]:
    """The texts of `parts` that are not empty, by their names."""
    named = ((field.name, getattr(parts, field.name)) for field in fields(parts))
    return {name: value for name, value in named if isinstance(value, str) and value}


def _size(value: object) -> int | None:
    """Tokens of a partition; None for what is none."""
    match value:
        case str():
            return of_text(value) if value else 0
        case list() | tuple():
            return of_turns(turn for turn in value if isinstance(turn, Turn))
        case _:
            return None
