"""New SQLite databases of tests are copies of one, and no commit of theirs waits for the disk.

To make the tables takes a process 35 ms of processor time, and half a second where others write to the disk too; the
suite starts a thousand processes on a new database. Tests kill our processes, not the machine: what the kernel has is kept.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from threading import get_ident
from typing import Final

from runtime.store import store
from runtime.store.sql import sqlite
from runtime.store.upgrade import upgrade_sqlite

DURABLE: Final = sqlite.connect
"""The product's own: it waits for the disk."""


def make(path: Path) -> bytes:
    """A database at the newest revision in the file at `path`, as the product makes it; what is in the file."""
    with closing(DURABLE(str(path))) as raw:
        raw.execute("PRAGMA synchronous = OFF")
        upgrade_sqlite(raw)
    return path.read_bytes()


class Hurried:
    """`sqlite.connect`, but where there is no database yet it puts down a copy of `newest`, and it never waits for the disk."""

    def __init__(self, newest: bytes) -> None:
        self._newest = newest

    def __call__(self, path: str) -> sqlite3.Connection:
        if path != sqlite.MEMORY_DATABASE and not Path(path).exists():
            with suppress(OSError):  # the product tells what is wrong with this place
                self._put_down(Path(path))
        connection = DURABLE(path)
        connection.execute("PRAGMA synchronous = OFF")
        return connection

    def _put_down(self, path: Path) -> None:
        """Whole at once: another process that starts here at the same time finds it or makes it."""
        made = path.with_name(f"{path.name}-{os.getpid()}-{get_ident()}")
        try:
            made.write_bytes(self._newest)
            with suppress(FileExistsError):
                os.link(made, path)
        finally:
            made.unlink(missing_ok=True)


def hurry(newest: Path) -> None:
    """Be a process of which tests want to know all but how its database is made and how long the disk takes."""
    for user in (sqlite, store):
        user.connect = Hurried(newest.read_bytes())  # type: ignore[attr-defined]  # one of them has it from the other
    os.fsync = lambda fd: None
