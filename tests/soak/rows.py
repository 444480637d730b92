"""What the database says, read without the program's own code, and what must be true of it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, Protocol

import asyncpg

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]

GOES_ON: Final = (
    "(r.state IN ('running', 'ready') AND EXISTS "
    "(SELECT 1 FROM steps s WHERE s.run_id = r.id AND s.tool = 'workflow_begin'))"
)
"""A run of a workflow, which goes on with all that doesn't hang on what it waits for."""
CONNECTED_WITHIN: Final = 180.0  # seconds; at once where nothing else runs, and a busy machine breaks no promise
TABLES: Final = (
    "signals",
    "sessions",
    "runs",
    "steps",
    "turns",
    "approvals",
    "votes",
    "deliveries",
    "parts",
    "moves",
    "nodes",
    "usage",
    "summaries",
    "budgets",
    "reservations",
    "waits",
    "children",
    "tasks",
    "occurrences",
    "trigger_fires",
)


class Database(Protocol):
    """Each statement is one consistent look."""

    async def select(self, statement: str) -> list[Row]: ...

    async def close(self) -> None: ...


class Sqlite:
    """Opened anew for each look, so that a process that starts finds a database as its dead predecessor left it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def select(self, statement: str) -> list[Row]:
        if not self._path.exists():
            return []
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True, timeout=5)) as database:
            database.row_factory = sqlite3.Row
            try:
                return [dict(row) for row in database.execute(statement)]
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):  # killed before it had made them
                    return []
                raise

    async def close(self) -> None:
        """Nothing is open."""


class Postgresql:
    """One connection, for one look at a time."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._free = asyncio.Lock()
        self._connection: asyncpg.Connection | None = None

    async def select(self, statement: str) -> list[Row]:
        async with self._free:
            self._connection = self._connection or await asyncpg.connect(self._url, timeout=CONNECTED_WITHIN)
            try:
                return [dict(record) for record in await self._connection.fetch(statement)]
            except asyncpg.UndefinedTableError:
                return []

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


async def read(database: Database) -> Tables:
    return {table: await database.select(f"SELECT * FROM {table}") for table in TABLES}


def keep_tables(path: Path, tables: Tables) -> None:
    """Keep all rows: of a database on PostgreSQL nothing is left when the campaign ends."""
    path.write_text(json.dumps(tables, indent=1, default=str), encoding="utf-8")


async def broken(database: Database, rules: Mapping[str, str]) -> list[tuple[str, Row]]:
    """(what is wrong in words, the row) for each row that breaks a rule."""
    return [(words, row) for words, statement in rules.items() for row in await database.select(statement)]


UNANSWERED: Final = (
    "SELECT address, count(*) AS messages FROM signals i WHERE kind = 'said' AND answered_at IS NULL AND seq IS NOT NULL "
    "AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.run_id = i.run_id AND d.kind = 'final' AND d.state = 'held') "
    "GROUP BY address"
)

FAILURES_TOLD: Final = "deliveries d JOIN occurrences o ON d.origin = 'schedule:' || o.schedule JOIN runs f ON f.id = o.run_id WHERE f.state = 'failed'"
"""Words about workflows that failed, such as where a loaded machine takes longer than a step may: they are those of the occurrence."""


