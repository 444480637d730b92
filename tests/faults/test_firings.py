"""Two processes on one PostgreSQL, killed in turn while schedules fire: each instant is worked on and shown once.

In the suite sixty instants and three kills. A thousand, with a kill every few seconds (minutes):

    make cuts ARGS="-k firings"
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import asyncpg
import pytest

from bot.testing.channel.board import on_screen
from runtime.calendar import At, Every, Planned, Unit, written
from runtime.contract import (
    Address,
    Identity,
    Misfire,
    Schedule,
    ScheduleId,
    ScheduleState,
    Task,
    TaskKind,
    Terms,
)
from runtime.domain.ids import new_id
from runtime.store.store import open_store
from tests.fakes.postgres import Postgres
from tests.fakes.serve import spawned
from tests.faults.program import Program, until

ROOMS: Final = 5
WORD: Final = re.compile(r"\bw\d{5}\b")
MADE_UP: Final = 10
"""Instants of a schedule that passed while nobody was there, each of which is worked on."""


@dataclass(frozen=True, slots=True)
class Plan:
    """So many instants: each second `a_second` of them, and those of `missed` schedules at once; and the kills."""

    coming: int
    missed: int
    a_second: float
    kills: int

    @property
    def firings(self) -> int:
        return self.coming + self.missed * MADE_UP

    def schedules(self, now: datetime) -> list[Schedule]:
        first = now + timedelta(seconds=2)
        coming = [at_once(number, first + timedelta(seconds=number / self.a_second)) for number in range(self.coming)]
        return coming + [made_up(self.coming + number, now) for number in range(self.missed)]


SAMPLE: Final = Plan(coming=40, missed=2, a_second=8, kills=3)
FULL: Final = Plan(coming=800, missed=20, a_second=10, kills=25)


def at_once(number: int, at: datetime) -> Schedule:
    return schedule(number, Planned(At(at), "UTC", "at that time"), at, Terms())


def made_up(number: int, now: datetime) -> Schedule:
    """One whose last instants nobody saw."""
    at = now.replace(second=0, microsecond=0) - timedelta(minutes=MADE_UP - 1)
    terms = Terms(misfire=Misfire.ALL, catch_up=MADE_UP)
    ends = at + timedelta(minutes=MADE_UP - 1)
    return schedule(number, Planned(Every(1, Unit.MINUTE), "UTC", "every minute"), at, terms, ends=ends)


def schedule(number: int, when: Planned, at: datetime, terms: Terms, *, ends: datetime | None = None) -> Schedule:
    return Schedule(
        id=ScheduleId(new_id()),
        name=f"report {number}",
        when=written(when),
        when_text=when.text,
        task=Task(TaskKind.PROMPT, f"say w{number:05}"),
        to=(Address("fake", "fake-bot", f"r{number % ROOMS}"),),
        terms=terms,
        state=ScheduleState.ACTIVE,
        created_at=at,
        anchor_at=at,
        actor=Identity("fake:ada"),
        agent="main",
        ends_at=ends,
        next_at=at,
    )


async def count(database: asyncpg.Connection, state: str) -> int:
    found: int = await database.fetchval("SELECT count(*) FROM occurrences WHERE state = $1", state)
    return found


async def lives(of: Program) -> None:
    """One life after another, until it leaves."""
    while True:
        try:
            await of.run()
        except RuntimeError as ended:
            if f"left with {-signal.SIGKILL}" not in str(ended):
                raise
        else:
            return


@asynccontextmanager
async def nodes(folder: Path, url: str, fake: str, *more: str) -> AsyncIterator[tuple[Program, Program]]:
    """Two, which are started again whenever they are killed."""
    shared = {"database_url": url, "workspace_dir": str(folder / "workspaces")}
    given = ["--fake", f"lookup={fake}", *(f"--set={name}={json.dumps(value)}" for name, value in shared.items())]
    one, two = (Program(folder / name / "var", *given, *more) for name in ("one", "two"))
    for node in (one, two):
        node.data.mkdir(parents=True)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(lives(node)) for node in (one, two)]
        yield one, two
        for task in tasks:
            task.cancel()


async def booked(url: str, schedules: Sequence[Schedule]) -> None:
    store = await open_store(url)
    try:
        for one in schedules:
            assert await store.schedules.add_schedule(one, one.next_at, "a test")
    finally:
        await store.close()


async def killed_in_turn(at_work: Sequence[Program], plan: Plan, database: asyncpg.Connection) -> None:
    """One of them each time that so many more are done; the other goes on, and the first comes back at once."""
    for number in range(plan.kills):
        due = (number + 1) * plan.firings // (plan.kills + 1)

        async def look(due: int = due) -> bool | None:
            return await count(database, "done") >= due or None

        await until(look, f"{due} reports")
        await at_work[number % 2].up()
        at_work[number % 2].kill()


async def until_over(plan: Plan, database: asyncpg.Connection) -> None:
    async def look() -> bool | None:
        left = await database.fetchval("SELECT count(*) FROM deliveries WHERE state <> 'shown'")
        return (await count(database, "done") >= plan.firings and left == 0) or None

    await until(look, "an end of all reports")


async def play(plan: Plan, server: Postgres, folder: Path) -> None:
    url, journal = server.newest_database(), folder / "journal"
    schedules = plan.schedules(datetime.now(UTC))
    await booked(url, schedules)
    database = await asyncpg.connect(url)
    try:
        async with (
            spawned("bot.testing.channel.server", "--kind", "lookup", "--journal", str(journal)) as (_, fake),
            nodes(folder, url, fake) as at_work,
        ):
            await killed_in_turn(at_work, plan, database)
            await until_over(plan, database)
            await checked(plan, schedules, database, journal)
    finally:
        await database.close()


async def checked(plan: Plan, schedules: Sequence[Schedule], database: asyncpg.Connection, journal: Path) -> None:
    """What the book says, and what people see."""
    states = await database.fetch("SELECT state, attempts, count(*) FROM occurrences GROUP BY 1, 2")
    assert [tuple(row) for row in states] == [("done", 1, plan.firings)]
    planned = await database.fetch("SELECT schedule, count(*), count(DISTINCT planned_at) FROM occurrences GROUP BY 1")
    wanted = {one.id: MADE_UP if one.terms.misfire is Misfire.ALL else 1 for one in schedules}
    assert {row[0]: (row[1], row[2]) for row in planned} == {ident: (n, n) for ident, n in wanted.items()}
    signals = await database.fetchval("SELECT count(*) FROM signals WHERE kind = 'due'")
    runs = await database.fetch("SELECT state, count(*) FROM runs GROUP BY 1")
    assert (signals, [tuple(row) for row in runs]) == (plan.firings, [("done", plan.firings)])
    seen = Counter(word for post in on_screen(journal) for word in WORD.findall(post.body.text))
    assert seen == {f"w{number:05}": wanted[one.id] for number, one in enumerate(schedules)}
    assert len(on_screen(journal)) == plan.firings


@pytest.mark.timeout(180)  # seconds; about fifteen where nothing else runs
async def test_sixty_firings_on_two_nodes_that_are_killed_are_each_shown_once(
    postgres: Postgres, tmp_path: Path
) -> None:
    await play(SAMPLE, postgres, tmp_path)


@pytest.mark.soak
@pytest.mark.timeout(1200)
async def test_a_thousand_firings_on_two_nodes_that_are_killed_are_each_shown_once(
    postgres: Postgres, tmp_path: Path
) -> None:
    await play(FULL, postgres, tmp_path)
