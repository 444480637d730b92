"""Limits: calls that were made lately, as the steps tell. Of rules, by tool and person; of agents, whatever they call."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Integer, bindparam, func, select

from runtime.contract import PersonId
from runtime.policy.limits import Limit
from runtime.store.schema import runs, sessions, steps
from runtime.store.sql.driver import Op, micros, moment

NO_PERSON: Final = ""
"""Stands for whoever asks where no person does: a schedule or a program. They count together."""

NTH_NEWEST = (
    select(steps.c.called_at)
    .join(runs, runs.c.id == steps.c.run_id)
    .join(sessions, sessions.c.key == runs.c.session)
    .where(
        steps.c.tool == bindparam("tool"),
        steps.c.called_at > bindparam("since"),
        sessions.c.agent == bindparam("agent"),
        func.coalesce(runs.c.requester, NO_PERSON) == bindparam("person"),
    )
    .order_by(steps.c.called_at.desc())
    .limit(1)
    .offset(bindparam("before"))
)
"""One walk along the index of the tool, which ends at the call that fills the limit."""
# Tools that were ever called, each by one look into their index behind the one before; then of each the calls since.
_tools = select(func.min(steps.c.tool).label("tool")).where(steps.c.called_at.is_not(None)).cte("tools", recursive=True)
_next = select(func.min(steps.c.tool)).where(steps.c.called_at.is_not(None), steps.c.tool > _tools.c.tool)
_tools = _tools.union_all(select(_next.scalar_subquery()).where(_tools.c.tool.is_not(None)))
NTH_NEWEST_OF_AGENT = (
    select(steps.c.called_at)
    .select_from(_tools)
    .join(steps, steps.c.tool == _tools.c.tool)
    .join(runs, runs.c.id == steps.c.run_id)
    .join(sessions, sessions.c.key == runs.c.session)
    .where(
        steps.c.called_at.is_not(None),
        steps.c.called_at > bindparam("since"),
        steps.c.called_at
        <= bindparam("now"),  # of a clock that was set back, nothing of what seems to come later counts
        sessions.c.agent == bindparam("agent"),
    )
    .order_by(steps.c.called_at.desc())
    .limit(1)
    .offset(bindparam("before", type_=Integer))
)


def until_room(agent: str, tool: str, person: PersonId | None, limit: Limit, now: datetime) -> Op[timedelta | None]:
    """Time until the oldest of as many calls as `limit` has is over; None where there are fewer."""
    wanted = {"agent": agent, "tool": tool, "person": person or NO_PERSON}
    rows = yield NTH_NEWEST, {**wanted, "since": micros(now - limit.span), "before": limit.count - 1}
    return moment(rows[0][0]) + limit.span - now if rows else None


def until_agent_may(agent: str, limit: Limit, now: datetime) -> Op[timedelta | None]:
    """Time until the oldest of as many calls as `limit` has is over, of all that `agent` made on any node; None where there
    are fewer."""
    given = {"agent": agent, "since": micros(now - limit.span), "now": micros(now), "before": limit.count - 1}
    rows = yield NTH_NEWEST_OF_AGENT, given
    return moment(rows[0][0]) + limit.span - now if rows else None
