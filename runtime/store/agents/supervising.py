"""An agent whose runs fail again and again is suspended, in the transaction of the last failure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Integer, bindparam, func, select

from runtime.chat import agents as words
from runtime.contract import NewId
from runtime.domain.agents.lifecycle import FAILURES_IN_A_ROW, AgentEvent
from runtime.domain.agents.manifest import MAIN
from runtime.domain.ids import first_at
from runtime.domain.runs import RunState
from runtime.store.common import going_on
from runtime.store.protocol import Lane, Released
from runtime.store.schema import agents, runs, sessions
from runtime.store.sql.driver import Op

SUPERVISOR: Final = "supervisor"
LOOKS_BACK: Final = timedelta(days=2)
"""How long ago a run may have begun whose failure counts."""

AGENT_OF = select(sessions.c.agent).where(sessions.c.key == bindparam("k"))
# What failed before it was resumed doesn't count again.
LAST_ENDED = (
    select(runs.c.state)
    .join(sessions, sessions.c.key == runs.c.session)
    .where(
        runs.c.id >= bindparam("first"),
        sessions.c.agent == bindparam("agent"),
        runs.c.ended_at
        >= func.coalesce(select(agents.c.changed_at).where(agents.c.name == bindparam("agent")).scalar_subquery(), 0),
    )
    .order_by(runs.c.ended_at.desc())
    .limit(bindparam("n", type_=Integer))
)


def watched(
    work: Callable[[], Op[Released | None]], lane: Lane, text: str, now: datetime, new_id: NewId
) -> Op[Released | None]:
    """`work`, in which a run of `lane` fails with `text`, and what follows for its agent. The usual agent always goes on."""
    released = yield from going_on(work())
    if released is None:
        return None
    agent = str((yield AGENT_OF, {"k": lane.session})[0][0])
    if agent == MAIN:
        return released
    given = {"agent": agent, "first": first_at(now - LOOKS_BACK), "n": FAILURES_IN_A_ROW}
    states = [state for (state,) in (yield LAST_ENDED, given)]
    if len(states) == FAILURES_IN_A_ROW and set(states) == {RunState.FAILED}:
        from runtime.store.agents.lifecycle import turned

        yield from turned(agent, AgentEvent.SUSPEND, words.failing(FAILURES_IN_A_ROW, text), SUPERVISOR, now, new_id)
    return released
