"""A scan of old rows by the leak guard: a page of a table at a time, told by column and finding, redacted on demand."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from runtime.guard.door import Door
from runtime.guard.findings import Finding, Strictness
from runtime.guard.stored import looked_at
from runtime.http.errors import Refusal
from runtime.store.operations.text_columns import free_columns, scanned_tables
from runtime.store.operations.text_kinds import Free
from runtime.store.operations.texts import is_key
from runtime.store.protocol import RowKey, TextRow, Texts

PAGE_ROWS: Final = 500
TRIES: Final = 3
"""Attempts to change a page whose rows others change at the same time."""
ONLY_TOLD: Final = "the settings only warn of it"
TAKES_AWAY: Final = (Strictness.REDACT, Strictness.ENFORCE)

Told = tuple[str, str, str, str]
"""Column, finding, action, and why it stays."""
Change = tuple[TextRow, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """One page of a table. `after` is where the next begins, None behind the last row."""

    rows: int
    told: Mapping[Told, int]
    redacted: int
    after: RowKey | None


class GuardScan:
    """Looks through one database. `door` is asked for when it is needed: it may have secrets to open."""

    def __init__(self, texts: Texts, door: Callable[[], Door], *, page_rows: int = PAGE_ROWS) -> None:
        self._texts = texts
        self._page_rows = page_rows
        self._door = door

    async def asked(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A page that is asked for as JSON, as JSON. Errors: Refusal; StoreError."""
        table, after, redact = fields.get("table"), fields.get("after"), fields.get("redact", False)
        if not isinstance(table, str) or table not in scanned_tables():
            raise Refusal(400, f"`table` must be one of: {', '.join(scanned_tables())}.")
        if not isinstance(redact, bool) or not (after is None or is_key(table, after)):
            raise Refusal(400, "`redact` must be true or false, and `after` a key of the table or null.")
        page = await self.page(table, None if after is None else tuple(after), redact=redact)
        return view_of(table, page)

    async def page(self, table: str, after: RowKey | None = None, *, redact: bool = False) -> ScannedPage:
        """Errors: StoreError; then nothing of this page is changed."""
        rows, told, changes = await self._looked_at(table, after)
        if not redact:
            return ScannedPage(len(rows), told, 0, rows[-1].key if rows else None)
        if not rows:  # behind the last page: once for all that were changed
            await self._texts.clear_traces(table)
        redacted, missing = 0, changes
        for _ in range(TRIES):
            done = await self._texts.put_texts(table, missing) if missing else 0
            redacted += done
            if done == len(missing):
                break
            _, _, missing = await self._looked_at(table, after)  # somebody changed a row meanwhile
        return ScannedPage(len(rows), told, redacted, rows[-1].key if rows else None)

    async def _looked_at(
        self, table: str, after: RowKey | None
    ) -> tuple[Sequence[TextRow], Mapping[Told, int], Sequence[Change]]:
        rows = await self._texts.texts(table, after, limit=self._page_rows)
        # Beside the loop: a page may take the guard some tenths of a second.
        return rows, *await asyncio.to_thread(_looked_through, self._door(), table, rows)


def _looked_through(door: Door, table: str, rows: Sequence[TextRow]) -> tuple[Mapping[Told, int], Sequence[Change]]:
    told: Counter[Told] = Counter()
    changes: list[Change] = []
    for row in rows:
        changed = {}
        for column, about in free_columns(table).items():
            if text := row.texts[column]:
                cleaned, findings = _looked_at(door, text, about, row)
                told.update({(column, str(one), one.action.value, _stays(one, about, row)) for one in findings})
                if cleaned != text and not _is_kept(about, row):
                    changed[column] = cleaned
        if changed:
            changes.append((row, changed))
    return told, changes


def _looked_at(door: Door, text: str, about: Free, row: TextRow) -> tuple[str, Sequence[Finding]]:
    room = door.room(row.room)
    return looked_at(text, about.form, lambda one: door.guard.check(one, about.gate, room))


def _is_kept(about: Free, row: TextRow) -> bool:
    return bool(about.stays) and (row.is_open or not about.while_open)


def _stays(one: Finding, about: Free, row: TextRow) -> str:
    if _is_kept(about, row):
        return about.stays
    return "" if one.action in TAKES_AWAY else ONLY_TOLD


def view_of(table: str, page: ScannedPage) -> dict[str, Any]:
    """A page as JSON holds it."""
    findings = [
        {"table": table, "column": column, "found": found, "action": action, "stays": stays, "rows": count}
        for (column, found, action, stays), count in page.told.items()
    ]
    return {"rows": page.rows, "redacted": page.redacted, "findings": findings, "after": page.after and [*page.after]}
