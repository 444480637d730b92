"""Life of an agent as a state machine. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

FAILURES_IN_A_ROW: Final = 5
"""Runs of an agent that failed one after another, after which it is suspended."""


class AgentState(StrEnum):
    RUNNING = "running"  # takes messages and works on them
    SUSPENDED = "suspended"  # messages for it wait as rows
    TERMINATED = "terminated"  # its rooms are answered by the usual agent


class AgentEvent(StrEnum):
    SUSPEND = "suspend"
    RESUME = "resume"
    TERMINATE = "terminate"


# All moves are here and nowhere else. A state without a row is final.
AGENT_MOVES: Final[Mapping[tuple[AgentState, AgentEvent], AgentState]] = {
    (AgentState.RUNNING, AgentEvent.SUSPEND): AgentState.SUSPENDED,
    (AgentState.RUNNING, AgentEvent.TERMINATE): AgentState.TERMINATED,
    (AgentState.SUSPENDED, AgentEvent.RESUME): AgentState.RUNNING,
    (AgentState.SUSPENDED, AgentEvent.TERMINATE): AgentState.TERMINATED,
}

PAST: Final[Mapping[AgentEvent, str]] = {
    AgentEvent.SUSPEND: "suspended",
    AgentEvent.RESUME: "resumed",
    AgentEvent.TERMINATE: "terminated",
}
"""How the audit writes what happened."""
