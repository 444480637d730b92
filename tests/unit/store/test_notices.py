"""Bells of several nodes over a real PostgreSQL: they hear each other, and whatever breaks in between is made good."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest
from structlog.testing import capture_logs

from runtime.cluster.notifier import SharedNotifier
from runtime.errors import StoreError
from runtime.store.sql import notices as module
from runtime.store.sql import telling
from runtime.store.sql.envelopes import MOST_WAITING, NOTICE_MAX_BYTES, opened
from runtime.store.sql.notices import Notices
from runtime.store.sql.telling import NOTIFY_CHANNEL, connected, tell, trouble
from tests.fakes.postgres import Postgres
from tests.lab.proxy import proxy

NOWHERE = "postgresql://somebody:sesame@127.0.0.1:1/nothing"


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """A server that a test may stop."""
    with Postgres() as server:
        yield server


@pytest.fixture
def url(postgres: Postgres) -> str:
    return postgres.create_database()


@dataclass
class House:
    """One node, and what it heard from others. `looks` counts how often it looked at everything."""

    notices: Notices
    topics: list[str] = field(default_factory=list)
    looks: int = 0

    def __post_init__(self) -> None:
        self.notifier = SharedNotifier(self.notices.tell)
        self.changed = asyncio.Event()

    def heard(self, topic: str) -> None:
        self.topics.append(topic)
        self.notifier.notify_here(topic)
        self.changed.set()

    def look_around(self) -> None:
        self.looks += 1
        self.changed.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not holds():
                self.changed.clear()
                await self.changed.wait()


async def nothing_new() -> object:
    return 0


def house(url: str, listen_url: str = "", newest: Callable[[], Awaitable[object]] = nothing_new) -> House:
    return House(Notices(url=url, listen_url=listen_url or url, newest=newest))


@asynccontextmanager
async def living(*houses: House) -> AsyncIterator[None]:
    """They run, and each that can has begun to hear."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one.notices.run(one)) for one in houses]
        for one in houses:
            await one.until(lambda one=one: one.looks > 0)  # type: ignore[misc]  # bound now, not later
        yield
        for task in tasks:
            task.cancel()


@asynccontextmanager
async def overheard(url: str) -> AsyncIterator[list[str]]:
    """Every text that goes over the channel; all of them once the block is over."""
    texts: list[str] = []
    connection = await asyncpg.connect(url)
    try:
        await connection.add_listener(NOTIFY_CHANNEL, lambda *given: texts.append(given[-1]))
        yield texts
        await connection.fetchval("SELECT 1")  # what was told before has come with its answer
    finally:
        await connection.close()


