"""What is known about a thing by its name: relations and facts, and those of the things that they name."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, or_

from runtime.contract.memory.facts import Memory, Reader
from runtime.domain.memory.keeping import key_of
from runtime.domain.memory.scopes import reaches_of
from runtime.store.memory.rows import MEMORIES, Row, in_reaches, is_current, reaching
from runtime.store.schema import memories
from runtime.store.sql.driver import Op, micros

ABOUT_ROWS_MAX: Final = 50
ABOUT_NAMES_MAX: Final = 50
"""Things whose rows are looked for on the second step: as many as the first one can name."""
OF_THINGS = (
    MEMORIES.where(
        in_reaches,
        is_current,
        or_(memories.c.subject_key == bindparam("key"), memories.c.object_key == bindparam("key")),
    )
    .order_by(memories.c.number.desc())
    .limit(ABOUT_ROWS_MAX)
)


def about(reader: Reader, entity: str, depth: int, now: datetime) -> Op[list[Memory]]:
    """Rows that name a thing, newest first, then those of the things beside it, up to `depth` steps away."""
    found: dict[str, Row] = {}
    seen: set[str] = set()
    names = [key_of(entity)]
    for _ in range(depth):
        for key in [name for name in dict.fromkeys(names) if name and name not in seen][:ABOUT_NAMES_MAX]:
            seen.add(key)
            if len(found) < ABOUT_ROWS_MAX:
                rows = yield OF_THINGS, {**reaching(reaches_of(reader)), "key": key, "now": micros(now)}
                found |= {row[0]: Row(*row) for row in rows if row[0] not in found}
        names = [key_of(name) for row in found.values() for name in (row.subject, row.object)]
    return [row.memory for row in found.values()][:ABOUT_ROWS_MAX]
