"""A PostgreSQL that goes away, is restarted, or can only be read, under the real program: it is told, and goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from tests.e2e.house import House, open_house
from tests.e2e.visitor import Visitor, until, visiting
from tests.fakes.postgres import Postgres

pytestmark = [pytest.mark.xdist_group("e2e-bad-database"), pytest.mark.timeout(120)]

LASTS = 2.0  # seconds that a trouble lasts: several heartbeats, and everybody else who writes


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """One of our own, to be stopped."""
    with Postgres() as server:
        yield server


@pytest.fixture
def database(server: Postgres) -> str:
    return server.create_database()


@pytest.fixture
def house(tmp_path: Path, database: str) -> Iterator[House]:
    settings = f'database_url = "{database}"\n[nodes]\nlease_seconds = 1\n'
    with open_house(tmp_path, settings) as house:
        yield house
    assert "Traceback" not in house.log()


async def refusal(owner: Visitor, room: str, words: str) -> str | None:
    answer = await owner.post(f"/api/rooms/{room}/messages", {"id": uuid4().hex, "text": "meanwhile"})
    return answer.error if answer.status == 503 and words in answer.error else None


async def readiness(owner: Visitor, status: int) -> str | None:
    answer = await owner.get("/readyz")
    return str(answer.body.get("reasons")) if answer.status == status else None


async def said_again(owner: Visitor, room: str, text: str) -> None:
    """As the page does it, with the same id until it is taken in."""
    event = uuid4().hex

    async def say() -> bool | None:
        answer = await owner.post(f"/api/rooms/{room}/messages", {"id": event, "text": text})
        return True if answer.status == 202 else None

    await until(say, "a store that takes messages again")


async def all_answered(owner: Visitor, room: str) -> bool | None:
    said = [entry for entry in await owner.entries(room) if entry["author"] == "person"]
    return (bool(said) and all(entry["answered"] for entry in said)) or None


async def is_told_and_goes_on(house: House, words: str, reason: str, *, begin: object, end: object) -> None:
    """`begin` and `end` the trouble, beside a process that must live through it."""
    async with visiting(house.link) as owner:
        room, process = uuid4().hex, house.process
        assert "before" in await owner.ask(room, "before")
        await begin()  # type: ignore[operator]
        assert "Try again" in await until(lambda: refusal(owner, room, words), f"a refusal with {words!r}")
        assert reason in await until(lambda: readiness(owner, 503), "a readiness that tells")
        await asyncio.sleep(LASTS)
        await end()  # type: ignore[operator]
        await said_again(owner, room, "after")
        await until(lambda: all_answered(owner, room), "answers to all that was taken in")
        await until(lambda: readiness(owner, 200), "readiness")
        texts = [entry["text"] for entry in await owner.entries(room) if entry["author"] == "person"]
        assert texts[0] == "before"
        assert texts[-1] == "after"
        assert process.poll() is None
    lines = [line for line in house.log().splitlines() if "was not taken in" not in line]
    assert len([line for line in lines if "the store works again" in line]) == 1
    assert len([line for line in lines if "the store is in trouble" in line]) <= 2  # shutting down, then away
    assert house.leave() == 0


@pytest.mark.parametrize(
    "crash", [pytest.param(False, marks=pytest.mark.soak, id="stopped"), pytest.param(True, id="crashed")]
)
async def test_a_server_that_goes_away_and_comes_back(house: House, server: Postgres, crash: bool) -> None:
    async def begin() -> None:
        await asyncio.to_thread(server.stop, crash=crash)

    async def end() -> None:
        await asyncio.to_thread(server.start)

    words = "I can't accept this: the database can't be reached"
    await is_told_and_goes_on(house, words, "cannot be reached", begin=begin, end=end)


async def test_a_server_that_was_restarted_in_between_is_hardly_noticed(house: House, server: Postgres) -> None:
    async with visiting(house.link) as owner:
        room = uuid4().hex
        await owner.ask(room, "before")
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(server.start)
        await said_again(owner, room, "after")
        await until(lambda: all_answered(owner, room), "an answer")
    assert house.leave() == 0


async def test_a_database_that_can_only_be_read_after_a_fail_over(
    house: House, server: Postgres, database: str
) -> None:
    """The connections of before lead to the copy for good; that it takes writes again is seen by new ones only."""
    name = database.rsplit("/", 1)[1]

    async def execute(*statements: str) -> None:
        connection = await asyncpg.connect(server.url)
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    async def begin() -> None:
        await execute(
            f'ALTER DATABASE "{name}" SET default_transaction_read_only = on',
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'",
        )

    async def end() -> None:
        await execute(f'ALTER DATABASE "{name}" RESET default_transaction_read_only')

    words = "I can't accept this: the database is read-only"
    await is_told_and_goes_on(house, words, "can only be read", begin=begin, end=end)
