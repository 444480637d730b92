"""A file of SQLite. Why each question is a process: see `sqlite_worker`."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from tools.databases import sqlite_worker
from tools.databases.answers import CELL_KEPT_MAX_CHARS, ROWS_MAX_CHARS, QueryBounds, QueryFault, Rows
from tools.kit.process import capture

MARGIN_TIME: Final = timedelta(seconds=3)
"""Until the process is killed; it ends a statement in time by its own clock."""
TABLES_MAX: Final = 5_000
TOLD_MAX_CHARS: Final = 4 * ROWS_MAX_CHARS
"""Of its answer in JSON, which is longer than the values in it."""
STOPPED_IN_TIME: Final = "It was stopped after {seconds:g} s. Ask for less: fewer rows, a narrower condition."


@dataclass(frozen=True, slots=True)
class SqliteDatabase:
    """Implements `Database`."""

    name: str
    path: Path
    bounds: QueryBounds

    async def query(self, sql: str) -> Rows:
        return await self._asked(sql, self.bounds.rows)

    async def tables(self) -> Rows:
        return await self._asked("", TABLES_MAX)

    async def objection(self) -> str:
        return str((await self._asked("", 1, try_to_write=True)).rows[0][0] or "")

    async def _asked(self, sql: str, rows: int, *, try_to_write: bool = False) -> Rows:
        seconds = self.bounds.time.total_seconds()
        order = {
            "path": str(self.path),
            "sql": sql,
            "rows": rows,
            "cell": CELL_KEPT_MAX_CHARS,
            "chars": ROWS_MAX_CHARS,
            "seconds": max(int(seconds), 1),
            "try_to_write": try_to_write,
        }
        argv = [sys.executable, "-I", "-S", sqlite_worker.__file__, json.dumps(order)]
        began = time.monotonic()
        try:
            ended = await capture(
                argv, cwd=Path("/"), deadline=self.bounds.time + MARGIN_TIME, limit=2 * TOLD_MAX_CHARS, quiet=True
            )
        except OSError as error:
            raise QueryFault(f"No process can be started ({error.strerror}).") from error
        if ended.timed_out or ended.code != 0:
            raise QueryFault(
                STOPPED_IN_TIME.format(seconds=seconds) if ended.timed_out else "It needs too much memory or time."
            )
        return _read(json.loads(ended.text), seconds, time.monotonic() - began)


def _read(answer: dict[str, Any], bound: float, seconds: float) -> Rows:
    if "error" not in answer:
        return Rows(answer["columns"], answer["rows"], answer["more"], seconds)
    if answer.get("late"):
        raise QueryFault(STOPPED_IN_TIME.format(seconds=bound))
    if answer.get("open"):
        raise QueryFault("Its file can't be opened: it isn't there, or can't be read.")
    raise QueryFault("It refused the statement:", str(answer["error"]))
