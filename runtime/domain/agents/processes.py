"""Processes of agents as a state machine. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runtime.contract.agents.processes import ProcessEvent, ProcessState

COMMAND_MAX_CHARS: Final = 8_000
"""Characters of a command that are kept."""
SHORT_ID_CHARS: Final = 6
"""The end of an id, by which models and people name a process."""
ENDED_WITH_NODE: Final = "It ended with its node: Signalbox was stopped or killed there."

# All moves are here and nowhere else. A state without a row is final.
PROCESS_MOVES: Final[Mapping[tuple[ProcessState, ProcessEvent], ProcessState]] = {
    (ProcessState.RUNNING, ProcessEvent.EXIT): ProcessState.ENDED,
    (ProcessState.RUNNING, ProcessEvent.STOP): ProcessState.STOPPING,
    (ProcessState.RUNNING, ProcessEvent.EXPIRE): ProcessState.LATE,
    (ProcessState.RUNNING, ProcessEvent.LOSE): ProcessState.LOST,
    (ProcessState.STOPPING, ProcessEvent.STOP): ProcessState.STOPPING,
    (ProcessState.STOPPING, ProcessEvent.EXIT): ProcessState.STOPPED,
    (ProcessState.STOPPING, ProcessEvent.EXPIRE): ProcessState.STOPPED,
    (ProcessState.STOPPING, ProcessEvent.LOSE): ProcessState.LOST,
}
