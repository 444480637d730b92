"""Tasks that agents post, claim and complete, and the checklist that a run shows of its own work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType, Protocol

from runtime.contract.people import Address, Person, RunId, SessionKey

TaskId = NewType("TaskId", str)


class TaskState(StrEnum):
    OPEN = "open"  # waits for a run that claims it
    CLAIMED = "claimed"  # leased to a run: it is given back where that ends without completing it
    DONE = "done"
    FAILED = "failed"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """A task as somebody wants it. With `agent` that one begins with it at once, else it waits on the room's list."""

    title: str
    goal: str
    input: str = ""
    criteria: str = ""
    agent: str = ""
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PostedTask:
    """A task as it stands. `agent`: the one it is for, or who posted it where that is anybody. `owner` has claimed it last.

    `attempts` counts the runs that claimed it. `result` is what the last of them said, or why it failed.
    `asks`: its run waits for people.
    """

    id: TaskId
    agent: str
    room: Address
    title: str
    goal: str
    input: str
    criteria: str
    state: TaskState
    posted_by: str
    owner: str
    run_id: RunId | None
    attempts: int
    due_at: datetime | None
    result: str
    created_at: datetime
    ended_at: datetime | None = None
    asks: bool = False


@dataclass(frozen=True, slots=True)
class TaskActor:
    """A run that does something with tasks: where it works, and for whom. `key` makes a repeat of a call the same one.

    `above` are the agents who had the one of the run work.
    """

    room: Address
    session: SessionKey
    run_id: RunId
    person: Person | None = None
    key: str = ""
    above: tuple[str, ...] = ()


class StepMark(StrEnum):
    """State of a step on a checklist."""

    TODO = "todo"
    DOING = "doing"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A line of a checklist."""

    text: str
    mark: StepMark = StepMark.TODO


class TaskBoard(Protocol):
    """Tasks of rooms, and checklists of runs, for tools. What is refused is a ToolRetry with words for the model."""

    async def post(self, wanted: TaskRequest, by: TaskActor) -> PostedTask:
        """Post a task. The same call again finds the one that it made."""

    async def listed(self, by: TaskActor, state: TaskState | None = None) -> list[PostedTask]:
        """Tasks of the room, newest first. At most 50."""

    async def claim(self, task: str, by: TaskActor) -> tuple[PostedTask, str]:
        """Lease a task to this run, by its id or the end of that; and the agent that wrote it, empty for this one."""

    async def complete(self, task: str, result: str, by: TaskActor, *, failed: bool = False) -> PostedTask:
        """End a task that this run has claimed."""

    async def plan(self, steps: Sequence[PlanStep], by: TaskActor) -> bool:
        """Show a run's checklist in its room, or change what stands there; False where nothing is new."""
