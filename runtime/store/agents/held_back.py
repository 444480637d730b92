"""Agents that take no messages now. One of the settings that was never held back has no row."""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy import ColumnElement, select

from runtime.domain.agents.lifecycle import AgentState
from runtime.store.schema import agents, sessions
from runtime.store.sql.driver import Op, is_word

SUSPENDED = select(agents.c.name).where(is_word(agents.c.state, "suspended"))
HELD_BACK = select(agents.c.name, agents.c.state, agents.c.reason, agents.c.changed_at).where(
    is_word(agents.c.state, "suspended", "terminated")
)


AFTER_ITS_END: Final = " (ended)"
"""Behind the name of an agent in a claim of what reached it after its end: no agent is called so, thus nobody works on it."""


def has_ended() -> ColumnElement[bool]:
    """A lane's agent has ended for good."""
    return sessions.c.agent.in_(select(agents.c.name).where(is_word(agents.c.state, "terminated")))


def at_work() -> ColumnElement[bool]:
    """A lane's agent isn't suspended. The table has a row for each agent that ever was, or none."""
    return sessions.c.agent.not_in(SUSPENDED)


class HeldBack(NamedTuple):
    """Row of an agent that takes no messages now."""

    name: str
    state: AgentState
    reason: str
    changed_at: int


def held_back() -> Op[dict[str, HeldBack]]:
    """Agents that are suspended or have ended, by name."""
    rows = yield HELD_BACK, {}
    return {name: HeldBack(name, AgentState(state), why, at) for name, state, why, at in rows}
