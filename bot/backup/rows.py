"""Rows of tables as lines of JSON: the same from and for every engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bot.backup.archive import Archive, Writer
from bot.backup.errors import BackupFailed
from bot.backup.manifest import Table
from runtime.store.snapshot import Snapshot
from runtime.store.sql.driver import Rows

TABLES_FOLDER: Final = "tables/"
BATCH: Final = 500
ENCODE: Final = json.JSONEncoder(ensure_ascii=False).encode  # made once: half of the time otherwise


def member_of(table: str) -> str:
    return f"{TABLES_FOLDER}{table}.jsonl"


async def write_tables(snapshot: Snapshot, writer: Writer) -> dict[str, Table]:
    """Every table, a row a line."""
    return {table: await _write_table(snapshot, writer, table) for table in snapshot.columns}


async def _write_table(snapshot: Snapshot, writer: Writer, table: str) -> Table:
    count = 0
    with writer.member(member_of(table)) as write:
        async for rows in snapshot.rows(table):
            count += len(rows)
            write(_lines(table, rows))
    return Table(tuple(snapshot.columns[table]), count)


def _lines(table: str, rows: Rows) -> bytes:
    try:
        return "".join(ENCODE(row) + "\n" for row in rows).encode()
    except (TypeError, UnicodeEncodeError) as error:
        raise BackupFailed(
            f"The database is damaged: table {table} holds a value that Signalbox never writes ({error})."
        ) from error


class BackedUpRows:
    """Implements `runtime.store.load.Source` over an archive."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.revision = archive.manifest.revision
        self.columns: Mapping[str, Sequence[str]] = {
            name: table.columns for name, table in archive.manifest.tables.items()
        }

    def rows(self, table: str) -> Iterator[Sequence[Sequence[Any]]]:
        batch: list[Sequence[Any]] = []
        for line in self._archive.lines(member_of(table)):
            batch.append(self._row(table, line))
            if len(batch) == BATCH:
                yield batch
                batch = []
        yield batch

    def _row(self, table: str, line: bytes) -> Sequence[Any]:
        try:
            row = json.loads(line)
        except ValueError as error:
            raise self._archive.bad(f"a row of table {table} isn't JSON.") from error
        if not isinstance(row, list) or len(row) != len(self.columns[table]):
            raise self._archive.bad(f"a row of table {table} lacks the columns its manifest names.")
        return row