# Each holds after every single commit, so it may be looked at while the program works and right after a kill. The row
# names its subject, by which the story of a message is told.
ALWAYS: Final[Mapping[str, str]] = {
    "a lane that miscounts its waiting signals": (
        "SELECT s.address, s.waiting AS counted FROM sessions s WHERE s.waiting <> "
        "(SELECT count(*) FROM signals i WHERE i.session = s.key AND i.state = 'waiting')"
    ),
    "a lane that miscounts its decided runs": (
        "SELECT s.address, s.resumable AS counted FROM sessions s WHERE s.resumable <> "
        "(SELECT count(*) FROM runs r WHERE r.session = s.key AND r.state = 'ready')"
    ),
    "a lane that misnumbers its turns": (
        "SELECT s.address, s.next_turn AS next FROM sessions s WHERE s.next_turn <> "
        "(SELECT coalesce(max(number), 0) + 1 FROM turns t WHERE t.session = s.key)"
    ),
    "a running lane without an owner, or an owner of a lane that does not run": (
        "SELECT address, state, owner FROM sessions WHERE (state = 'running') <> (owner IS NOT NULL)"
    ),
    "a lane that is owned by a dead node": (
        "SELECT s.address, s.owner FROM sessions s JOIN nodes n ON n.id = s.owner WHERE n.state <> 'live'"
    ),
    "an idle lane with work": (
        "SELECT s.address, s.waiting, s.resumable FROM sessions s WHERE s.state = 'idle' AND (s.waiting > 0 OR "
        "s.resumable > 0 OR EXISTS (SELECT 1 FROM runs r WHERE r.session = s.key AND r.state IN ('running', 'ready')))"
    ),
    "two signals of one number": (
        "SELECT min(address) AS address, min(id) AS signal FROM signals WHERE seq IS NOT NULL "
        "GROUP BY session, seq HAVING count(*) > 1"
    ),
    "two runs of one session at once": (
        "SELECT min(address) AS address, min(id) AS run FROM runs WHERE state = 'running' "
        "GROUP BY session HAVING count(*) > 1"
    ),
    "a parked run that waits for nobody": (
        "SELECT r.id AS run, r.address FROM runs r WHERE r.state = 'parked' AND NOT EXISTS "
        "(SELECT 1 FROM approvals a WHERE a.run_id = r.id AND a.state = 'pending') AND NOT EXISTS "
        "(SELECT 1 FROM children c WHERE c.parent_run = r.id AND c.awaits = 1 AND c.state = 'open') AND NOT EXISTS "
        "(SELECT 1 FROM waits w WHERE w.run_id = r.id AND w.kind = 'timer' AND w.settled_at IS NULL)"
    ),
    "a parked run without an open wait": (
        "SELECT r.id AS run, r.state, r.address FROM runs r WHERE r.state = 'parked' AND NOT EXISTS "
        "(SELECT 1 FROM waits w WHERE w.run_id = r.id AND w.settled_at IS NULL)"
    ),
    "an open wait of a run that does not wait": (
        "SELECT r.id AS run, r.state, w.kind, r.address FROM runs r JOIN waits w ON w.run_id = r.id "
        "WHERE w.settled_at IS NULL AND r.state <> 'parked' AND NOT (w.kind IN ('child', 'timer') AND r.state = 'running') "
        f"AND NOT {GOES_ON}"
    ),
    "a child at work without its parent's wait, or an open wait for a child that is over": (
        "SELECT c.id AS run, c.parent_run, c.state FROM children c JOIN runs r ON r.id = c.parent_run "
        "WHERE c.awaits = 1 AND r.ended_at IS NULL AND (c.state = 'open') <> EXISTS (SELECT 1 FROM waits w "
        "WHERE w.run_id = c.parent_run AND w.kind = 'child' AND w.subject = c.id AND w.settled_at IS NULL)"
    ),
    "a child whose run is over, and whose parent was not told": (
        "SELECT c.id AS run, r.state FROM children c JOIN runs r ON r.id = c.id "
        "WHERE c.state = 'open' AND r.ended_at IS NOT NULL"
    ),
    "a child that is over while its run goes on unhindered": (
        "SELECT c.id AS run, c.state, r.state AS runs FROM children c JOIN runs r ON r.id = c.id "
        "WHERE c.state <> 'open' AND r.ended_at IS NULL AND r.stop = 0"
    ),
    "a call in the hands of nobody": (
        "SELECT s.run_id AS run, s.number FROM steps s WHERE s.state = 'handed' AND NOT EXISTS (SELECT 1 FROM children c "
        "WHERE c.parent_run = s.run_id AND c.parent_step = s.number AND c.state = 'open') AND NOT EXISTS "
        "(SELECT 1 FROM waits w WHERE w.run_id = s.run_id AND w.kind = 'timer' AND w.settled_at IS NULL)"
    ),
    "a call with a result before all its children are over": (
        "SELECT c.id AS run, s.run_id AS parent, s.number FROM steps s JOIN children c ON c.parent_run = s.run_id "
        "AND c.parent_step = s.number JOIN runs r ON r.id = s.run_id "
        "WHERE s.state = 'done' AND c.awaits = 1 AND c.state = 'open' AND r.ended_at IS NULL"
    ),
    "a child that nobody waited for, and whose end was not told to its conversation once": (
        "SELECT c.id AS run, c.state FROM children c WHERE c.awaits = 0 AND (CASE WHEN c.state = 'open' THEN 0 ELSE 1 END)"
        " <> (SELECT count(*) FROM signals i WHERE i.dedupe_key = 'child ended:' || c.id)"
    ),
    "a task that is at work in a run that is over": (
        "SELECT t.id AS task, t.run_id AS run, r.state FROM tasks t JOIN runs r ON r.id = t.run_id "
        "WHERE t.state = 'claimed' AND r.ended_at IS NOT NULL"
    ),
    "a task that is claimed and that no run has, or will have": (
        "SELECT t.id AS task, t.room AS address FROM tasks t WHERE t.state = 'claimed' AND NOT EXISTS "
        "(SELECT 1 FROM signals i WHERE i.id = t.run_id AND i.state IN ('waiting', 'consumed'))"
    ),
    "a question of a run that does not wait": (
        "SELECT a.id AS approval, r.id AS run, r.state, r.address FROM approvals a JOIN runs r ON r.id = a.run_id "
        f"WHERE a.state = 'pending' AND r.state <> 'parked' AND NOT {GOES_ON}"
    ),
    "an ended run with an unfinished call": (
        "SELECT r.id AS run, r.address, s.number, s.state FROM steps s JOIN runs r ON r.id = s.run_id "
        "WHERE r.ended_at IS NOT NULL AND s.state <> 'done'"
    ),
    "a run that misnumbers its model calls": (
        "SELECT r.id AS run, r.address, r.iterations FROM runs r WHERE r.iterations <> "
        "(SELECT count(*) FROM steps s WHERE s.run_id = r.id AND s.kind = 'model' AND s.result = '')"
    ),
    "a model call whose usage is not kept once": (
        "SELECT s.run_id AS run, s.number FROM steps s WHERE s.kind = 'model' AND 1 <> "
        "(SELECT count(*) FROM usage u WHERE u.run_id = s.run_id AND u.step = s.number)"
    ),
    "usage of no model call": (
        "SELECT u.run_id AS run, u.step FROM usage u WHERE NOT EXISTS (SELECT 1 FROM steps s WHERE "
        "s.run_id = u.run_id AND s.number = u.step AND s.kind = 'model')"
    ),
    "a budget that is not the sum of its calls and of what is held back": (
        "SELECT b.scope, b.spent, b.calls, b.reserved, b.held FROM budgets b WHERE b.scope = 'day' AND ("
        "b.spent <> (SELECT coalesce(sum(cost_micros), 0) FROM usage u WHERE u.at >= b.ends_at - 86400000000) OR "
        "b.calls <> (SELECT count(*) FROM usage u WHERE u.model <> 'template' AND u.at >= b.ends_at - 86400000000) OR "
        "b.reserved <> (SELECT coalesce(sum(micros), 0) FROM reservations) OR "
        "b.held <> (SELECT count(*) FROM reservations))"
    ),
    "a room's budget that is not the sum of its calls": (
        "SELECT b.subject AS address, b.spent, b.reserved FROM budgets b WHERE b.scope = 'room_day' AND (b.spent <> "
        "(SELECT coalesce(sum(cost_micros), 0) FROM usage u WHERE u.at >= b.ends_at - 86400000000 AND "
        "(u.address = b.subject OR u.address LIKE b.subject || '/%')) OR b.reserved <> "
        "(SELECT coalesce(sum(micros), 0) FROM reservations r WHERE r.room = b.subject))"
    ),
    "money held back for a run that is over": (
        "SELECT v.run_id AS run FROM reservations v JOIN runs r ON r.id = v.run_id WHERE r.state <> 'running'"
    ),
    "an ended run without a last word": (
        "SELECT r.id AS run, r.address, r.trigger FROM runs r WHERE r.ended_at IS NOT NULL AND "
        "(CASE WHEN r.trigger = 'child' THEN 0 ELSE 1 END) <> "  # a child's last words go to its parent
        "(SELECT count(*) FROM deliveries d WHERE d.run_id = r.id AND d.kind IN ('final', 'report') AND d.origin NOT LIKE 'posted:%')"
        f" + (SELECT count(*) FROM {FAILURES_TOLD} AND r.id = o.run_id)"
    ),
    "a shown delivery with a part that is not": (
        "SELECT d.id AS delivery, d.address, p.ordinal, p.state FROM deliveries d JOIN parts p ON p.delivery_id = d.id "
        "WHERE d.state = 'shown' AND p.state <> 'shown'"
    ),
    "a delivery whose parts are all shown and that is still open": (
        "SELECT d.id AS delivery, d.address FROM deliveries d WHERE d.state = 'open' AND NOT EXISTS "
        "(SELECT 1 FROM parts p WHERE p.delivery_id = d.id AND p.state <> 'shown')"
    ),
    "a shown part without a receipt": (
        "SELECT delivery_id AS delivery, ordinal FROM parts WHERE state = 'shown' AND receipt IS NULL"
    ),
    "a message that is taken for answered before its answer is shown": (
        "SELECT i.id AS signal, i.address FROM signals i WHERE i.answered_at IS NOT NULL AND "
        "i.trigger <> 'child' AND NOT EXISTS "
        "(SELECT 1 FROM deliveries d WHERE d.run_id = i.run_id AND d.kind IN ('final', 'report') AND d.state = 'shown')"
        f" AND NOT EXISTS (SELECT 1 FROM {FAILURES_TOLD} AND i.run_id = o.run_id)"
    ),
    "a child that is taken for answered before its parent has its answer, or not after": (
        "SELECT i.id AS signal, c.state FROM signals i JOIN children c ON c.id = i.id "
        "WHERE (i.answered_at IS NOT NULL) <> (c.state <> 'open')"
    ),
}

