"""Limits of rules: the calls of a tool that one person had an agent make lately, as the steps tell."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, func, select

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


def until_room(agent: str, tool: str, person: PersonId | None, limit: Limit, now: datetime) -> Op[timedelta | None]:
    """Time until the oldest of as many calls as `limit` has is over; None where there are fewer."""
    wanted = {"agent": agent, "tool": tool, "person": person or NO_PERSON}
    rows = yield NTH_NEWEST, {**wanted, "since": micros(now - limit.span), "before": limit.count - 1}
    return moment(rows[0][0]) + limit.span - now if rows else None
