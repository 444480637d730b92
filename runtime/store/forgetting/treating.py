"""Treatment of one row when somebody is forgotten: it goes, loses something, or stays as it is. Pure."""

from __future__ import annotations

from typing import Final

from runtime.domain.forgetting.person import Forgotten
from runtime.guard.stored import Form
from runtime.store.operations.text_columns import TEXT_COLUMNS
from runtime.store.operations.text_kinds import Column, Forgets, Free
from runtime.store.protocol.memory.forgetting import ForgetRow, RowChange

ROWS_THAT_STAY: Final = ("usage", "votes", "agents", "skill_locks", "accounts", "reservations")
"""Tables whose rows stay when they are somebody's, without them: sums go on, and who decided stays told by a mark."""
WHOLE_ROWS: Final = ("memories", "state_values", "summaries")
"""Tables whose rows go if they say anything of them: half a memory is none."""
EMPTY_JSON: Final = {"{": "{}", "[": "[]"}


def treated(table: str, row: ForgetRow, who: Forgotten) -> RowChange | None:
    """The change of a row; None for one that has nothing of them."""
    theirs = is_theirs(table, row, who)
    if theirs and table not in ROWS_THAT_STAY and not row.is_at_work:
        return RowChange(row, None)
    changed: dict[str, str | None] = {}
    for name, about in TEXT_COLUMNS[table].items():
        text = row.texts.get(name)
        if text and (new := _without(text, about, row, who, is_theirs=theirs)) != text:
            changed[name] = new
    if changed and table in WHOLE_ROWS:
        return RowChange(row, None)
    return RowChange(row, changed) if changed else None


def is_theirs(table: str, row: ForgetRow, who: Forgotten) -> bool:
    if who.is_theirs(row.requester) or any(map(who.is_theirs, row.rooms)):
        return True
    columns = TEXT_COLUMNS[table]
    owners = (row.texts[name] for name in row.texts if columns[name].forgets is Forgets.OWNER)
    if any(map(who.is_theirs, owners)):
        return True
    if table == "turns":  # they joined somebody else's work
        return (row.texts["author"] or "") in who.needles.names
    return table == "summaries" and row.texts["session"] in who.sessions


def _without(text: str, about: Column, row: ForgetRow, who: Forgotten, *, is_theirs: bool) -> str:
    match about:
        case Free():
            is_said = bool(about.said_by) and who.is_theirs(row.texts.get(about.said_by))
            if is_said or (is_theirs and not about.said_by):
                return (
                    who.mark
                    if about.said_by and (text == who.mark or who.names_them(text))
                    else EMPTY_JSON.get(text[:1], "")
                )
            return who.without(text) if about.form is Form.TEXT else who.without_in_json(text)
        case _ if about.forgets is Forgets.DIGEST:
            return "" if is_theirs else text
        case _:
            return who.without_ids(text)
