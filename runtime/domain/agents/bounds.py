"""Bounds of a conversation that `signalbox ask` begins: fewer tools, and another model. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from runtime.contract import HAND_OVER, Address
from runtime.domain.agents.capabilities import fits
from runtime.domain.agents.globs import ANYTHING

if TYPE_CHECKING:
    from runtime.contract import ToolSpec

BOUNDED_ROOM: Final = "bounded"
"""Begins the names of rooms with bounds: of others nothing is looked up, and in one of these nobody works without them."""


BOUNDED_NAME: Final = re.compile(BOUNDED_ROOM + "[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Bounds:
    """`tools` are globs of names; `model` is empty for the usual one."""

    tools: tuple[str, ...] = (ANYTHING,)
    model: str = ""

    @property
    def narrows(self) -> bool:
        return ANYTHING not in self.tools

    def allows(self, tool: ToolSpec) -> bool:
        """True if a tool may be called. One that hands work on may not: an agent without these bounds would do it."""
        if not self.narrows:
            return True
        return tool.hands is None and tool.name != HAND_OVER and fits(tool.name, self.tools)

    def as_text(self) -> str:
        return json.dumps({"tools": list(self.tools), "model": self.model})


def bounds_in(text: str) -> Bounds | None:
    """Bounds as `as_text` wrote them; None for anything else."""
    try:
        told = json.loads(text)
    except ValueError:
        return None
    match told:
        case {"tools": [*tools], "model": str(model)} if all(isinstance(one, str) for one in tools):
            return Bounds(tuple(tools), model)
        case _:
            return None


def is_bounded(address: Address) -> bool:
    """True for a room that `ask` named, and for none that people or platforms name."""
    return bool(BOUNDED_NAME.fullmatch(address.room))


def unmatched(globs: Iterable[str], names: Mapping[str, object] | Iterable[str]) -> list[str]:
    """Globs that fit none of the names.

    >>> unmatched(["web_*", "shel"], ["web_search", "shell"])
    ['shel']
    """
    known = list(names)
    return [glob for glob in globs if not any(fits(name, [glob]) for name in known)]
