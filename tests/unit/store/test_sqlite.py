"""SQLite alone: group commit, and everything that can be wrong with a file, in words for the operator."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from runtime.contract import Outcome, Said
from runtime.errors import StoreError, Trouble
from runtime.store import store as opening
from runtime.store.sql.driver import Op
from runtime.store.sql.files import SUFFIXES, DatabaseFiles
from runtime.store.sql.sqlite import BATCH, CROWD, GATHER, SLOW_DISK_REST, SLOW_READ, NearReads, SqliteDriver, connect
from runtime.store.store import open_store
from runtime.store.upgrade import upgrade_sqlite
from tests.contract.store.stage import GATE, UMA, HandClock, Stage, address
from tests.fakes import new_sqlite
from tests.fakes.ending import Ending
from tests.unit.store.watching import Watching

ROOT = Path(__file__).parents[3]

CREATE = text("CREATE TABLE things (name TEXT PRIMARY KEY)")
ADD = text("INSERT INTO things (name) VALUES (:name)")
ADD_ONCE = text("INSERT INTO things (name) VALUES (:name) ON CONFLICT DO NOTHING RETURNING name")
ALL = text("SELECT name FROM things ORDER BY name")


def run(statement: Any, **given: object) -> Callable[[], Op[list[tuple[Any, ...]]]]:
    def op() -> Op[list[tuple[Any, ...]]]:
        return (yield statement, given)

    return op


@pytest.fixture
async def driver(tmp_path: Path) -> AsyncIterator[SqliteDriver]:
    path = str(tmp_path / "a.db")
    opened = SqliteDriver(path, connect(path))
    await opened.write(run(CREATE))
    yield opened
    await opened.close()


@asynccontextmanager
async def gathering(driver: SqliteDriver) -> AsyncIterator[None]:
    """What is submitted inside waits, so that the writer finds it as one batch."""
    entered, release = threading.Event(), threading.Event()

    def block() -> Op[None]:
        entered.set()
        release.wait(50)
        yield text("SELECT 1"), {}

    async with asyncio.TaskGroup() as group:
        group.create_task(driver.write(block))
        await asyncio.to_thread(entered.wait, 10)
        try:
            yield
            await asyncio.sleep(0)
        finally:
            release.set()


async def names(driver: SqliteDriver) -> list[str]:
    return [name for (name,) in await driver.read(run(ALL))]


# --------------------------------------------------------------------------------------------------- group commit


async def test_what_waits_is_one_transaction(driver: SqliteDriver, tmp_path: Path) -> None:
    seen: list[int] = []

    def add(n: int) -> Callable[[], Op[None]]:
        def op() -> Op[None]:
            with closing(sqlite3.connect(tmp_path / "a.db")) as other:
                seen.append(other.execute("SELECT count(*) FROM things").fetchone()[0])
            yield ADD, {"name": f"{n}"}

        return op

    async with asyncio.TaskGroup() as group, gathering(driver):
        for n in range(20):
            group.create_task(driver.write(add(n)))
        await asyncio.sleep(0.01)
    assert seen == [0] * 20


async def test_one_bad_operation_of_a_batch_fails_alone(driver: SqliteDriver) -> None:
    async with gathering(driver):
        tasks = [asyncio.ensure_future(driver.write(run(ADD, name=name))) for name in ("a", "b", "a", "c")]
        await asyncio.sleep(0.01)
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [list, list, StoreError, list]
    assert await names(driver) == ["a", "b", "c"]


async def test_after_a_bad_neighbour_an_operation_runs_again_from_its_start(driver: SqliteDriver) -> None:
    starts: list[str] = []

    def add() -> Op[None]:
        starts.append("begun")
        yield ADD, {"name": "good"}

    def fail() -> Op[None]:
        yield ADD, {"name": "bad"}
        raise ValueError("a bug")

    async with gathering(driver):
        good, bad = asyncio.ensure_future(driver.write(add)), asyncio.ensure_future(driver.write(fail))
        await asyncio.sleep(0.01)
    await good
    with pytest.raises(ValueError, match="a bug"):
        await bad
    assert (starts, await names(driver)) == (["begun", "begun"], ["good"])


async def test_a_duplicate_is_a_return_value(driver: SqliteDriver) -> None:
    first = await driver.write(run(ADD_ONCE, name="a"))
    assert (first, await driver.write(run(ADD_ONCE, name="a"))) == ([("a",)], [])


async def test_an_operation_is_whole_or_not_at_all(driver: SqliteDriver) -> None:
    def two() -> Op[None]:
        yield ADD, {"name": "a"}
        yield ADD, {"name": "a"}

    with pytest.raises(StoreError):
        await driver.write(two)
    assert await names(driver) == []


async def test_a_batch_is_bounded_and_the_rest_follows(driver: SqliteDriver) -> None:
    async with asyncio.TaskGroup() as group, gathering(driver):
        for n in range(BATCH * 3):
            group.create_task(driver.write(run(ADD, name=f"{n}")))
    assert len(await names(driver)) == BATCH * 3


async def test_after_a_crowd_an_operation_waits_for_others_and_after_few_it_does_not(
    watched: tuple[SqliteDriver, Watching], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver, watch = watched
    waited, resting, others = list[float](), threading.Event(), threading.Event()

    def rest(seconds: float) -> None:
        waited.append(seconds)
        resting.set()
        others.wait(50)

    monkeypatch.setattr("runtime.store.sql.sqlite.sleep", rest)
    async with asyncio.TaskGroup() as group, gathering(driver):
        for number in range(CROWD):
            group.create_task(driver.write(run(ADD, name=f"{number}")))
        await asyncio.sleep(0)
    watch.commits.clear()
    async with asyncio.TaskGroup() as group:
        group.create_task(driver.write(run(ADD, name="one")))
        await asyncio.to_thread(resting.wait, 50)
        group.create_task(driver.write(run(ADD, name="another")))
        await asyncio.sleep(0)
        others.set()
    await driver.write(run(ADD, name="alone"))
    assert [operations for operations, _ in watch.commits] == [2, 1]
    assert waited == [GATHER]


async def test_a_waiter_that_gave_up_harms_nobody(driver: SqliteDriver) -> None:
    async with gathering(driver):
        gone = asyncio.ensure_future(driver.write(run(ADD, name="gone")))
        stays = asyncio.ensure_future(driver.write(run(ADD, name="stays")))
        await asyncio.sleep(0)
        gone.cancel()
    await stays
    assert await names(driver) == ["gone", "stays"]


async def test_a_failed_commit_fails_every_waiter_and_writes_nothing(driver: SqliteDriver) -> None:
    await driver.write(
        run(text("CREATE TABLE child (name TEXT REFERENCES things (name) DEFERRABLE INITIALLY DEFERRED)"))
    )
    driver._writer._connection.execute("PRAGMA foreign_keys = ON")  # a broken reference fails at COMMIT, not before
    async with gathering(driver):
        tasks = [asyncio.ensure_future(driver.write(run(ADD, name=f"{n}"))) for n in range(5)]
        tasks.append(asyncio.ensure_future(driver.write(run(text("INSERT INTO child VALUES ('nobody')")))))
        await asyncio.sleep(0.01)
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {StoreError}
    assert await names(driver) == []
    await driver.write(run(ADD, name="after"))
    assert await names(driver) == ["after"]


# ------------------------------------------------------------------------------------------------------- full disk


async def test_a_full_disk_fails_each_waiter_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    store = await open_store(f"sqlite:///{path}")
    stage = Stage(store, HandClock.of_today())
    await stage.open()
    (pages,) = await stage.column("PRAGMA page_count")
    await stage.write(f"PRAGMA max_page_count = {pages + 40}")

    async def one(n: int) -> str:
        try:
            said = await store.intake.accept(stage.signal(Said(f"{n}" + "x" * 20_000), actor=UMA), GATE)
        except StoreError as error:
            return "full" if "is full" in str(error) else str(error)
        return said.verdict.outcome.value

    first = await asyncio.gather(*(one(n) for n in range(30)))
    assert set(first) == {"full", "accepted"}
    await _whole(stage, first.count("accepted"))
    await stage.write("PRAGMA max_page_count = 1000000")
    again = await asyncio.gather(*(one(n) for n in range(100, 130)))
    assert set(again) == {"accepted"}
    await _whole(stage, first.count("accepted") + 30)
    await store.close()


async def _whole(stage: Stage, count: int) -> None:
    assert await stage.column("SELECT count(*) FROM signals") == [count]
    assert await stage.rows("SELECT waiting, last_seq FROM sessions") == [(count, count)]
    assert await stage.column("SELECT count(*) FROM audit WHERE kind = 'asked'") == [count]


def told(lines: Iterator[str] | str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (lines.splitlines() if isinstance(lines, str) else lines)]


def start(path: Path, case: str) -> Ending:
    command = [sys.executable, "-m", "tests.unit.store.writer", str(path), case]
    return Ending(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def stored(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {row[0] for row in connection.execute("SELECT id FROM signals")}


def test_a_commit_that_finds_no_room_is_told_and_what_was_acknowledged_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with start(path, "starved") as child:
        output, _ = child.communicate(timeout=50)
    lines = told(output)
    relieved = lines.index({"relieved": True})
    failures = [line["failed"] for line in lines[:relieved] if "failed" in line]
    assert failures
    assert all("full" in failure for failure in failures)
    assert all("accepted" in line for line in lines[relieved + 1 :])
    assert stored(path) == {line["accepted"] for line in lines if "accepted" in line}


# ------------------------------------------------------------------------------------------------------- kill -9


@pytest.mark.parametrize("after", [1, pytest.param(300, marks=pytest.mark.soak), 1500])
def test_whatever_was_acknowledged_survives_a_kill(tmp_path: Path, after: int) -> None:
    path = tmp_path / "a.db"
    acknowledged = set()
    with start(path, "endless") as child:
        assert child.stdout is not None
        for line in child.stdout:
            acknowledged.add(json.loads(line)["accepted"])
            if len(acknowledged) == after:
                child.kill()
                break
        # What it wrote before it died; its last line may be cut.
        rest = child.stdout.read().splitlines(keepends=True)
        acknowledged |= {json.loads(line)["accepted"] for line in rest if line.endswith("\n")}
    assert acknowledged <= stored(path)


async def test_after_a_kill_the_store_opens_and_its_counters_are_right(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with start(path, "endless") as child:
        assert child.stdout is not None
        for _ in range(200):
            child.stdout.readline()
        child.kill()
    store = await open_store(f"sqlite:///{path}")
    stage = Stage(store, HandClock.of_today())
    lanes = await stage.rows("SELECT key, waiting FROM sessions ORDER BY key")
    assert lanes == await stage.rows("SELECT session, count(*) FROM signals GROUP BY session ORDER BY session")
    await store.close()


# ------------------------------------------------------------------------------------------------- unfit files


async def test_a_file_that_may_only_be_read_is_told() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        await (await open_store(f"sqlite:///{path}")).close()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        with start(path, "unprivileged") as child:
            output, _ = child.communicate(timeout=50)
        path.parent.chmod(0o755)
        (line,) = told(output)
        assert str(path) in line["failed"]
        assert "Let this user write" in line["failed"] or "may this user write" in line["failed"]


async def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"Does .*missing exist"):
        await open_store(f"sqlite:///{tmp_path}/missing/a.db")


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_text("this is a letter, not a database" * 100)
    with pytest.raises(StoreError, match="not a sound SQLite database"):
        await open_store(f"sqlite:///{path}")


async def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await (await open_store(f"sqlite:///{path}")).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + os.urandom(len(whole) - 100))
    with pytest.raises(StoreError, match=str(path)):
        await open_store(f"sqlite:///{path}")


async def test_a_newer_database_is_told_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    await (await open_store(f"sqlite:///{path}")).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    with pytest.raises(StoreError, match="newer than this program"):
        await open_store(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)


async def test_a_wrong_address_of_a_database_is_told() -> None:
    with pytest.raises(StoreError, match="database_url must begin with"):
        await open_store("mysql://somewhere")


async def test_a_database_locked_by_another_program_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.db"
    await (await open_store(f"sqlite:///{path}")).close()

    def impatient(path: str) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute("PRAGMA busy_timeout = 200")
        return connection

    monkeypatch.setattr("runtime.store.store.connect", impatient)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another program"):
            await open_store(f"sqlite:///{path}")


async def test_a_lock_by_another_program_fails_all_that_wait_at_once(driver: SqliteDriver, tmp_path: Path) -> None:
    driver._writer._connection.execute("PRAGMA busy_timeout = 200")
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with asyncio.timeout(8):  # one after another they would wait 10 seconds
            writes = (driver.write(run(ADD, name=f"{n}")) for n in range(50))
            outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert all(isinstance(o, StoreError) and "locked" in str(o) for o in outcomes)
    await driver.write(run(ADD, name="after"))
    assert await names(driver) == ["after"]


def test_what_is_committed_is_on_the_disk(tmp_path: Path) -> None:
    with closing(new_sqlite.DURABLE(str(tmp_path / "a.db"))) as raw:
        assert raw.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


# ---------------------------------------------------------------------------------------------------- migration


@pytest.mark.parametrize("before", [[], ["CREATE TABLE other (name TEXT)"]], ids=["new", "to be migrated"])
def test_an_upgrade_that_fails_leaves_all_as_it_was(before: list[str]) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)) as raw:
        for statement in before:
            raw.execute(statement)
        raw.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_CREATE_INDEX else 0)
        with pytest.raises(Exception, match="not authorized"):
            upgrade_sqlite(raw)
        raw.set_authorizer(None)
        assert raw.execute("SELECT count(*) FROM sqlite_master").fetchone() == (len(before),)
        upgrade_sqlite(raw)
        assert raw.execute("SELECT count(*) FROM signals").fetchone() == (0,)


async def test_four_opening_a_new_file_at_once_all_find_it_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "upgrade_sqlite", upgrade_sqlite)  # the product's own
    url = f"sqlite:///{tmp_path}/a.db"

    def open_one() -> None:
        async def opened() -> None:
            store = await open_store(url)
            await store.check()
            await store.close()

        asyncio.run(opened())

    await asyncio.gather(*(asyncio.to_thread(open_one) for _ in range(4)))


async def test_a_store_in_memory_reads_what_it_wrote() -> None:
    store = await open_store("sqlite:///:memory:")
    stage = Stage(store, HandClock.of_today())
    await stage.open()
    said = await stage.say("hello", at=address("x"))
    assert said.verdict.outcome is Outcome.ACCEPTED
    assert (await store.history.view(address("x"))).busy
    await store.close()


# ------------------------------------------------------------------------------------------------ who watches it


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[tuple[SqliteDriver, Watching]]:
    watch, path = Watching(), str(tmp_path / "a.db")
    opened = SqliteDriver(path, connect(path), watch=watch)
    await opened.write(run(CREATE))
    watch.commits.clear()
    yield opened, watch
    await opened.close()


async def test_whoever_watches_is_told_of_each_commit_with_its_operations(
    watched: tuple[SqliteDriver, Watching],
) -> None:
    driver, watch = watched
    async with asyncio.TaskGroup() as group, gathering(driver):
        for number in range(5):
            group.create_task(driver.write(run(ADD, name=f"{number}")))
        await asyncio.sleep(0)
    await names(driver)  # a read is no commit
    assert sum(operations for operations, _ in watch.commits) == 6
    assert max(operations for operations, _ in watch.commits) >= 5
    assert all(0 <= seconds < 60 for _, seconds in watch.commits)


async def test_whoever_watches_is_told_of_each_operation_that_was_refused_and_why(
    watched: tuple[SqliteDriver, Watching], tmp_path: Path
) -> None:
    driver, watch = watched
    driver._writer._connection.execute("PRAGMA busy_timeout = 0")
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked"):
            await driver.write(run(ADD, name="refused"))
    with pytest.raises(StoreError, match="no such table"):
        await driver.read(run(text("SELECT 1 FROM nowhere")))
    assert watch.failures == [Trouble.LOCKED, Trouble.OTHER]
    assert watch.commits == []


async def test_a_brief_read_sees_what_is_committed(driver: SqliteDriver) -> None:
    assert driver._near is not None
    for name in ("a", "b"):
        await driver.write(run(ADD, name=name))
        assert driver._near.read(run(ALL)) == (await driver.read(run(ALL)),)
    assert await driver.read(run(ALL), is_brief=True) == [("a",), ("b",)]


async def test_after_a_slow_read_those_that_follow_hold_nobody_up(driver: SqliteDriver, tmp_path: Path) -> None:
    times, path = iter([0.0, SLOW_READ * 2, 1.0, SLOW_DISK_REST + 1, SLOW_DISK_REST + 1]), str(tmp_path / "a.db")
    near = NearReads(path, driver._compiler, DatabaseFiles(path), clock=lambda: next(times))
    assert near.read(run(ALL)) == ([],)
    assert near.read(run(ALL)) is None
    assert near.read(run(ALL)) == ([],)
    near.close()
    assert list(times) == []


async def test_a_brief_read_that_cannot_be_made_is_told_in_words(driver: SqliteDriver) -> None:
    with pytest.raises(StoreError, match="no such table"):
        await driver.read(run(text("SELECT 1 FROM nowhere")), is_brief=True)
    assert await driver.read(run(ALL), is_brief=True) == []


async def test_a_brief_read_looks_into_no_other_database(driver: SqliteDriver, tmp_path: Path) -> None:
    await driver.write(run(ADD, name="ours"))
    assert await driver.read(run(ALL)) == [("ours",)]
    for suffix in SUFFIXES:
        (tmp_path / f"a.db{suffix}").rename(tmp_path / f"b.db{suffix}")
    with closing(connect(str(tmp_path / "a.db"))) as other:
        other.execute("CREATE TABLE things (name TEXT PRIMARY KEY)")
    assert await driver.read(run(ALL), is_brief=True) == [("ours",)]
