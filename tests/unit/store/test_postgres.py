"""PostgreSQL alone: away, frozen, newer, and reached by every form of its address."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import asyncpg
import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from runtime.contract import NodeId
from runtime.errors import StoreError, Trouble
from runtime.store.sql import connections
from runtime.store.sql import postgres as engine
from runtime.store.sql.driver import Op, Rows
from runtime.store.sql.wire import servers
from runtime.store.sql.wire.database_errors import POOL, explain
from runtime.store.sql.wire.pipeline import Pipelined, Script
from runtime.store.sql.wire.servers import Servers
from runtime.store.store import Store, open_store
from runtime.store.upgrade import NEWER_SCHEMA
from tests.contract.store.stage import HandClock, Stage
from tests.fakes.postgres import Postgres
from tests.lab.proxy import proxy
from tests.unit.store.watching import Watching

SHOW_PATIENCE: Final = "SHOW idle_in_transaction_session_timeout"


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """A server that a test may stop."""
    with Postgres() as server:
        yield server


@pytest.fixture
async def store(postgres: Postgres) -> AsyncIterator[Store]:
    opened = await open_store(postgres.newest_database())
    yield opened
    await opened.close()


def password_of(url: str) -> str:
    found = re.search(r":([^:@/]+)@", url)
    assert found is not None
    return found[1]


async def test_a_server_that_goes_away_is_told_and_comes_back(own_server: Postgres) -> None:
    url = own_server.create_database()
    store = await open_store(url)
    stage = Stage(store, HandClock.of_today())
    await stage.open()
    own_server.stop()
    with pytest.raises(StoreError) as away:
        await stage.say("hello")
    assert password_of(url) not in str(away.value)
    assert away.value.trouble is Trouble.AWAY
    own_server.start()
    await _answers(stage)
    await store.close()


async def _answers(stage: Stage) -> None:
    """Connections that died with the server each fail once at most."""
    for _ in range(POOL + 1):
        try:
            await stage.say("hello")
        except StoreError:
            continue
        return
    raise AssertionError("the store does not recover")


async def test_a_server_that_is_not_there_is_told_without_the_password(postgres: Postgres) -> None:
    url = re.sub(r":\d+/", ":1/", postgres.url)
    with pytest.raises(StoreError, match="cannot be reached") as told:
        await open_store(url)
    assert password_of(url) not in str(told.value)


async def test_a_wrong_password_is_told_without_showing_it(postgres: Postgres) -> None:
    url = postgres.url.replace(password_of(postgres.url), "wr0ngs3cret")
    with pytest.raises(StoreError, match="cannot be reached") as told:
        await open_store(url)
    assert "wr0ngs3cret" not in str(told.value)


async def test_a_malformed_address_is_told_without_the_password() -> None:
    with pytest.raises(StoreError) as told:
        await open_store("postgresql://user:s3cret@host:port/db")
    assert "s3cret" not in str(told.value)


@pytest.mark.parametrize("form", ["postgres scheme", "an option"])
async def test_every_form_of_the_address_is_understood(postgres: Postgres, form: str) -> None:
    url = postgres.newest_database()
    url = url.replace("postgresql://", "postgres://") if form == "postgres scheme" else f"{url}?sslmode=disable"
    store = await open_store(url)
    await store.check()
    await store.close()


async def test_three_nodes_that_start_at_once_migrate_once(postgres: Postgres) -> None:
    url = postgres.create_database()
    for store in await asyncio.gather(*(open_store(url) for _ in range(3))):
        await store.check()
        await store.close()


async def test_a_newer_database_is_worked_on_until_it_took_away_what_we_need(postgres: Postgres) -> None:
    url = postgres.newest_database()
    here = await open_store(url)
    connection = await asyncpg.connect(url)
    await connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with capture_logs() as logs:
        there = await open_store(url)
    assert [(line["event"], line["schema"]) for line in logs] == [(NEWER_SCHEMA, "9999")]
    await there.cluster.join(NodeId("n1"), "a/1", timedelta(seconds=5), alone=False)
    await connection.execute("INSERT INTO schema_contracts VALUES ('9998')")
    await connection.close()
    with pytest.raises(StoreError, match="newer than this program: revision 9998 took away"):
        await open_store(url)
    with pytest.raises(StoreError, match="revision 9998 took away"):
        await there.cluster.join(NodeId("n2"), "a/2", timedelta(seconds=5), alone=False)
    await there.close()
    await here.close()


async def test_a_database_of_another_program_is_left_alone(postgres: Postgres) -> None:
    url = postgres.create_database()
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE TABLE alembic_version AS SELECT 'ae1027a6acf5' AS version_num")
    await connection.close()
    with pytest.raises(StoreError, match="schema of another program"):
        await open_store(url)


async def test_the_clock_is_the_servers(store: Store) -> None:
    (micros,) = await Stage(store, HandClock.of_today()).column(
        "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
    )
    assert abs(store.now().timestamp() - micros / 1e6) < 1


async def test_a_write_that_fails_leaves_nothing(store: Store) -> None:
    def two() -> Op[None]:
        yield text("INSERT INTO roles (name, fence) VALUES ('a', 1)"), {}
        yield text("SELECT 1 / 0"), {}

    with pytest.raises(StoreError):
        await store.driver.write(two)
    assert await Stage(store, HandClock.of_today()).column("SELECT count(*) FROM roles") == [0]


async def test_a_reading_operation_cannot_write(store: Store) -> None:
    def write() -> Op[None]:
        yield text("INSERT INTO roles (name, fence) VALUES ('a', 1)"), {}

    with pytest.raises(StoreError):
        await store.driver.read(write)


async def test_whoever_watches_is_told_of_commits_and_of_what_was_refused(postgres: Postgres) -> None:
    watch = Watching()
    store = await open_store(postgres.newest_database(), watch=watch)
    before = len(watch.commits)
    await store.cluster.account_identity("web", "main", "w1")
    assert [operations for operations, _ in watch.commits[before:]] == [1]
    with pytest.raises(StoreError):
        await store.driver.read(_write)
    assert watch.failures == [Trouble.READ_ONLY]
    await store.close()


def _write() -> Op[None]:
    yield text("DELETE FROM nodes"), {}


async def test_two_that_wait_for_each_other_both_succeed(store: Store) -> None:
    stage = Stage(store, HandClock.of_today())
    await stage.write("INSERT INTO roles (name, fence) VALUES ('a', 0), ('b', 0)")
    met = asyncio.Barrier(2)

    def crossing(first: str, second: str) -> Op[None]:
        yield text("UPDATE roles SET fence = fence + 1 WHERE name = :n"), {"n": first}
        yield text("SELECT pg_sleep(0.05)"), {}
        yield text("UPDATE roles SET fence = fence + 1 WHERE name = :n"), {"n": second}

    async def cross(first: str, second: str) -> None:
        await met.wait()
        await store.driver.write(lambda: crossing(first, second))

    await asyncio.gather(cross("a", "b"), cross("b", "a"))
    assert await stage.column("SELECT fence FROM roles") == [2, 2]


async def test_a_frozen_server_is_told_in_time(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "READS_WITHIN", engine.READS_WITHIN / 20)
    store = await open_store(postgres.newest_database())
    (backend,) = await Stage(store, HandClock.of_today()).column("SELECT pg_backend_pid()")
    os.kill(backend, signal.SIGSTOP)
    try:
        async with asyncio.timeout(20):
            with pytest.raises(StoreError):
                await store.check()
    finally:
        os.kill(backend, signal.SIGCONT)
    await store.check()
    await store.close()


async def test_connections_that_a_firewall_forgot_are_replaced_after_one_silence(postgres: Postgres) -> None:
    url = postgres.newest_database()
    to = urlsplit(url)
    async with proxy(to.hostname or "", to.port or 0) as way:
        there = url.replace(f":{to.port}/", f":{way.port}/")
        store = await open_store(there, within=timedelta(seconds=0.5))
        writing = [store.driver.write(_slow_write) for _ in range(POOL)]
        await asyncio.gather(*writing)  # so that all connections are open
        way.lose()
        async with asyncio.timeout(20):
            with pytest.raises(StoreError, match="no answer within"):
                await store.driver.write(_write)
            await store.driver.write(_write)
            await store.close()


async def test_a_read_that_began_just_before_a_silence_was_noticed_does_not_wait_on(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection was at hand since before; a read may take ten seconds."""
    monkeypatch.setattr(connections, "FRESH_SECONDS", 0.3)
    to = urlsplit(postgres.create_database())
    async with proxy(to.hostname or "", to.port or 0) as way:
        there = to.geturl().replace(f":{to.port}/", f":{way.port}/")
        store = await open_store(there, within=timedelta(seconds=0.5))
        await asyncio.gather(*(store.driver.write(_slow_write) for _ in range(POOL)))
        way.lose()
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(_refused(store.driver.write(_write)))
            await asyncio.sleep(0.5)
            reading = group.create_task(_refused(store.check()))
            _, late = await asyncio.wait({writing, reading}, timeout=3)
            for one in late:
                one.cancel()
        assert not late
        await store.close()


