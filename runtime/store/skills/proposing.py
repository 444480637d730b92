"""A skill that an agent proposed was written: it is accepted by the owner who approved the call, and by nobody else."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, literal_column, select

from runtime.contract import CallKey, Role
from runtime.domain.skills.skill import Skill
from runtime.store.common import fact
from runtime.store.schema import approvals, people, steps
from runtime.store.skills.locking import DIGEST_SHOWN, accept_skill
from runtime.store.sql.driver import Op, is_word

APPROVED_BY = (
    select(people.c.name)
    .select_from(
        approvals.join(steps, and_(steps.c.run_id == approvals.c.run_id, steps.c.number == approvals.c.step)).join(
            people, people.c.id == approvals.c.decided_by
        )
    )
    .where(
        approvals.c.run_id == bindparam("run"),
        steps.c.call_id == bindparam("call"),
        is_word(approvals.c.kind, "call"),
        is_word(approvals.c.state, "approved"),
        people.c.role >= literal_column(str(int(Role.OWNER))),
    )
    .order_by(approvals.c.id.desc())
    .limit(1)
)
"""Whoever said yes to a call, if they are an owner by now."""


def accept_proposed(skill: Skill, text: str, call: CallKey, now: datetime) -> Op[str]:
    """Accept what a call wrote in the name of the owner who approved it; that one's name. Empty, and not accepted, where no owner
    did: owners are asked about it as about any skill that is new in its folder."""
    rows = yield APPROVED_BY, {"run": call.run, "call": call.call}
    by = rows[0][0] if rows else ""
    if not by or (yield from accept_skill(skill, text, by, now)):
        yield from fact(now, "skill written", by, skill.locked_as, f"{skill.digest[:DIGEST_SHOWN]} in {call.run}")
    return by
