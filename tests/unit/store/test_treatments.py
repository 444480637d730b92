"""Each table has its row in the table of treatments, and what the row says is done."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from sqlalchemy import Delete, Update
from sqlalchemy.dialects import postgresql
from sqlalchemy.sql import ClauseElement

from bot.settings.sections.operating import Retention
from bot.settings.settings import Settings
from bot.testing.clocks import HandClock
from bot.wiring.retention import keep_of, trimmer_of
from runtime.store.forgetting.pages import _statements, walked_tables
from runtime.store.operations import after_restore
from runtime.store.operations.audit import TRIM
from runtime.store.operations.retention import DROP_SUMMARIES, DROP_TURNS, LEAVE_THREAD, OLD, RULES
from runtime.store.protocol import Stock
from runtime.store.schema import metadata
from runtime.store.snapshot import OURS
from tests.contract.runtime.stores import memory_store
from tests.unit.store.treatments import TREATMENTS, Restored

ROOMS_FILES = "workspaces_days"
"""A setting about folders, not about tables."""
SETTINGS = [name for name in Retention.model_fields if name.endswith("_days") and name != ROOMS_FILES]


def tables(statements: Iterable[object]) -> set[str]:
    return {str(one.table) for one in statements if isinstance(one, Update | Delete)}


def walked(stock: Stock) -> set[str]:
    """The tables in which one walk removes or empties rows."""
    if stock is Stock.TRANSCRIPTS:
        return tables([DROP_SUMMARIES, DROP_TURNS, LEAVE_THREAD])
    if stock in OLD:
        return tables(OLD[stock])
    return tables([RULES[stock].act, *RULES[stock].below])


def test_each_table_has_its_row_and_no_row_is_of_no_table() -> None:
    assert set(TREATMENTS) == set(metadata.tables)


def test_rows_go_by_a_setting_or_in_words() -> None:
    assert [name for name, one in TREATMENTS.items() if bool(one.kept) == bool(one.until)] == []
    assert {setting for one in TREATMENTS.values() for setting in one.kept} == set(SETTINGS)


@pytest.mark.parametrize("setting", SETTINGS)
async def test_a_setting_alone_removes_from_the_tables_that_name_it(setting: str) -> None:
    days = Retention.model_construct(None, **dict.fromkeys(SETTINGS, 0) | {setting: 7})
    only = Settings().model_copy(update={"retention": days})
    found = {table for stock in keep_of(only).stocks for table in walked(stock)}
    store = memory_store(HandClock())
    if trimmer_of(only, store) is not None:
        found |= tables([TRIM])
    await store.close()
    assert found == {name for name, one in TREATMENTS.items() if setting in one.kept}


def test_a_backup_holds_every_table() -> None:
    assert set(OURS) == set(TREATMENTS)


def test_a_restore_changes_the_tables_that_say_so() -> None:
    done = vars(after_restore).values()
    emptied = {str(one.table) for one in done if isinstance(one, Delete)}
    others = {"parts", "waits", "grants"}  # by the machine of parts, as their questions go, and by those who end them
    others |= {"memories", "memory_vectors", "memory_uses", "person_summaries", "forgotten"}  # by those who forget
    others.add("forgettings")  # by those who are forgotten again
    assert emptied == {name for name, one in TREATMENTS.items() if one.restored is Restored.EMPTIED}
    assert tables(done) | others == {
        name for name, one in TREATMENTS.items() if one.restored is not Restored.AS_THEY_WERE
    }


@pytest.mark.parametrize("table", walked_tables())
def test_whose_a_row_is_is_told_by_that_row_alone(table: str) -> None:
    """A statement inside another that reads a second table is not about its row, but about any: that took parts of others."""
    statements = _statements(table)
    for statement in (statements.first, statements.further):
        assert isinstance(statement, ClauseElement)
        written = str(statement.compile(dialect=postgresql.dialect()))  # type: ignore[no-untyped-call]
        assert not re.findall(r"FROM \w+(?: AS \w+)?, ", written)
