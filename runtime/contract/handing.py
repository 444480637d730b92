"""Work that one agent hands to another: an order, and the child that carries it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from runtime.contract.people import Json, RunId

DEADLINE: Final = timedelta(minutes=10)
"""Time of an order that says nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Work for another agent. `files` are paths in the folder of the room; `schema` is one that a JSON answer must fit.

    `awaits`: the run that gives it waits for its end; else that is told in its conversation. `time` bounds it.
    """

    agent: str
    goal: str
    criteria: str = ""
    files: tuple[str, ...] = ()
    schema: Mapping[str, Json] = field(default_factory=dict)
    awaits: bool = True
    time: timedelta = DEADLINE


Hands = Callable[[Mapping[str, Json]], Sequence[Order]]
"""Reads the orders of a call. Errors: ToolRetry for arguments that are none."""


class ChildState(StrEnum):
    """Stages of a child. A run of it may still come to its end after it is over."""

    OPEN = "open"  # its run waits, works or is parked
    DONE = "done"  # it answered
    FAILED = "failed"  # it ended with words about what went wrong
    STOPPED = "stopped"  # a person or its parent ended it
    LATE = "late"  # its time was over


@dataclass(frozen=True, slots=True)
class Child:
    """A run that another one asked for. `chain` names the agents above it, the first one first; `id` is also its run's.

    `schema`: see `Order`. `valid`: its answer fits. `answered`: its words, once it is over.
    """

    id: RunId
    agent: str
    chain: tuple[str, ...]
    goal: str
    schema: Mapping[str, Json]
    state: ChildState
    deadline: datetime
    answered: str = ""
    valid: bool = True
    created_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def depth(self) -> int:
        """Levels above it."""
        return len(self.chain)
