"""Each text column of the schema has its gate of the leak guard, or a reason for having none."""

from __future__ import annotations

from runtime.store.check import text_columns
from runtime.store.operations.text_columns import TEXT_COLUMNS, unlisted
from runtime.store.operations.text_kinds import Fixed, Free


def test_each_text_column_is_listed_and_nothing_else_is() -> None:
    assert unlisted(text_columns()) == [], "give it a row in runtime/store/operations/text_columns.py"


def test_a_new_column_and_one_that_is_gone_are_told() -> None:
    known = text_columns()
    known["turns"] = known["turns"] - {"author"} | {"feeling"}
    known["diaries"] = frozenset({"text"})
    assert unlisted(known) == ["turns.author", "turns.feeling", "diaries.text"]


def test_what_is_not_looked_at_says_why() -> None:
    rows = [one for columns in TEXT_COLUMNS.values() for one in columns.values()]
    assert all(one.why for one in rows if isinstance(one, Fixed))
    assert all(one.stays for one in rows if isinstance(one, Free) and one.while_open)
