"""Processes that an agent starts and that live on between its calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType, Protocol

from runtime.contract.people import Address, NodeId, RunId, SessionKey

ProcessId = NewType("ProcessId", str)


class ProcessState(StrEnum):
    """Stages of a process. The last four are final."""

    RUNNING = "running"
    STOPPING = "stopping"  # somebody wants it to end, and its node is yet to do that
    ENDED = "ended"  # it came to its own end
    STOPPED = "stopped"  # somebody ended it
    LATE = "late"  # its time was over
    LOST = "lost"  # it ended with its node


class ProcessEvent(StrEnum):
    """Things that befall a process."""

    EXIT = "exit"
    STOP = "stop"
    EXPIRE = "expire"
    LOSE = "lose"


@dataclass(frozen=True, slots=True)
class Starter:
    """The call that starts a process."""

    agent: str
    session: SessionKey
    room: Address
    run_id: RunId
    call_id: str


@dataclass(frozen=True, slots=True)
class Process:
    """A program that was started, on its node. `exit` is its exit code once it ended; `reason` says why, where it isn't its own."""

    id: ProcessId
    by: Starter
    node: NodeId
    command: str
    state: ProcessState
    started_at: datetime
    ended_at: datetime | None = None
    exit: int | None = None
    reason: str = ""

    @property
    def is_open(self) -> bool:
        return self.state in (ProcessState.RUNNING, ProcessState.STOPPING)


class ProcessBook(Protocol):
    """Rows of processes, as tools keep and read them. Errors: StoreError."""

    async def begin(self, command: str, by: Starter, most: int) -> Process:
        """Note one before it is started. Errors: ToolRetry where `most` of this conversation run already."""

    async def end(self, process: ProcessId, event: ProcessEvent, exit_code: int | None, reason: str = "") -> None:
        """Note the end of one that ran here."""

    async def found(self, name: str, session: SessionKey) -> Process | None:
        """One of this conversation, by its id or the end of it."""

    async def listed(self, session: SessionKey) -> Sequence[Process]:
        """Processes of this conversation, newest first."""

    async def stop(self, process: ProcessId, reason: str) -> bool:
        """Have one end on its node; false where it is over."""

    async def to_stop(self) -> Sequence[tuple[ProcessId, str]]:
        """Processes of this node that are to end, and why."""