async def told(url: str, statement: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetch(statement)
    finally:
        await connection.close()


async def test_two_nodes_hear_each_other(url: str) -> None:
    one, two = house(url), house(url)
    async with living(one, two):
        listener = two.notifier.listen("lanes")
        one.notifier.notify("lanes")
        async with asyncio.timeout(30):
            assert await anext(listener) == "lanes"
        two.notifier.notify("room:web:main/7")
        await one.until(lambda: one.topics == ["room:web:main/7"])


async def test_what_a_node_rings_itself_is_heard_here_once(url: str) -> None:
    one, two = house(url), house(url)
    async with living(one, two):
        listener = one.notifier.listen("lanes")
        one.notifier.notify("lanes")
        assert await anext(listener) == "lanes"
        await two.until(lambda: two.topics == ["lanes"])
        two.notifier.notify("echo")  # whatever came before it on its way to `one` has arrived then
        await one.until(lambda: "echo" in one.topics)
        assert one.topics == ["echo"]
        assert not await listener.within(0)


async def test_a_topic_for_others_alone_is_not_heard_here(url: str) -> None:
    one, two = house(url), house(url)
    async with living(one, two):
        listener = one.notifier.listen("stop:1")
        one.notifier.tell("stop:1")
        await two.until(lambda: two.topics == ["stop:1"])
        assert not await listener.within(0)


async def test_a_burst_is_a_few_notices_with_each_topic_once(url: str) -> None:
    one, two = house(url), house(url)
    async with living(one, two), overheard(url) as texts:
        for number in range(1000):
            one.notifier.notify(f"room:web:main/{number % 50}")
        await two.until(lambda: len(two.topics) >= 50)
        one.notifier.notify("last")
        await two.until(lambda: "last" in two.topics)
    assert two.topics == [*(f"room:web:main/{number}" for number in range(50)), "last"]
    assert len(texts) <= 3


async def test_rings_without_end_are_fifty_notices_a_second(url: str) -> None:
    one, two = house(url), house(url)
    async with living(one, two), overheard(url) as texts:
        loop = asyncio.get_running_loop()
        began = loop.time()
        while loop.time() - began < 0.5:
            one.notifier.notify("lanes")
            await asyncio.sleep(0)
        await one.notices.flush(timedelta(seconds=10))
        took = loop.time() - began
    assert 1 <= len(texts) <= took / module.GATHER.total_seconds() + 2


async def test_more_than_fits_into_one_notice_comes_in_several(url: str) -> None:
    one, two = house(url), house(url)
    topics = [f"room:fake:{'ö' * 200}/{number}" for number in range(100)]
    async with living(one, two), overheard(url) as texts:
        for topic in topics:
            one.notifier.notify(topic)
        await two.until(lambda: len(two.topics) == 100)
    assert two.topics == topics
    assert all(len(text.encode()) <= NOTICE_MAX_BYTES for text in texts)


async def test_far_too_many_topics_have_the_others_look_everywhere(url: str) -> None:
    one, two = house(url), house(url)
    async with living(one, two):
        looks = two.looks
        for number in range(MOST_WAITING + 1):
            one.notifier.notify(f"room:{number}")
        await two.until(lambda: two.looks > looks)
        assert two.topics == []


async def test_a_cut_connection_is_made_anew_and_everything_is_looked_at(url: str) -> None:
    one, two = house(url), house(url)
    async with living(one, two):
        looks = two.looks
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        await told(url, cut)
        await two.until(lambda: two.looks > looks)
        one.notifier.notify("lanes")  # its own telling connection was cut too
        await two.until(lambda: "lanes" in two.topics)


async def test_after_a_restart_of_the_server_everything_is_looked_at(own_server: Postgres) -> None:
    url = own_server.create_database()
    one, two = house(url, newest=unreachable), house(url, newest=unreachable)
    with capture_logs() as logs:
        async with living(one, two):
            looks = one.looks, two.looks
            own_server.stop(crash=True)
            one.notifier.notify("while it was away")
            own_server.start()
            await one.until(lambda: one.looks > looks[0])
            await two.until(lambda: two.looks > looks[1])
            one.notifier.notify("lanes")
            await two.until(lambda: "lanes" in two.topics)
            assert one.notices._outgoing.take() == []
    assert [line for line in logs if line["log_level"] == "warning"] == []


async def unreachable() -> object:
    raise StoreError("away")


async def test_where_nothing_can_be_heard_it_looks_instead_and_says_so(url: str) -> None:
    facts = iter(range(100))
    deaf, well = house(url, NOWHERE, newest=lambda: a_new(facts)), house(url)
    with capture_logs() as logs:
        async with living(deaf, well):
            await deaf.until(lambda: deaf.looks > 1)
            deaf.notifier.notify("lanes")  # it is deaf, and not dumb
            await well.until(lambda: well.topics == ["lanes"])
    (line,) = [line for line in logs if line["log_level"] == "warning"]
    assert line["event"] == "other nodes are not heard"
    assert "a PostgreSQL server that runs" in line["fix"]
    assert "each 250 ms" in line["effect"]
    assert "sesame" not in str(logs)


async def a_new(facts: Iterator[int]) -> object:
    return next(facts)


async def test_who_hears_nothing_looks_only_when_something_was_written(url: str) -> None:
    looked = asyncio.Event()
    asked = 0

    async def newest() -> object:
        nonlocal asked
        asked += 1
        if asked > 4:
            looked.set()
        return "the same"

    deaf = house(url, NOWHERE, newest=newest)
    async with living(deaf), asyncio.timeout(20):
        await looked.wait()
    assert deaf.looks == 1


@pytest.fixture
def _pooled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pooler that takes LISTEN and gives the connection to somebody else: nothing comes through."""
    plain = asyncpg.Connection.add_listener

    async def add_listener(self: Any, channel: str, callback: Any) -> None:
        await plain(self, f"not_{channel}", callback)

    monkeypatch.setattr(asyncpg.Connection, "add_listener", add_listener)
    monkeypatch.setattr(telling, "ECHO", timedelta(seconds=0.1))


@pytest.mark.usefixtures("_pooled")
async def test_a_listen_that_hears_nothing_is_found_out(url: str) -> None:
    facts = iter(range(100))
    deaf = house(url, newest=lambda: a_new(facts))
    with capture_logs() as logs:
        async with living(deaf):
            await deaf.until(lambda: deaf.looks > 1)
    (line,) = [line for line in logs if line["log_level"] == "warning"]
    assert "did not arrive" in line["reason"]
    assert line["fix"].endswith("not at a pooler")


async def test_once_the_way_is_mended_rings_are_heard_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_PAUSE", 0.1)
    deaf, well = house(url, NOWHERE), house(url)
    with capture_logs() as logs:
        async with living(deaf, well):
            deaf.notices._listen_url = url
            looks = deaf.looks
            await deaf.until(lambda: deaf.looks > looks)
            well.notifier.notify("lanes")
            await deaf.until(lambda: "lanes" in deaf.topics)
    assert "other nodes are heard again" in [line["event"] for line in logs]


async def test_a_way_that_hears_is_told_from_one_that_does_not(url: str) -> None:
    assert await trouble(url, url) is None
    reason, fix = await trouble(url, NOWHERE) or ("", "")
    assert "refused" in reason.lower()
    assert "a PostgreSQL server that runs" in fix


async def test_another_database_is_no_way_to_hear(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "ECHO", timedelta(seconds=0.1))
    ours, other = postgres.create_database(), postgres.create_database()
    reason, fix = await trouble(ours, other) or ("", "")
    assert f'database_url to "{urlsplit(ours).path[1:]}"' in reason
    assert "the same database" in fix


async def test_a_notice_of_somebody_else_is_left_alone(url: str) -> None:
    one, two = house(url), house(url)
    async with living(one, two), overheard(url) as texts:
        await told(url, f"NOTIFY {NOTIFY_CHANNEL}, 'hello'")
        one.notifier.notify("lanes")
        await two.until(lambda: two.topics == ["lanes"])
        async with asyncio.timeout(20):
            while len(texts) < 2:  # noqa: ASYNC110 - whoever overhears it is told by nobody
                await asyncio.sleep(0.01)
    assert texts[0] == "hello"
    assert opened(texts[1])[1] == ["lanes"]


async def test_what_is_told_while_leaving_still_goes_out(url: str) -> None:
    one, two = house(url), house(url)
    async with living(one, two):
        one.notices.tell("lanes")
        await one.notices.flush(timedelta(seconds=10))
        await two.until(lambda: two.topics == ["lanes"])


async def test_a_way_that_was_forgotten_is_found_out_and_keeps_nobody_from_leaving(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    to = urlsplit(url)
    async with proxy(to.hostname or "", to.port or 0) as way:
        one, two = house(url.replace(f":{to.port}/", f":{way.port}/")), house(url)
        async with living(one, two):
            one.notifier.notify("first")
            await two.until(lambda: "first" in two.topics)
            way.lose()
            monkeypatch.setattr(telling, "TELL_WITHIN", timedelta(seconds=0.1))
            one.notifier.notify("second")  # on a connection that is open, deaf and dumb
            await two.until(lambda: "second" in two.topics)
            monkeypatch.setattr(telling, "TELL_WITHIN", timedelta(minutes=5))
            way.lose()
            one.notifier.notify("third")
            await asyncio.sleep(0.1)
            began = time.monotonic()
        assert time.monotonic() - began < 5


async def test_telling_writes_no_rows_and_keeps_the_session_as_it_is(url: str) -> None:
    """What is set for telling alone must not meet the transactions of others behind a pooler."""
    async with connected(url) as connection:
        await tell(connection, ["{}"])
        assert await connection.fetchval("SHOW synchronous_commit") == "on"