async def _refused(work: Awaitable[object]) -> None:
    with pytest.raises(StoreError):
        await work


async def test_a_process_that_stood_still_in_a_transaction_kept_nothing_from_the_others_and_runs_it_again(
    postgres: Postgres,
) -> None:
    """A frozen one keeps its connections, and would keep its locks."""
    url, runs = postgres.newest_database(), list[bool]()
    store, other = await open_store(url, within=timedelta(seconds=0.5)), await asyncpg.connect(url)

    def stands_still() -> Op[None]:
        yield text("INSERT INTO roles (name, fence) VALUES ('a', 1)"), {}
        yield text("SELECT 1"), {}
        runs.append(True)
        if len(runs) == 1:
            time.sleep(0.5)  # as with SIGSTOP, the whole process

    await store.driver.write(stands_still)
    assert (len(runs), await other.fetchval("SELECT count(*) FROM roles")) == (2, 1)
    await other.close()
    await store.close()


async def test_rows_that_another_node_keeps_are_no_trouble_of_the_store(postgres: Postgres) -> None:
    """A node whose way drips keeps its transactions open for seconds: who waits for their rows is told, and is well."""
    url = postgres.create_database()
    store, other = await open_store(url, within=timedelta(seconds=0.5)), await asyncpg.connect(url)
    async with other.transaction():
        await other.execute("INSERT INTO roles (name, fence) VALUES ('a', 1)")
        with pytest.raises(StoreError) as refused:
            await store.driver.write(_take_role)
    assert (refused.value.trouble, store.driver.trouble) == (Trouble.LOCKED, None)
    await store.check()
    await other.close()
    await store.close()


