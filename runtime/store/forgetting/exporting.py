"""All that is known of a person: their rows, and those that name them, a page of a table at a time."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from sqlalchemy import Executable, Integer, LargeBinary, bindparam, func, select, tuple_

from runtime.domain.forgetting.person import Forgotten
from runtime.store.forgetting.pages import ADDED_VALUES, walked_tables, whose
from runtime.store.forgetting.treating import is_theirs
from runtime.store.operations.text_columns import TEXT_COLUMNS
from runtime.store.operations.text_kinds import Forgets
from runtime.store.protocol.memory.forgetting import ExportPage, ForgetRow
from runtime.store.protocol.operations import RowKey
from runtime.store.schema import audit, metadata, people
from runtime.store.sql.driver import Op

EXPORTED_TABLES: Final = ("people", "identities", "signals", *walked_tables(), "audit")
HIDDEN_COLUMNS: Final = (
    ("people", "link_hash"),
    ("steps", "sealed"),
    ("peer_tasks", "sealed"),
    ("pushes", "sealed"),
    ("push_subscriptions", "sealed"),
    ("push_subscriptions", "session"),
    ("browser_sessions", "hash"),
    ("browser_sessions", "link"),
)
"""Columns that open something, or that nobody can read."""
CALLED_SINCE: Final = (
    select(func.max(people.c.added_at))
    .where(people.c.id == bindparam("who"))
    .union_all(
        select(func.max(audit.c.at)).where(audit.c.kind == "person renamed", audit.c.subject == bindparam("name"))
    )
)


@cache
def _page(name: str) -> tuple[Executable, Executable]:
    table = metadata.tables[name]
    key = [*table.primary_key]
    rows = select(*whose(table), *table.columns).order_by(*key).limit(bindparam("n", type_=Integer))
    after = tuple_(*(bindparam(f"k_{one.name}", type_=one.type) for one in key))
    return rows, rows.where(tuple_(*key) > after)


def export_page(table: str, after: RowKey | None, who: Forgotten, limit: int, *, own: bool = False) -> Op[ExportPage]:
    """Rows that are somebody's or name them; `own`: for themselves, who may not read what others wrote of them elsewhere."""
    first, further = _page(table)
    columns = [*metadata.tables[table].columns]
    keys = [one.name for one in metadata.tables[table].primary_key]
    given: dict[str, object] = {"n": limit}
    if after is None:
        rows = yield first, given
    else:
        rows = yield further, given | {f"k_{name}": one for name, one in zip(keys, after, strict=True)}
    since = (yield from _called_since(who)) if own and table == audit.name else 0
    found: list[dict[str, Any]] = []
    last: RowKey | None = None
    for row in rows:
        values = dict(zip((one.name for one in columns), row[ADDED_VALUES:], strict=True))
        last = tuple(values[name] for name in keys)
        if _is_about(table, row, values, who, own=own, since=since):
            shown = {
                one.name: values[one.name]
                for one in columns
                if not isinstance(one.type, LargeBinary) and (table, one.name) not in HIDDEN_COLUMNS
            }
            found.append(shown)
    return ExportPage(found, last)


def _called_since(who: Forgotten) -> Op[int]:
    """Time since which their name is theirs: before, rows of the audit with it are of somebody who was called so."""
    rows = yield CALLED_SINCE, {"who": who.needles.person, "name": who.needles.name}
    return max(at or 0 for (at,) in rows)


def _is_about(
    table: str, row: tuple[Any, ...], values: dict[str, Any], who: Forgotten, *, own: bool, since: int
) -> bool:
    texts = {name: values[name] for name, one in TEXT_COLUMNS[table].items() if one.forgets is not Forgets.NONE}
    requester, room, own_room, _ = row[:ADDED_VALUES]
    if table == "people":
        return bool(values["id"] == who.needles.person)
    read = ForgetRow((), requester or "", (room or "", own_room or ""), False, texts)
    if is_theirs(table, read, who):
        return True
    if own:
        named = {values["actor"], values["subject"]} if table == audit.name else set()
        return bool(named & {*who.needles.ids}) or (who.needles.name in named and values["at"] >= since)
    return any(text and who.without(text) != text for text in texts.values())
