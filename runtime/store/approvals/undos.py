"""Taking back what an approved call did: offered for a while, wanted by a person, begun once, and told on the card.

A row without `undone_by` is an offer. With it somebody wants the undo; `undone_at` is the marker that it began, committed
before anything is done; an empty `kept` says that it is over. What was begun and never ended was cut off: it is not begun
again, and the card says so.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, delete, select, update

from runtime.chat.cards import verdicts
from runtime.contract import Address, ApprovalId, NewId, RunId
from runtime.domain.approvals import Approval
from runtime.store.approvals.decisions import locked
from runtime.store.approvals.undo_offers import UNDO, told_of
from runtime.store.common import fact
from runtime.store.protocol import Undoing, UndosToDo
from runtime.store.runs.turns import add_turn
from runtime.store.schema import sessions, steps, undos
from runtime.store.sql.driver import Op, micros

CUT_AFTER: Final = timedelta(minutes=3)
"""Since its marker, after which an undo that did not end was cut off: a tool has one minute for it."""

WANTED = select(undos.c.approval_id).where(undos.c.undone_by != "", undos.c.undone_at.is_(None), undos.c.kept != "")
BEGIN = (
    update(undos)
    .where(undos.c.approval_id == bindparam("id"), undos.c.undone_by != "", undos.c.undone_at.is_(None))
    .values(undone_at=bindparam("at"))
    .returning(undos.c.kept, undos.c.undone_by)
)
END = (
    update(undos)
    .where(undos.c.approval_id == bindparam("id"), undos.c.kept != "", undos.c.undone_at.is_not(None))
    .values(kept="")
    .returning(undos.c.undone_by)
)
OVERDUE = select(undos.c.approval_id).where(undos.c.undone_by == "", undos.c.until <= bindparam("now")).limit(100)
CUT = select(undos.c.approval_id).where(undos.c.kept != "", undos.c.undone_at <= bindparam("before")).limit(100)
WITHDRAW = delete(undos).where(undos.c.approval_id == bindparam("id"), undos.c.undone_by == "")
CALL_OF = (
    select(steps.c.call_id, sessions.c.agent)
    .join(sessions, sessions.c.key == bindparam("s"))
    .where(steps.c.run_id == bindparam("run"), steps.c.number == bindparam("n"))
)
NEXT_TURN = (
    update(sessions)
    .where(sessions.c.key == bindparam("k"))
    .values(next_turn=sessions.c.next_turn + 1)
    .returning(sessions.c.next_turn)
)


def to_do(now: datetime) -> Op[UndosToDo]:
    wanted = yield WANTED, {}
    overdue = yield OVERDUE, {"now": micros(now)}
    is_due = bool(overdue or (yield CUT, {"before": micros(now - CUT_AFTER)}))
    return UndosToDo(tuple(ApprovalId(found) for (found,) in wanted), is_due)


def begin(approval_id: ApprovalId, now: datetime) -> Op[Undoing | None]:
    """Mark an undo as begun; None if somebody else began it."""
    approval = yield from locked(approval_id)
    rows = yield BEGIN, {"id": approval_id, "at": micros(now)}
    if not rows or approval is None:
        return None
    calls = yield CALL_OF, {"run": approval.run_id, "n": approval.step, "s": approval.session}
    call, agent = calls[0] if calls else ("", "")
    return Undoing(approval, rows[0][0], rows[0][1], call, agent)


def end(approval_id: ApprovalId, why_not: str, now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """It was done, or not: `why_not`. The card says so, and the agent reads it in its next turn; where couriers are to look."""
    approval = yield from locked(approval_id)
    rows = yield END, {"id": approval_id}
    if not rows or approval is None:
        return ()
    by = rows[0][0]
    how = "refused" if why_not else "done"
    yield from fact(now, f"undo {how}", by, approval.id, why_not or f"{approval.tool} {approval.arguments_hash[:12]}")
    yield from _note(approval, verdicts.undo_note(approval, by, why_not), now)
    return (yield from told_of(approval, how, now, new_id, by=by, why=why_not))


def close(now: datetime, new_id: NewId) -> Op[tuple[Address, ...]]:
    """Withdraw offers whose time is over, and tell of undos that were cut off; where couriers are to look."""
    rooms: tuple[Address, ...] = ()
    for (found,) in (yield OVERDUE, {"now": micros(now)}):
        approval = yield from locked(ApprovalId(found))
        yield WITHDRAW, {"id": found}
        rows = yield UNDO, {"id": found}
        if approval and not rows:
            rooms += yield from told_of(approval, "", now, new_id)
    for (found,) in (yield CUT, {"before": micros(now - CUT_AFTER)}):
        approval = yield from locked(ApprovalId(found))
        rows = yield END, {"id": found}
        if approval and rows:
            yield from fact(now, "undo cut off", rows[0][0], found, approval.tool)
            yield from _note(approval, verdicts.undo_note(approval, rows[0][0], cut=True), now)
            rooms += yield from told_of(approval, "cut", now, new_id, by=rows[0][0])
    return rooms


def _note(approval: Approval, text: str, now: datetime) -> Op[None]:
    """A turn of our own, which the agent reads with its next request. The lane is locked."""
    rows = yield NEXT_TURN, {"k": approval.session}
    if rows:
        yield from add_turn(approval.session, rows[0][0] - 1, RunId(""), "user", text, now, author="")
