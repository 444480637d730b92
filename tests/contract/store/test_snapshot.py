"""Rows out of one database and into another: one moment, nothing lost, whatever the engines and revisions."""

from __future__ import annotations

import asyncio
import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest

from runtime.errors import StoreError
from runtime.store.load import load_postgres, load_sqlite, was_restored
from runtime.store.schema import REVISION
from runtime.store.snapshot import snapshot
from runtime.store.sql.driver import Op
from runtime.store.store import open_store
from runtime.store.upgrade import migrate_sqlite
from runtime.vectors.packing import packed
from tests.contract.store.stage import LIST, OTHER_ROOM, SHELL, HandClock, Stage, step
from tests.contract.store.test_memories import actor
from tests.contract.store.test_memories import kept as kept_memory
from tests.contract.store.test_triggers import test_a_run_knows_what_began_it as every_trigger
from tests.fakes.postgres import Postgres

kept = pytest.mark.parametrize("url", ["file", "postgres"], indirect=True)
"""What is in memory ends with its process."""
SINCE_SMALL_VECTORS: Final = (
    *("processes", "skill_locks", "triggers", "trigger_fires", "room_marks", "forgettings", "audit_signatures"),
    *("event_cursors", "feedback", "tokens", "logins", "pushes", "peer_tasks", "deleted_rooms", "invitations"),
    *("push_subscriptions", "push_marks", "browser_sessions"),
)
"""Tables that came after revision 0038."""
SINCE_CLOCKS: Final = 7
"""Columns of nodes that came with revision 0053."""


class Rows:
    """A snapshot that was read to its end."""

    def __init__(self, revision: str, columns: Mapping[str, Sequence[str]]) -> None:
        self.revision = revision
        self.columns = dict(columns)
        self.all: dict[str, list[tuple[Any, ...]]] = {}

    def rows(self, table: str) -> Iterator[list[tuple[Any, ...]]]:
        rows = iter(self.all[table])
        while batch := list(islice(rows, 3)):
            yield batch

    def leave_out(self, *tables: str) -> None:
        """Be of a revision that had none of them yet."""
        self.columns = {table: names for table, names in self.columns.items() if table not in tables}

    def leave_off(self, table: str, added: int) -> None:
        """Be of a revision whose table had not yet so many columns, which are its last ones."""
        self.columns[table] = self.columns[table][:-added]
        self.all[table] = [row[:-added] for row in self.all[table]]


async def read(url: str) -> Rows:
    async with snapshot(url) as taken:
        found = Rows(taken.revision, taken.columns)
        for table in taken.columns:
            found.all[table] = [row async for rows in taken.rows(table) for row in rows]
    return found


def nothing(now: datetime) -> Op[None]:
    yield from ()


async def load(url: str, rows: Rows) -> None:
    if url.startswith("sqlite"):
        await asyncio.to_thread(load_sqlite, Path(url.removeprefix("sqlite:///")), rows, nothing)
    else:
        await load_postgres(url, rows, nothing)


async def busy(stage: Stage) -> None:
    """Something in most tables, with text that is hard to carry."""
    claim = await stage.begin('ünïcode "quotes" \\ back\nline\ttab \0 nul 😀')
    await stage.record(claim, step(LIST))
    await stage.store.runs.mark_tool(claim.lane, claim.run_id, 2)
    await stage.store.runs.finish_tool(claim.lane, claim.run_id, 2, "a\r\nb")
    await stage.finish(replace(claim, next_step=3))
    await stage.drain()
    await stage.park(SHELL, at=OTHER_ROOM)
    await stage.enqueue("waits")
    ada = await actor(stage)
    made = await kept_memory(stage, "ünïcode tea", ada, subject="tea", relation="is")
    vector = {"m": made.memory.id, "v": bytes(range(256))}
    await stage.write("INSERT INTO memory_vectors VALUES (:m, 'small', 'r', 64, :v)", **vector)


