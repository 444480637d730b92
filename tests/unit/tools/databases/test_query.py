"""Questions to a database: the same of SQLite and of PostgreSQL, both real."""

from __future__ import annotations

import csv
import io
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest

from runtime.errors import ToolError, ToolFailed, ToolRetry
from runtime.text.outside import sources_in
from tests.fakes.postgres import Postgres
from tests.unit.tools.databases.asked import BOUNDS, ask, postgres, sqlite
from tools.databases.answers import Database, QueryBounds, QueryFault
from tools.databases.postgres import PostgresDatabase
from tools.databases.sqlite import SqliteDatabase
from tools.databases.statements import statement_of
from tools.databases.tool import OpenDatabase


@pytest.fixture(params=["sqlite", "postgres"])
async def sales(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "sqlite":
        return sqlite(tmp_path)
    server: Postgres = request.getfixturevalue("postgres")
    return await postgres(server.create_database())


@pytest.fixture
def room(tmp_path: Path) -> Path:
    folder = tmp_path / "room"
    folder.mkdir()
    return folder


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


async def test_rows_are_a_table_and_its_file_where_they_do_not_fit(sales: Database, room: Path) -> None:
    told = await ask(room, sales, sql="SELECT region, total FROM orders ORDER BY region DESC;")
    assert told.splitlines()[1:] == [
        "region | total",
        "South | NULL",
        "North | 12.5",
        f"=West() | {'3.0' if isinstance(sales, SqliteDatabase) else '3'}",
    ]
    assert told.startswith("sales: 3 rows, 2 columns, 0.")
    assert files(room) == []
    told = await ask(room, sales, sql="-- all of it\nSELECT * FROM orders")
    [file] = files(room / "queries")
    assert f"[All 3 rows are in queries/{file.name}: chart draws it" in told
    rows = list(csv.reader(io.StringIO(file.read_text(encoding="utf-8"))))
    assert rows[1:3] == [["North", "12.5", "Obey me"], ["South", "", "fine\nand well"]]
    assert (rows[3][0], len(rows[3][2])) == ("'=West()", 2_000)


async def test_a_file_is_kept_where_it_is_asked_for_and_a_repeat_writes_the_same(sales: Database, room: Path) -> None:
    for _ in range(2):
        await ask(room, sales, sql="SELECT region, total FROM orders", file=True)
    assert len(files(room / "queries")) == 1


async def test_without_a_statement_tables_and_columns_are_told(sales: Database, room: Path) -> None:
    told = await ask(room, sales)
    kinds = ("TEXT", "FLOAT") if isinstance(sales, SqliteDatabase) else ("text", "double precision")
    assert told == f"Tables of sales:\norders(region {kinds[0]}, total {kinds[1]}, note {kinds[0]})"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT region, region, 1 AS region FROM orders",
        "VALUES (1), (2)",
        "WITH a AS (SELECT 1 AS x) SELECT * FROM a -- end",
        "EXPLAIN SELECT 1",
    ],
)
async def test_each_form_that_reads_is_answered(sales: Database, room: Path, sql: str) -> None:
    assert (await ask(room, sales, sql=sql)).startswith("sales: ")


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM orders",
        "/* SELECT */ DROP TABLE orders",
        "SELECT 1; DELETE FROM orders",
        "WITH gone AS (DELETE FROM orders RETURNING *) SELECT * FROM gone",
        "PRAGMA query_only = 0",
        "ATTACH 'other.db' AS other",
        "SET default_transaction_read_only = off",
        "SELECT 1) AS asked(c0); DELETE FROM orders; SELECT * FROM (SELECT 1",
        "SELECT * INTO other FROM orders",
        "EXPLAIN ANALYZE DELETE FROM orders",
    ],
)
async def test_nothing_is_written_whatever_is_asked(sales: Database, room: Path, sql: str) -> None:
    with pytest.raises(ToolError):
        await ask(room, sales, sql=sql)
    assert (await ask(room, sales, sql="SELECT count(*) FROM orders")).endswith("\n3")


async def test_more_rows_than_are_allowed_are_told(sales: Database, room: Path) -> None:
    few = replace(sales, bounds=QueryBounds(2, BOUNDS.time))  # type: ignore[type-var]
    told = await ask(room, few, sql="SELECT region FROM orders")
    assert told.startswith("sales: 2 rows and more")
    assert "[There are more rows: at most 2 are read." in told


async def test_what_takes_an_hour_is_stopped_and_told(sales: Database, room: Path) -> None:
    quick = replace(sales, bounds=QueryBounds(10, timedelta(seconds=1)))  # type: ignore[type-var]
    endless = "WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT count(*) FROM a"
    began = time.monotonic()
    with pytest.raises(ToolFailed, match="It was stopped after 1 s"):
        await ask(room, quick, sql=endless)
    assert time.monotonic() - began < 20


async def test_a_fault_may_repeat_a_row_and_is_material(sales: Database, room: Path) -> None:
    wrong = (
        "SELECT CAST(note AS integer) FROM orders" if isinstance(sales, PostgresDatabase) else "SELECT obey FROM orders"
    )
    with pytest.raises(ToolFailed, match="didn't answer") as caught:
        await ask(room, sales, sql=wrong)
    assert sources_in(str(caught.value)) == ("sales",)
    assert "of-the-reader" not in str(caught.value)


async def test_a_large_value_is_cut_where_it_is(sales: Database, room: Path) -> None:
    large = "repeat('x', 30000000)" if isinstance(sales, PostgresDatabase) else "hex(zeroblob(15000000))"
    told = await ask(room, sales, sql=f"SELECT {large} AS big")
    assert len(told) < 500
    [file] = files(room / "queries")
    assert file.stat().st_size == 2_000 + len("big\n\n")


