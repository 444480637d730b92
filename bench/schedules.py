"""Many schedules: what they cost a start, how late they fire, what they cost while they wait, and the next instant."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Final

from adapters.web.adapter import ACCOUNT, CHANNEL
from bench.figures import Figure, at_most
from bench.program import Program, signalbox
from runtime.calendar import next_after, plan, written
from runtime.contract import (
    Address,
    Identity,
    Schedule,
    ScheduleId,
    ScheduleState,
    Task,
    TaskKind,
    Terms,
)
from runtime.domain.ids import new_id
from runtime.store.store import open_store

MANY: Final = 10_000
DUE: Final = 500
STARTS: Final = 3
START: Final = timedelta(seconds=8)  # it takes less
AT_ONCE: Final = 250
RULES: Final = ("0 9 * * 1-5", "*/15 8-18 * * *", "30 6 1,15 * *", "every 6 hours", "0 0 29 2 *", "0 9 1 * 1")
STEP: Final = timedelta(minutes=37)
LAG: Final = 1.0  # seconds, p99
STARTING: Final = 1.0  # seconds more
IDLE: Final = 1.0  # percent of a core
INSTANT: Final = 1.0  # milliseconds
SETTINGS: Final = "[web]\nport = 0\n"


@dataclass(frozen=True, slots=True)
class Rest:
    """Seconds: first for what a start leaves to be done, then of nothing, which are measured."""

    settle: float = 5.0
    quiet: float = 30.0

    @property
    def whole(self) -> timedelta:
        return timedelta(seconds=self.settle + self.quiet)


async def schedules(short: bool) -> list[Figure]:
    many, due, starts = (200, 10, 1) if short else (MANY, DUE, STARTS)
    figures = [_next_instant(20 if short else 2_000)]
    with tempfile.TemporaryDirectory() as name:
        empty, full = _made(Path(name) / "empty"), _made(Path(name) / "full")
        await _filled(full, many)
        await _sealed(full)
        beside = median(_started(empty) for _ in range(starts))
        whole = median(_started(full) for _ in range(starts))
        note = "beside: with none"
        figures.append(Figure(f"start with {many:,} schedules", whole, "s", beside, at_most(beside + STARTING), note))
        rest = Rest(1.0, 1.0) if short else Rest()
        idle = await _at_rest(empty, rest)
        idle_full, lags = await _at_work(full, due, rest)
    lags.sort()
    late = lags[min(len(lags) - 1, int(len(lags) * 0.99))]
    note = f"{due} due at one instant; p50 {median(lags):.2f} s"
    return [
        *figures,
        Figure(f"firing lag with {many:,} schedules, p99", late, "s", bound=at_most(LAG), note=note),
        Figure("idle with no schedule", idle, "% of a core"),
        Figure(f"idle with {many:,} schedules", idle_full, "% of a core", bound=at_most(IDLE)),
    ]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _next_instant(rounds: int) -> Figure:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    rules = [plan(rule, zone="America/New_York", now=now) for rule in RULES]
    times = [now + n * STEP for n in range(rounds)]
    next_after(rules[0], now, anchor=now)  # loads what reads cron fields
    worst = 0.0
    for rule in rules:
        began = time.process_time()
        for at in times:
            next_after(rule, at, anchor=now)
        worst = max(worst, (time.process_time() - began) / rounds * 1000)
    return Figure("next instant of the dearest rule", worst, "ms", bound=at_most(INSTANT))


def _started(folder: Path) -> float:
    with signalbox(folder, SETTINGS) as program:
        return program.seconds


async def _filled(folder: Path, many: int) -> None:
    """A store with so many schedules, none of them due before tomorrow."""
    store = await open_store(f"sqlite:///{_folder(folder)}/signalbox.db")
    try:
        identity = await store.cluster.account_identity(CHANNEL, ACCOUNT, new_id()[-10:].lower())
        now = store.now()
        made = [_schedule(number, identity, now) for number in range(many)]
        for begin in range(0, many, AT_ONCE):
            batch = made[begin : begin + AT_ONCE]
            await asyncio.gather(*(store.schedules.add_schedule(one, one.next_at, "bench") for one in batch))
    finally:
        await store.close()


def _folder(folder: Path) -> Path:
    (folder / "var").mkdir(exist_ok=True, mode=0o700)
    return folder / "var"


def _schedule(number: int, identity: str, now: datetime) -> Schedule:
    rule = plan(RULES[number % len(RULES)], zone="Europe/Berlin", now=now)
    return Schedule(
        id=ScheduleId(new_id()),
        name=f"report {number}",
        when=written(rule),
        when_text=rule.text,
        task=Task(TaskKind.PROMPT, "say hello"),
        to=(Address(CHANNEL, identity, f"room{number:06d}"),),
        terms=Terms(),
        state=ScheduleState.ACTIVE,
        created_at=now,
        anchor_at=now,
        actor=Identity(""),
        agent="main",
        next_at=next_after(rule, now + timedelta(days=1), anchor=now),
    )


async def _sealed(folder: Path) -> None:
    """Each schedule left a fact in the audit. That they are sealed belongs neither to a start nor to a rest."""
    with signalbox(folder, SETTINGS):
        async with asyncio.timeout(120):
            while _read(folder, "SELECT 1 FROM audit WHERE number IS NULL LIMIT 1"):  # noqa: ASYNC110 - another process writes it
                await asyncio.sleep(0.5)


async def _at_rest(folder: Path, rest: Rest) -> float:
    """Percent of a core while nothing happens."""
    with signalbox(folder, SETTINGS) as program:
        return await _idle(program, rest)


async def _at_work(folder: Path, due: int, rest: Rest) -> tuple[float, list[float]]:
    """Percent of a core while they wait, and the seconds by which each that was due fired late."""
    instant = _bring_forward(folder, due, START + rest.whole)
    with signalbox(folder, SETTINGS) as program:
        idle = await _idle(program, rest)
        lags = await _lags(folder, instant, due)
    return idle, lags


async def _idle(program: Program, rest: Rest) -> float:
    await asyncio.sleep(rest.settle)
    before = program.processor_seconds
    await asyncio.sleep(rest.quiet)
    return (program.processor_seconds - before) / rest.quiet * 100


def _bring_forward(folder: Path, due: int, ahead: timedelta) -> int:
    """Have `due` of them come at one instant; it, in microseconds."""
    instant = int((datetime.now(UTC) + ahead).timestamp() * 1_000_000)
    with sqlite3.connect(_folder(folder) / "signalbox.db") as database:
        database.execute(
            "UPDATE schedules SET next_at = ?, due_at = ? WHERE id IN (SELECT id FROM schedules ORDER BY id LIMIT ?)",
            (instant, instant, due),
        )
    database.close()
    return instant


async def _lags(folder: Path, instant: int, due: int) -> list[float]:
    async with asyncio.timeout(120):
        while len(found := _fired(folder, instant)) < due:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.5)
    return [(at - instant) / 1_000_000 for at in found]


def _fired(folder: Path, instant: int) -> Sequence[int]:
    sql = "SELECT started_at FROM occurrences WHERE planned_at = ? AND started_at IS NOT NULL"
    return [row[0] for row in _read(folder, sql, instant)]


def _read(folder: Path, sql: str, *given: object) -> list[tuple[int, ...]]:
    with closing(sqlite3.connect(_folder(folder) / "signalbox.db")) as database:
        return database.execute(sql, given).fetchall()
