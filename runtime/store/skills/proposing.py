"""A skill that an agent proposed was written: it is accepted by the owner who approved the call, and by nobody else.

Where that is taken back, the one who pressed Undo decides about the form before.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import and_, bindparam, literal_column, select

from runtime.contract import CallKey, Role
from runtime.domain.skills.skill import Skill
from runtime.store.common import fact
from runtime.store.schema import approvals, people, steps, undos
from runtime.store.skills.locking import DIGEST_SHOWN, LOCK_OF, accept_skill, give_up_skill
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
UNDONE_BY = (
    select(undos.c.undone_by)
    .select_from(undos.join(steps, and_(steps.c.run_id == undos.c.run_id, steps.c.number == undos.c.step)))
    .where(undos.c.run_id == bindparam("run"), steps.c.call_id == bindparam("call"), undos.c.undone_by != "")
    .order_by(undos.c.approval_id.desc())
    .limit(1)
)
"""Whoever wants a call taken back: an owner, as `runtime.domain.approvals.no_undo` has it."""


def accept_proposed(skill: Skill, text: str, call: CallKey, now: datetime) -> Op[str]:
    """Accept what a call wrote in the name of the owner who approved it; that one's name. Empty, and not accepted, where no owner
    did: owners are asked about it as about any skill that is new in its folder."""
    rows = yield APPROVED_BY, {"run": call.run, "call": call.call}
    by = rows[0][0] if rows else ""
    if not by or (yield from accept_skill(skill, text, by, now)):
        yield from fact(now, "skill written", by, skill.locked_as, f"{skill.digest[:DIGEST_SHOWN]} in {call.run}")
    return by


def take_back_proposed(name: str, wrote: str, before: Skill | None, text: str, call: CallKey, now: datetime) -> Op[str]:
    """Accept the form `before` again in place of the one that a call wrote, or none; the name of whoever wanted that.

    Empty where nobody does, or where the form that was accepted is another one: that decision stays.
    """
    wanted, known = (yield UNDONE_BY, {"run": call.run, "call": call.call}), (yield LOCK_OF, {"n": name})
    if not wanted or not known or known[0][0] != wrote:
        return ""
    by: str = wanted[0][0]
    if before is None:
        yield from give_up_skill(name, by, now)
    else:
        yield from accept_skill(before, text, by, now)
    return by
