"""Asks a file of SQLite one question; run as a program of its own by `sqlite`, and told what to do by one JSON argument.

A statement may be written so that it takes an hour or all memory. A process can be bounded and killed. The file is opened
read-only, nothing but reading is authorised, and no other file can be attached. Imports the standard library only, so that
it starts in a few hundredths of a second.
"""

from __future__ import annotations

import json
import resource
import sqlite3
import sys
import time
from typing import Any, Final
from urllib.parse import quote

QUESTION_MAX_BYTES: Final = 512 << 20
"""Memory of the process."""
VALUE_MAX_BYTES: Final = 64 << 20
STEPS_BETWEEN_CHECKS: Final = 20_000
"""Steps of SQLite after which the time is looked at."""
BUSY_MS: Final = 2_000
NOT_ALLOWED: Final = frozenset(("load_extension", "fts3_tokenizer"))
ALLOWED: Final = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE))
TABLES: Final = (
    "SELECT m.name, c.name, c.type FROM sqlite_schema m, pragma_table_info(m.name) c "
    "WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, c.cid"
)


def main(request: str) -> int:
    order = json.loads(request)
    resource.setrlimit(resource.RLIMIT_AS, (QUESTION_MAX_BYTES, QUESTION_MAX_BYTES))
    # Whoever started us kills us in time, unless it was itself killed.
    resource.setrlimit(resource.RLIMIT_CPU, (order["seconds"] + 2, order["seconds"] + 2))
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    try:
        answer = asked(order)
    except sqlite3.Error as error:
        answer = {"error": str(error), "late": "interrupted" in str(error), "open": "unable to open" in str(error)}
    except (MemoryError, OverflowError, ValueError) as error:
        answer = {"error": str(error) or "it needs too much memory"}
    json.dump(answer, sys.stdout, ensure_ascii=False)
    return 0


def asked(order: dict[str, Any]) -> dict[str, Any]:
    database = opened(order["path"], time.monotonic() + order["seconds"])
    if order["try_to_write"]:
        return {"columns": ["writes"], "rows": [[_writes(database)]], "more": False}
    if order["sql"]:
        database.set_authorizer(_may)
    found = database.execute(order["sql"] or TABLES)
    columns = [str(column[0]) for column in found.description or ()]
    rows, chars = list[list[str | None]](), 0
    for row in found:
        cells = [_told(value, order["cell"]) for value in row]
        chars += sum(len(cell or "") for cell in cells)
        if len(rows) == order["rows"] or chars > order["chars"]:
            return {"columns": columns, "rows": rows, "more": True}
        rows.append(cells)
    return {"columns": columns, "rows": rows, "more": False}


def opened(path: str, until: float) -> sqlite3.Connection:
    database = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, isolation_level=None)
    database.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    database.execute("PRAGMA query_only = 1")
    database.execute("PRAGMA trusted_schema = 0")
    database.execute("PRAGMA temp_store = MEMORY")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES)
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    database.set_progress_handler(lambda: time.monotonic() > until, STEPS_BETWEEN_CHECKS)
    return database


def _may(action: int, _first: str | None, second: str | None, _database: str | None, _inner: str | None) -> int:
    if action in ALLOWED:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if (second or "").lower() in NOT_ALLOWED else sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _writes(database: sqlite3.Connection) -> str:
    """Empty where a write is refused though it is authorised."""
    try:
        database.execute("CREATE TABLE signalbox_tries_to_write (x)")
    except sqlite3.OperationalError as error:
        return "" if "readonly" in str(error) else str(error)
    database.execute("DROP TABLE signalbox_tries_to_write")
    return "it could be written"


def _told(value: object, most: int) -> str | None:
    if value is None:
        return None
    if isinstance(value, bytes):
        return f"({len(value):,} bytes) {value[: most // 2].hex()}"[:most]
    return str(value)[:most]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