async def test_a_purge_waits_for_others_and_leaves_no_connection_without_bounds(postgres: Postgres) -> None:
    store = await open_store(postgres.create_database())
    await store.driver.purge()

    def bound() -> Op[str]:
        rows = yield text("SHOW lock_timeout"), {}
        return str(rows[0][0])

    assert await store.driver.write(bound) == "8s"
    await store.close()


def _take_role() -> Op[None]:
    yield text("INSERT INTO roles (name, fence) VALUES ('a', 2)"), {}


def _slow_write() -> Op[None]:
    yield text("SELECT pg_sleep(0.05)"), {}


async def test_a_cancelled_operation_ends_at_once_though_the_server_is_silent(postgres: Postgres) -> None:
    url = postgres.newest_database()
    to = urlsplit(url)
    async with proxy(to.hostname or "", to.port or 0) as way:
        store = await open_store(url.replace(f":{to.port}/", f":{way.port}/"), within=timedelta(minutes=5))
        way.stall()
        async with asyncio.TaskGroup() as group:
            task = group.create_task(store.driver.write(_write))
            await asyncio.sleep(0.1)
            task.cancel()
            ended, _ = await asyncio.wait({task}, timeout=20)  # an operation may take minutes
        assert ended
        assert task.cancelled()
        async with asyncio.timeout(30):
            await store.close()


