"""Workflows for tools: those that may be started, and the start of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from runtime.contract.agents.tasks import TaskActor


@dataclass(frozen=True, slots=True)
class OfferedFlow:
    """A workflow as a model reads of it. `inputs` have their defaults; None for one that must be given."""

    name: str
    about: str
    steps: int
    inputs: Mapping[str, Any]


class Workflows(Protocol):
    """Workflows of this process."""

    def offered(self) -> list[OfferedFlow]:
        """All of them, by name."""

    async def start(self, name: str, inputs: Mapping[str, Any], by: TaskActor, agent: str) -> str:
        """Begin one in the room of `by`, once for each `key`; its id. Errors: ToolRetry says what is wrong."""