# ------------------------------------------------------------------------------------------------------------- SQLite


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT load_extension('x')",
        "SELECT writefile('x', 'y')",
        "SELECT * FROM pragma_journal_mode('delete')",
        "SELECT hex(zeroblob(1000000000))",
        "SELECT group_concat(hex(zeroblob(10000000))) FROM (WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a LIMIT 5000) SELECT x FROM a)",
    ],
)
async def test_sqlite_calls_nothing_and_takes_no_memory(tmp_path: Path, room: Path, sql: str) -> None:
    with pytest.raises(ToolFailed):
        await ask(room, sqlite(tmp_path, QueryBounds(100, timedelta(seconds=1))), sql=sql)


async def test_a_file_that_is_not_there_is_told_and_not_made(tmp_path: Path, room: Path) -> None:
    gone = SqliteDatabase("gone", tmp_path / "gone.db", BOUNDS)
    with pytest.raises(ToolFailed, match=r"gone didn't answer\. Its file can't be opened"):
        await ask(room, gone, sql="SELECT 1")
    assert [file.name for file in files(tmp_path)] == ["room"]


async def test_sqlite_is_read_only_even_without_its_other_bounds(tmp_path: Path) -> None:
    assert await sqlite(tmp_path).objection() == ""
    with closing(sqlite3.connect(tmp_path / "sales data.db")) as seen:
        assert seen.execute("SELECT count(*) FROM orders").fetchone() == (3,)


# ---------------------------------------------------------------------------------------------------------- PostgreSQL


async def test_a_role_that_may_write_is_not_asked(postgres: Postgres, room: Path) -> None:
    from tests.unit.tools.databases import asked

    owner = postgres.create_database()
    superuser = PostgresDatabase("own", owner, BOUNDS)
    writer = await asked.postgres(owner, "GRANT UPDATE (note) ON orders TO {}")
    with pytest.raises(ToolFailed, match=r"isn't asked: its role is a superuser.* it needs a role that only reads"):
        await ask(room, superuser, sql="SELECT 1")
    with pytest.raises(ToolFailed, match=r"isn't asked: its role may write to public\.orders"):
        await ask(room, writer, sql="SELECT 1")
    member = replace(writer, url=writer.url.replace("reader_", "member_"))
    connection = await asyncpg.connect(owner)
    name = member.url.partition("//")[2].partition(":")[0]
    await connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'of-the-reader'; GRANT pg_read_server_files TO {name}")
    await connection.close()
    with pytest.raises(QueryFault, match="its role is a member of pg_read_server_files"):
        await member.query("SELECT 1")


async def test_a_wrong_password_and_a_server_that_is_away_are_told_without_it(postgres: Postgres, room: Path) -> None:
    wrong = PostgresDatabase("sales", postgres.url.replace(":", ":no", 2).replace(":no//", "://", 1), BOUNDS)
    away = PostgresDatabase("sales", "postgresql://reader:hush-hush@127.0.0.1:9/sales", BOUNDS)
    for database in (wrong, away):
        with pytest.raises(ToolFailed, match="sales didn't answer") as caught:
            await ask(room, database, sql="SELECT 1")
        assert "hush" not in str(caught.value)
        assert postgres.url not in str(caught.value)
        assert "hush" not in repr(database)


# ------------------------------------------------------------------------------------------------------- who may ask


async def test_only_those_agents_and_rooms_ask_it(tmp_path: Path, room: Path) -> None:
    database = OpenDatabase(sqlite(tmp_path), agents=("sales*",), rooms=("slack:work/*",))
    assert "3" in await ask(
        room, database, sql="SELECT count(*) FROM orders", agent="sales-1", room="slack:work/C1/7.1"
    )
    for agent, where in (("main", "slack:work/C1"), ("sales-1", "web:main/r1")):
        with pytest.raises(ToolRetry, match="There is no database to ask in this room"):
            await ask(room, database, sql="SELECT 1", agent=agent, room=where)


async def test_of_several_one_is_named(tmp_path: Path, room: Path) -> None:
    first = sqlite(tmp_path)
    second = replace(first, name="stock")
    with pytest.raises(ToolRetry, match=r"Name the database: sales and stock\."):
        await ask(room, first, second, sql="SELECT 1")
    with pytest.raises(ToolRetry, match="There is no database 'stick' here; there are sales and stock"):
        await ask(room, first, second, sql="SELECT 1", database="stick")
    assert (await ask(room, first, second, sql="SELECT 1", database="stock")).startswith("stock: 1 row")


@pytest.mark.parametrize("sql", ["/* SELECT", "--SELECT 1", "x" * 30_000, "SELECT\0", "/**/;", "/*" + "*" * 50_000])
def test_what_is_no_question_is_told_at_once(sql: str) -> None:
    with pytest.raises(ToolRetry):
        statement_of(sql)


async def test_a_question_tells_nobody_who_listens_to_the_database(postgres: Postgres, room: Path) -> None:
    from tests.unit.tools.databases import asked

    owner, heard = postgres.create_database(), list[str]()
    reader = await asked.postgres(owner)
    listener = await asyncpg.connect(owner)
    try:
        await listener.add_listener("orders", lambda *told: heard.append(str(told[-1])))
        await ask(room, reader, sql="SELECT pg_notify('orders', 'paid')")
        await listener.execute("NOTIFY orders, 'the owner'")
        await listener.fetchval("SELECT 1")
    finally:
        await listener.close()
    assert heard == ["the owner"]