@pytest.fixture(params=["file", "postgres"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty place for another database."""
    if request.param == "file":
        return f"sqlite:///{tmp_path / 'target.db'}"
    server: Postgres = request.getfixturevalue("postgres")
    return server.create_database()


@kept
async def test_every_row_comes_over_whatever_the_engines(stage: Stage, url: str, target: str) -> None:
    await busy(stage)
    before = await stage.everything()
    await load(target, await read(url))
    other = await open_store(target, now=stage.clock)
    life = Stage(other, stage.clock)
    assert await life.everything() == before
    assert await life.column("SELECT vector FROM memory_vectors") == [bytes(range(256))]
    await other.close()


@kept
async def test_numbers_go_on_behind_those_that_came_over(stage: Stage, url: str, target: str) -> None:
    await busy(stage)
    await load(target, await read(url))
    store = await open_store(target, now=stage.clock)
    life = Stage(store, stage.clock, stage.lease, events=stage.events)
    await life.say("hello again")
    card = await life.enqueue("newest", at=OTHER_ROOM)
    (newest,) = await life.column("SELECT number FROM deliveries WHERE id = :d", d=card)
    assert newest == max(await life.column("SELECT number FROM deliveries"))
    assert len(await life.audit("asked")) == 3
    await store.close()


@kept
async def test_a_snapshot_is_one_moment_while_others_write(stage: Stage, url: str) -> None:
    await stage.say("before")
    async with snapshot(url) as taken:
        first = [row async for rows in taken.rows("sessions") for row in rows]
        await stage.say("after", at=OTHER_ROOM)
        await stage.write("DELETE FROM people")
        assert [row async for rows in taken.rows("sessions") for row in rows] == first
        assert len([row async for rows in taken.rows("signals") for row in rows]) == 1
        assert len([row async for rows in taken.rows("people") for row in rows]) == 4
    assert await stage.column("SELECT count(*) FROM signals") == [2]


@kept
async def test_a_snapshot_holds_no_writer_up(stage: Stage, url: str) -> None:
    async with snapshot(url) as taken, asyncio.timeout(20):
        rows = taken.rows("people")
        await anext(rows)
        await asyncio.gather(*(stage.say(f"m{n}") for n in range(50)))
    assert await stage.column("SELECT count(*) FROM signals") == [50]


@kept
async def test_it_says_when_it_was_taken(stage: Stage, url: str) -> None:
    async with snapshot(url) as taken:
        assert taken.taken_at.utcoffset() == timedelta()
        assert taken.revision == REVISION


# ------------------------------------------------------------------------------------------------- other revisions


def old_database(path: Path) -> str:
    """One of the first revision, with a person and a message in it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        migrate_sqlite(raw, "0001")
        raw.execute("INSERT INTO people (id, name, role, added_at) VALUES ('p1', 'Ada', 3, 1)")
        raw.execute(
            "INSERT INTO deliveries (number, id, origin, ordinal, kind, channel, account, address, content, state, "
            "rank, not_before, reason, created_at) VALUES (7, 'd1', 'o1', 0, 'final', 'web', 'main', 'web:main/r', "
            "'{}', 'shown', 1, 1, '', 1)"
        )
    return f"sqlite:///{path}"


async def test_rows_of_an_older_revision_are_brought_up(tmp_path: Path, target: str) -> None:
    rows = await read(old_database(tmp_path / "old.db"))
    assert rows.revision == "0001"
    await load(target, rows)
    store = await open_store(target)
    life = Stage(store, HandClock())
    assert await life.rows("SELECT number, doubted_at FROM deliveries") == [(7, None)]
    assert [known.person.name for known in await store.people.people()] == ["Ada"]
    await store.close()


@kept
async def test_vectors_of_an_older_revision_are_made_small(stage: Stage, url: str, target: str) -> None:
    numbers = [1.0, -0.5, 0.25, 0.0]
    for table in ("memory_vectors", "knowledge_vectors"):
        given = {"v": struct.pack("<4f", *numbers)}
        await stage.write(f"INSERT INTO {table} VALUES ('m1', 'small', 'r', 4, :v)", **given)
    rows = await read(url)
    rows.revision = "0036"
    rows.leave_out(*SINCE_SMALL_VECTORS)
    for table in ("audit", "rooms", "signals", "turns"):
        rows.leave_off(table, 1)
    rows.leave_off("nodes", SINCE_CLOCKS)
    await load(target, rows)
    store = await open_store(target)
    life = Stage(store, HandClock())
    for table in ("memory_vectors", "knowledge_vectors"):
        assert await life.column(f"SELECT vector FROM {table}") == [packed(numbers)]
    await store.close()


@kept
async def test_waits_and_triggers_are_found_for_the_runs_of_an_older_revision(
    stage: Stage, url: str, target: str
) -> None:
    await every_trigger(stage)
    await stage.write("UPDATE signals SET platform = 'hook:builds' WHERE trigger = 'hook'")
    parked = await stage.park(SHELL)
    rows = await read(url)
    before = {table: rows.all[table] for table in ("signals", "runs", "waits", "occurrences")}
    rows.revision = "0011"
    younger = (
        "waits",
        "grants",
        "modes",
        "absences",
        "undos",
        "summaries",
        "asked_back",
        "cooldowns",
        "budgets",
        "reservations",
        "chats",
        "agents",
        "agent_rooms",
        "children",
        "tasks",
        "plans",
        "memories",
        "memory_vectors",
        "memory_uses",
        "person_summaries",
        "state_values",
        "forgotten",
        "knowledge_documents",
        "knowledge_chunks",
        "knowledge_vectors",
        *SINCE_SMALL_VECTORS,
    )
    rows.leave_out(*younger)
    for table, added in {
        "signals": 3,
        "runs": 2,
        "occurrences": 2,
        "approvals": 8,
        "sessions": 1,
        "usage": 3,
        "turns": 2,
        "steps": 3,
        "nodes": 1 + SINCE_CLOCKS,
        "audit": 1,
        "rooms": 1,
    }.items():
        rows.leave_off(table, added)
    await load(target, rows)
    after = await read(target)
    assert {table: sorted(after.all[table]) for table in before} == {t: sorted(found) for t, found in before.items()}
    assert [row[:4] for row in after.all["waits"]] == [(parked.run, 2, "approval", parked.approvals[0])]


@kept
async def test_a_newer_database_is_not_read(stage: Stage, url: str) -> None:
    await stage.write("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="newer than this program"):
        await read(url)
    await stage.write("UPDATE alembic_version SET version_num = :v", v=REVISION)


# ------------------------------------------------------------------------------------------------------- bad places


async def test_what_is_no_database_of_ours_is_told(tmp_path: Path, postgres: Postgres) -> None:
    with pytest.raises(StoreError, match=r"There is no Signalbox database at .*none\.db"):
        await read(f"sqlite:///{tmp_path / 'none.db'}")
    sqlite3.connect(tmp_path / "other.db").close()
    with pytest.raises(StoreError, match="There is no Signalbox database"):
        await read(f"sqlite:///{tmp_path / 'other.db'}")
    with pytest.raises(StoreError, match="There is no Signalbox database"):
        await read(postgres.create_database())
    with pytest.raises(StoreError, match="in memory"):
        await read("sqlite:///:memory:")


@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        ({"secrets": ["id"]}, "secrets"),
        ({"people": ["id; DROP TABLE people"]}, "DROP TABLE"),
        ({"people": ["nonsense"]}, "nonsense"),
    ],
)
async def test_names_that_are_none_of_ours_are_refused(
    columns: dict[str, list[str]], fault: str, target: str, tmp_path: Path
) -> None:
    rows = Rows(REVISION, columns)
    rows.all = {table: [("1",)] for table in columns}
    with pytest.raises(StoreError, match=fault):
        await load(target, rows)


async def test_a_load_that_fails_leaves_nothing_in_a_server(postgres: Postgres) -> None:
    url = postgres.create_database()
    rows = Rows(REVISION, {"people": ["id", "name", "role", "link_hash", "added_at"]})
    rows.all = {"people": [("p1", "Ada", 4, None, 1), ("p1", "Ada", 4, None, 1)]}
    with pytest.raises(StoreError):
        await load_postgres(url, rows, nothing)
    connection = await asyncpg.connect(url)
    assert await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0
    await connection.close()
    assert await was_restored(url, "b1") is False
