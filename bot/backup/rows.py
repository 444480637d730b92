"""Rows of tables as lines of JSON: the same from and for every engine. Columns of bytes are written as base64."""

from __future__ import annotations

import binascii
import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from bot.backup.archive import Archive, Writer
from bot.backup.errors import BackupFailed
from bot.backup.manifest import Table
from runtime.store.schema import BINARY_COLUMNS
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
    count, binary = 0, _binary(table, snapshot.columns[table])
    with writer.member(member_of(table)) as write:
        async for rows in snapshot.rows(table):
            count += len(rows)
            write(_lines(table, rows, binary))
    return Table(tuple(snapshot.columns[table]), count)


def _binary(table: str, columns: Sequence[str]) -> Sequence[int]:
    """Places of the columns of bytes."""
    return [columns.index(name) for name in BINARY_COLUMNS.get(table, ()) if name in columns]


def _written(row: tuple[Any, ...], binary: Sequence[int]) -> list[Any]:
    values = [*row]
    for place in binary:
        values[place] = b64encode(values[place]).decode()
    return values


def _lines(table: str, rows: Rows, binary: Sequence[int]) -> bytes:
    try:
        if binary:
            return "".join(ENCODE(_written(row, binary)) + "\n" for row in rows).encode()
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
        self._binary = {name: _binary(name, columns) for name, columns in self.columns.items()}

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
        try:
            for place in self._binary[table]:
                row[place] = b64decode(row[place], validate=True)
        except (TypeError, ValueError, binascii.Error) as error:
            raise self._archive.bad(f"a row of table {table} has bytes that aren't base64.") from error
        return row
