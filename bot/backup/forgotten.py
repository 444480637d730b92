"""Memories that people had forgotten after a backup was made, as whatever is younger than it still knows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.backup.archive import Archive, opened
from bot.backup.errors import BadBackup
from bot.backup.rows import BackedUpRows
from runtime.store.schema import forgotten

TABLE: Final = forgotten.name
BACKUPS_MOST: Final = 100
"""Backups beside the one that is restored whose lists are read: each is a second at most."""
HAS_TABLE: Final = "SELECT count(*) FROM sqlite_master WHERE name = ?"
ALL_FORGOTTEN: Final = "SELECT id, at FROM forgotten"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Ids of memories, and when they were forgotten. `unread` are databases that would know more, and can't be read."""

    ids: Mapping[str, int]
    unread: tuple[Path, ...] = ()


def forgotten_since(archive: Archive, path: Path, database: Path | None) -> Forgotten:
    """Lists of the database that is replaced, of those that were before, and of younger backups beside this one."""
    ids: dict[str, int] = {}
    unread = []
    for one in _databases(database) if database else ():
        try:
            ids |= _of_database(one)
        except sqlite3.Error:  # a damaged database is what most restores are for: whoever restores is told
            unread.append(one)
    for found in _younger(archive, path):
        ids |= found
    return Forgotten(ids, tuple(unread))


def _databases(database: Path) -> Iterator[Path]:
    every = [database, *sorted(database.parent.glob(f"{database.name}.before-*"))]
    yield from (one for one in every if one.is_file() and not one.name.endswith(("-wal", "-shm", "-journal")))


def _of_database(path: Path) -> dict[str, int]:
    # A reader leaves files of its own beside a database, unless nothing is written to it: no process works here.
    how = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)) as raw:
        is_there = raw.execute(HAS_TABLE, [TABLE]).fetchone()[0]
        return dict(raw.execute(ALL_FORGOTTEN)) if is_there else {}


def _younger(archive: Archive, path: Path) -> Iterator[dict[str, int]]:
    """Lists of younger backups in the same folder. One that can't be read is no use to anybody."""
    for other in sorted(path.absolute().parent.glob(f"*{path.suffix}"), reverse=True)[:BACKUPS_MOST]:
        try:
            if not other.samefile(path):
                with opened(other) as found:
                    yield _of_backup(found) if found.manifest.taken_at > archive.manifest.taken_at else {}
        except (BadBackup, OSError, ValueError, TypeError):  # the last two for rows that are none of ours
            continue


def _of_backup(archive: Archive) -> dict[str, int]:
    table = archive.manifest.tables.get(TABLE)
    if table is None:
        return {}
    places = [table.columns.index(name) for name in ("id", "at")]
    rows = (row for batch in BackedUpRows(archive).rows(TABLE) for row in batch)
    return {str(row[places[0]]): int(row[places[1]]) for row in rows}
