"""Traces of what is gone: SQLite's indexes mark words as removed and keep them, until their segments are merged.

That goes step by step, so that nobody waits for the whole of a large index. What was on a page is overwritten then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from sqlalchemy import text

from runtime.store.sql.driver import Driver, Op
from runtime.store.sql.full_text import INDEXED
from runtime.store.sql.per_engine import PerEngine, statement_of

MERGED_PAGES: Final = 100
"""Pages of an index that one transaction merges: some ten milliseconds."""
DONE: Final = 2
"""Fewer changes than these mean that nothing was left to merge. Source: SQLite, "FTS5", 6.8."""

CHANGES: Final = PerEngine(sqlite=text("SELECT total_changes()"), postgres=text("SELECT 0"))
MERGES: Final[Mapping[str, Sequence[PerEngine]]] = {
    one.table: [
        PerEngine(
            sqlite=statement_of(f"INSERT INTO {name}({name}, rank) VALUES ('merge', :pages)", ["pages"]),  # noqa: S608 - our own names
            postgres=statement_of("SELECT :pages", ["pages"]),
        )
        for name in one.names
    ]
    for one in INDEXED
}
"""Statements by table. PostgreSQL's own process clears its indexes."""


async def clear_in_steps(driver: Driver, table: str) -> None:
    """Have the full text indexes of a table written anew, without the words of rows that are gone."""
    for statement in MERGES.get(table, ()):
        await driver.write(partial(_merge, statement, -MERGED_PAGES))  # from here on, all segments are one level
        while await driver.write(partial(_merge, statement, MERGED_PAGES)):
            pass


def _merge(statement: PerEngine, pages: int) -> Op[bool]:
    """Merge some pages; True if there may be more."""
    before = (yield CHANGES, {})[0][0]
    yield statement, {"pages": pages}
    return bool((yield CHANGES, {})[0][0] - before >= DONE)