# What must be true once nothing is left to do. Each row that is found is something that nobody will ever end.
AT_REST: Final[Mapping[str, str]] = {
    "a message that waits": "SELECT id AS signal, address FROM signals WHERE state = 'waiting'",
    "a run that is not ended": "SELECT id AS run, address, state FROM runs WHERE state IN ('running', 'ready', 'parked')",
    "a question that is not settled": "SELECT id AS approval, run_id AS run, address FROM approvals WHERE state = 'pending'",
    "a delivery that is not settled": (
        "SELECT id AS delivery, address, state, reason FROM deliveries WHERE state IN ('queued', 'open')"
    ),
    "a child that is at work": "SELECT id AS run, parent_run, state FROM children WHERE state = 'open'",
    "a wait that is open": "SELECT run_id AS run, kind, subject FROM waits WHERE settled_at IS NULL",
    "a call that is not over": "SELECT run_id AS run, number, tool, state FROM steps WHERE state <> 'done'",
    "a task that is not over": "SELECT id AS task, run_id AS run, state FROM tasks WHERE state IN ('open', 'claimed')",
    "money held back for nobody": "SELECT run_id AS run, micros FROM reservations",
    "a lane that is not idle": "SELECT address, state, owner FROM sessions WHERE state <> 'idle' OR owner IS NOT NULL",
}

# And besides, what may never have happened to anybody in this campaign.
AT_END: Final[Mapping[str, str]] = {
    **AT_REST,
    "a delivery that was given up": "SELECT id AS delivery, address, reason FROM deliveries WHERE state = 'dead'",
    "a run that failed": "SELECT id AS run, address, error FROM runs WHERE state = 'failed'",
    "a message that was refused": (
        "SELECT id AS signal, address FROM signals WHERE kind = 'said' AND state = 'refused'"
    ),
}