@pytest.fixture
def _pooled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind a pooler: clients are told of a process that is not the one that serves them."""
    monkeypatch.setattr(asyncpg.Connection, "get_server_pid", lambda _: 0)


async def test_without_a_pooler_statements_stay_prepared(postgres: Postgres) -> None:
    assert await engine.kept_statements(postgres.url) == engine.STATEMENTS


@pytest.mark.usefixtures("_pooled")
async def test_behind_a_pooler_no_statement_outlives_its_transaction(postgres: Postgres) -> None:
    store = await open_store(postgres.newest_database())
    stage = Stage(store, HandClock.of_today())
    await stage.open()
    await stage.say("hello")
    left = "SELECT count(*) FROM pg_prepared_statements"
    driver = store.driver
    assert isinstance(driver, engine.PostgresDriver)
    async with driver._pool.acquire() as connection:
        assert await connection.fetchval(left) == 0
    await store.close()


@pytest.mark.usefixtures("_pooled")
async def test_behind_a_pooler_nothing_is_set_beyond_a_transaction(postgres: Postgres) -> None:
    """A transaction that is left is rolled back there too; what others do on that connection is theirs."""
    store = await open_store(postgres.newest_database())
    driver = store.driver
    assert isinstance(driver, engine.PostgresDriver)

    def asked() -> Op[str]:
        rows = yield text(SHOW_PATIENCE), {}
        return str(rows[0][0])

    assert await driver.write(asked) == "3s"
    async with driver._pool.acquire() as connection:
        assert await connection.fetchval(SHOW_PATIENCE) == "0"
    await store.close()


async def test_a_server_that_is_silent_keeps_nobody_from_the_next_one(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "HOST_TIMEOUT_SECONDS", 0.5)
    to = urlsplit(postgres.create_database())
    async with proxy("127.0.0.1", to.port or 0) as way:
        way.stall()
        both = Servers(to._replace(netloc=to.netloc.replace("@", f"@127.0.0.1:{way.port},")).geturl())
        await (await both.connect()).close()
        monkeypatch.setattr(servers, "HOST_TIMEOUT_SECONDS", 30)
        async with asyncio.timeout(20):
            await (await both.connect()).close()


async def test_of_several_servers_one_that_takes_no_writes_is_told_with_words(postgres: Postgres) -> None:
    url = postgres.create_database()
    admin = await asyncpg.connect(url)
    await admin.execute("ALTER DATABASE " + url.rsplit("/", 1)[1] + " SET default_transaction_read_only = on")
    await admin.close()
    place = urlsplit(url).netloc.rpartition("@")[2]
    with pytest.raises(StoreError, match="Promote one of them") as told:
        await open_store(url.replace(f"@{place}/", f"@{place},127.0.0.1:1/"))
    assert told.value.trouble is Trouble.READ_ONLY


async def test_an_operation_costs_a_transaction_and_nothing_between(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each script is a round trip, also where nothing is to be done."""
    asked: list[list[str]] = []
    run_script = Pipelined.run_script

    async def noted(self: Pipelined, script: Script) -> list[Rows]:
        asked.append([compiled.sql.split()[0] for compiled, _ in script])
        return await run_script(self, script)

    store = await open_store(postgres.newest_database())
    await store.schedules.next_due()
    monkeypatch.setattr(Pipelined, "run_script", noted)
    await store.schedules.next_due()
    await store.cluster.agenda(NodeId("n"))  # which says that it asks nothing more
    await store.close()
    assert asked == [["BEGIN", "SELECT"], ["COMMIT"], ["BEGIN", "SELECT", "COMMIT"]]


async def test_what_was_cut_in_the_middle_leaves_nothing_to_the_next(store: Store) -> None:
    """A waiter that goes away takes its transaction with it, not one of the connections."""

    def endless() -> Op[None]:
        yield text("SELECT pg_sleep(60)"), {}

    for _ in range(2 * POOL):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await store.driver.write(endless)
    assert await store.schedules.next_due() is None


async def test_a_server_without_a_free_connection_is_told_with_the_setting_that_bounds_it(postgres: Postgres) -> None:
    url = postgres.create_database()
    admin = await asyncpg.connect(url)
    await admin.execute("CREATE ROLE narrow LOGIN PASSWORD 'narrow' CONNECTION LIMIT 1")
    to = urlsplit(url)
    narrow = url.replace(f"{to.username}:{to.password}@", "narrow:narrow@")
    held = await asyncpg.connect(narrow)
    try:
        with pytest.raises(StoreError, match="raise max_connections of the server") as crowded:
            await open_store(narrow)
        assert crowded.value.trouble is Trouble.AWAY
    finally:
        await held.close()
        await admin.close()


@pytest.mark.parametrize("words", ["no more connections allowed (max_client_conn)", "query_wait_timeout"])
def test_a_pooler_without_a_free_connection_is_told_with_the_setting_that_bounds_it(words: str) -> None:
    """As PgBouncer 1.18 and newer say it."""
    told = explain(asyncpg.ProtocolViolationError(words))
    assert "default_pool_size of PgBouncer" in str(told)
    assert told.trouble is Trouble.AWAY


def test_a_time_that_ran_out_is_told_in_words() -> None:
    assert "(TimeoutError: no answer in time)" in str(explain(TimeoutError()))
    assert "(ConnectionResetError)" in str(explain(ConnectionResetError()))


async def test_a_connection_that_is_ended_between_two_statements_is_a_store_that_is_away(store: Store) -> None:
    """By whoever found its way silent: the pool has taken it back by then."""
    driver = store.roster._driver
    assert isinstance(driver, engine.PostgresDriver)

    def ended() -> Op[Rows]:
        yield text("SELECT 1"), {}
        for connection in list(driver._ways.used):
            connection.terminate()
        return (yield text("SELECT 2"), {})

    with pytest.raises(StoreError) as told:
        await driver.read(ended)
    assert told.value.trouble is Trouble.AWAY
