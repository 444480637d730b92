"""The accepted form of each tool whose words are not ours, and the last one that operators were told of."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import bindparam, select, update

from runtime.policy.tool_forms import changes
from runtime.store.common import add, fact
from runtime.store.schema import tool_forms
from runtime.store.sql.driver import Op, micros

NEW_FORM = add(tool_forms).on_conflict_do_nothing(index_elements=[tool_forms.c.tool])
FORMS = select(tool_forms.c.accepted, tool_forms.c.seen).where(tool_forms.c.tool == bindparam("t"))
SEE = (
    update(tool_forms)
    .where(tool_forms.c.tool == bindparam("t"), tool_forms.c.seen == bindparam("before"))
    .values(seen=bindparam("form"))
    .returning(tool_forms.c.tool)
)
SEEN = (
    update(tool_forms)
    .where(tool_forms.c.tool == bindparam("t"), tool_forms.c.seen_at < bindparam("since"))
    .values(seen_at=bindparam("at"))
)
ANEW: Final = timedelta(days=1)
"""How old the time at which it was seen may be before it is written anew."""
ACCEPT = update(tool_forms).where(tool_forms.c.tool == bindparam("t")).values(accepted=bindparam("form"))


def accepted_form(tool: str, form: str, now: datetime) -> Op[str]:
    rows = yield FORMS, {"t": tool}
    if not rows:
        yield NEW_FORM, {"tool": tool, "accepted": form, "seen": form, "seen_at": micros(now)}
        rows = yield FORMS, {"t": tool}
    return str(rows[0][0])


def see_form(tool: str, form: str, now: datetime) -> Op[str]:
    accepted = yield from accepted_form(tool, form, now)
    yield SEEN, {"t": tool, "since": micros(now - ANEW), "at": micros(now)}
    seen = (yield FORMS, {"t": tool})[0][1]
    return changes(accepted, form) if seen != form else ""


def told_form(tool: str, form: str, now: datetime) -> Op[None]:
    accepted, seen = (yield FORMS, {"t": tool})[0]
    if seen != form and (yield SEE, {"t": tool, "before": seen, "form": form}):
        yield from fact(now, "tool changed", "", tool, changes(accepted, form))


def accept_form(tool: str, form: str, by: str, now: datetime) -> Op[None]:
    accepted = yield from accepted_form(tool, form, now)
    if accepted != form:
        yield ACCEPT, {"t": tool, "form": form}
        yield from fact(now, "tool accepted", by, tool, changes(accepted, form))
