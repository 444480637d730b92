"""Memories and people that were forgotten after a backup was made, as whatever is younger than it still knows."""

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
from runtime.store.schema import forgettings, forgotten

MEMORY_LIST: Final = (forgotten.name, "id", "at")
PEOPLE_LIST: Final = (forgettings.name, "digest", "wanted_at")
BACKUPS_MOST: Final = 100
"""Backups beside the one that is restored whose lists are read: each is a second at most."""
HAS_TABLE: Final = "SELECT count(*) FROM sqlite_master WHERE name = ?"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Ids of memories and digests of people, and when they were forgotten. `unread` are databases that would know more, and
    can't be read."""

    ids: Mapping[str, int]
    people: Mapping[str, int]
    unread: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """Lists of one place."""

    ids: Mapping[str, int]
    people: Mapping[str, int]

    def __or__(self, other: Known) -> Known:
        return Known({**self.ids, **other.ids}, {**self.people, **other.people})


NOTHING_KNOWN: Final = Known({}, {})


def forgotten_since(archive: Archive, path: Path, database: Path | None) -> Forgotten:
    """Lists of the database that is replaced, of those that were before, and of younger backups beside this one."""
    known = Known({}, {})
    unread = []
    for one in _databases(database) if database else ():
        try:
            known |= _of_database(one)
        except sqlite3.Error:  # a damaged database is what most restores are for: whoever restores is told
            unread.append(one)
    for found in _younger(archive, path):
        known |= found
    return Forgotten(known.ids, known.people, tuple(unread))


def _databases(database: Path) -> Iterator[Path]:
    every = [database, *sorted(database.parent.glob(f"{database.name}.before-*"))]
    yield from (one for one in every if one.is_file() and not one.name.endswith(("-wal", "-shm", "-journal")))


def _of_database(path: Path) -> Known:
    # A reader leaves files of its own beside a database, unless nothing is written to it: no process works here.
    how = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)) as raw:
        return Known(_listed(raw, *MEMORY_LIST), _listed(raw, *PEOPLE_LIST))


def _listed(raw: sqlite3.Connection, table: str, key: str, at: str) -> dict[str, int]:
    is_there = raw.execute(HAS_TABLE, [table]).fetchone()[0]
    return dict(raw.execute(f"SELECT {key}, {at} FROM {table}")) if is_there else {}  # noqa: S608 - our own names


def _younger(archive: Archive, path: Path) -> Iterator[Known]:
    """Lists of younger backups in the same folder. One that can't be read is no use to anybody."""
    for other in sorted(path.absolute().parent.glob(f"*{path.suffix}"), reverse=True)[:BACKUPS_MOST]:
        try:
            if not other.samefile(path):
                with opened(other) as found:
                    yield _of_backup(found) if found.manifest.taken_at > archive.manifest.taken_at else NOTHING_KNOWN
        except (BadBackup, OSError, ValueError, TypeError):  # the last two for rows that are none of ours
            continue


def _of_backup(archive: Archive) -> Known:
    return Known(_backed_up(archive, *MEMORY_LIST), _backed_up(archive, *PEOPLE_LIST))


def _backed_up(archive: Archive, name: str, key: str, at: str) -> dict[str, int]:
    table = archive.manifest.tables.get(name)
    if table is None:
        return {}
    places = [table.columns.index(one) for one in (key, at)]
    rows = (row for batch in BackedUpRows(archive).rows(name) for row in batch)
    return {str(row[places[0]]): int(row[places[1]]) for row in rows}
