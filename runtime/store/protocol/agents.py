"""Life of agents, as whoever suspends, resumes or ends one sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from runtime.contract import Address, Person, RunId
from runtime.domain.agents.bounds import Bounds
from runtime.domain.agents.lifecycle import AgentEvent, AgentState
from runtime.store.protocol.intake import Ended


@dataclass(frozen=True, slots=True)
class TurnedAgent:
    """Result of a move: the state by now, and what to wake. `done`: it was a move.

    `stop_runs` are at work and end at their next step, `ended` waited for people and are over, `deliveries` are rooms
    whose couriers are to look, and `lanes_ready`: messages waited, or a trigger began work.
    """

    state: AgentState
    done: bool = True
    stop_runs: tuple[RunId, ...] = ()
    ended: tuple[Ended, ...] = ()
    deliveries: tuple[Address, ...] = ()
    lanes_ready: bool = False


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent with a row: made in chat, or held back at some time."""

    name: str
    state: AgentState
    reason: str
    changed_at: datetime


class AgentLives(Protocol):
    async def turn_agent(self, agent: str, event: AgentEvent, reason: str, by: str) -> TurnedAgent:
        """Suspend, resume or end an agent for good, with all that hangs on it, in one transaction."""

    async def spawn_agent(self, agent: str, manifest: str, by: Person) -> bool:
        """Note that an agent was made for `by`; false where one of that name was ended for good, and nothing is noted."""

    async def keep_bounds(self, address: Address, bounds: Bounds) -> bool:
        """Bound a conversation before its first word; False where it has other bounds already."""

    async def rows(self) -> Sequence[AgentRow]:
        """Agents with a row, by name. One of the settings that was never held back has none."""
