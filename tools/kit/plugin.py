"""A tool of an installed package that is made from settings of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from runtime.contract import Tool

TOOL_INTERFACE: Final = 1
"""Version of the interface that tools of packages are written for: it grows when one of them would have to be changed."""


@dataclass(frozen=True, slots=True)
class ToolPlugin:
    """Entry point for a tool with settings: `make` gets its table `[tools.settings.NAME]`, as `settings` reads it.

    `interface` is the version it was written for; a mismatch is told, and the tool isn't used.
    """

    make: Callable[[Any], Tool]
    settings: type[BaseModel] | None = None
    interface: int = TOOL_INTERFACE

    def made(self, table: Mapping[str, Any]) -> Tool:
        """The tool. Errors: whatever `make` raises; pydantic's for a table that doesn't fit."""
        return self.make(self.settings.model_validate(table) if self.settings else table)
