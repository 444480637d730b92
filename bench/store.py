"""The store's operation set beside a bare writer of the same statements: 1 and 1,000 sessions, SQLite and PostgreSQL.

PostgreSQL is also measured over a line of 1 ms, with one session, where a set takes as long as it has round trips.

What a set is, `bench.pipeline` says; what the bare writer does, `bench.barestore`. Each round begins with a fresh copy
of the same small database on both sides, and the sides take turns; the figures are medians over the rounds.
"""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from bench.engines import Engine, Server, engines
from bench.figures import Bound, Figure, high, middle, ratio_at_least
from bench.line import far
from bench.pipeline import Pipeline
from bench.tape import Operation, Tape, Taped, Timed
from bench.trips import counted
from runtime.domain.ids import new_id
from runtime.store.sql.wire.database_errors import POOL
from runtime.store.store import Store, open_store

SESSIONS: Final = 1_000
ALONE: Final = 100  # sets, one after another
WARM: Final = POOL  # sets before the clock starts: statements are compiled, and prepared on each connection
LEAST: Final = ratio_at_least(0.3)
LINE: Final = timedelta(milliseconds=1)
TRIPS: Final = Bound(25)
OF_A_TRANSACTION: Final = 2  # round trips of a writer that sends BEGIN, each statement and COMMIT one by one


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured: so many `sets`, all at once or one after another, on copies of `template`; bare: the `tape`."""

    engine: Engine
    pipeline: Pipeline
    template: str
    tape: Tape
    sets: int
    together: bool
    rounds: int

    @property
    def name(self) -> str:
        return f"{self.engine.name}, {self.sets:,} sessions" if self.together else f"{self.engine.name}, 1 session"

    @property
    def bound(self) -> Bound | None:
        return LEAST if self.together and self.engine.name == "SQLite" else None


async def store(short: bool) -> list[Figure]:
    figures: list[Figure] = []
    with engines(safe=True) as both:
        for engine in both:
            figures += await _on(engine, short=short)
    return figures


async def _on(engine: Engine, *, short: bool) -> list[Figure]:
    template = engine.empty()
    async with opened(template) as first:
        pipeline = await Pipeline.over(first)
    rounds = 1 if short else engine.rounds
    alone, sessions, taped = (2, 6, 6) if short else (ALONE, SESSIONS, engine.taped)
    tape = await _record(engine, pipeline, template, taped)
    one = Case(engine, pipeline, template, tape.cut(alone), alone, together=False, rounds=rounds)
    many = Case(engine, pipeline, template, tape, sessions, together=True, rounds=rounds)
    figures = [*await _measure(one), *await _measure(many)]
    if isinstance(engine, Server):
        figures.append(await _trips(one))
        async with far(engine, LINE) as there:
            figures += (await _measure(replace(one, engine=there)))[:1]
    return figures


async def _trips(case: Case) -> Figure:
    """Round trips of a set, beside those of the bare writer."""
    with counted() as trips:
        async with opened(case.engine.copy(case.template)) as store:
            pipeline = case.pipeline.on(store)
            await pipeline.one_by_one(1)
            before, statements = trips.all, trips.statements
            await pipeline.one_by_one(case.sets)
    each, sent = (trips.all - before) / case.sets, (trips.statements - statements) / case.sets
    operations = case.tape.operations
    bare = sum(len(operation.statements) + OF_A_TRANSACTION for operation in operations) / case.tape.sets
    note = f"{sent:.0f} statements, BEGIN and COMMIT among them"
    return Figure(f"store round trips, {case.engine.name}", each, "a set", bare, TRIPS, note)


async def _record(engine: Engine, pipeline: Pipeline, template: str, sets: int) -> Tape:
    heard: list[Operation] = []
    async with opened(engine.copy(template)) as plain:
        taped = pipeline.on(Store.over(Taped(plain.driver, engine.dialect, heard.append), new_id))
        await taped.one_by_one(WARM)
        warm = len(heard)
        await taped.one_by_one(sets)
    return Tape(heard[:warm], heard[warm:], sets)


async def _measure(case: Case) -> list[Figure]:
    ours, bare = [], []
    gc.freeze()  # the tape is no garbage: nobody should walk through it while the clock runs
    for _ in range(case.rounds):
        ours.append(await _ours(case))
        bare.append(await case.engine.replay(case.engine.copy(case.template), case.tape, together=case.together))
    gc.unfreeze()
    return _figures(case, ours, bare)


async def _ours(case: Case) -> Timed:
    async with opened(case.engine.copy(case.template)) as store:
        pipeline = case.pipeline.on(store)
        await pipeline.run(WARM, together=case.together)
        return await pipeline.run(case.sets, together=case.together)


def _figures(case: Case, ours: Sequence[Timed], bare: Sequence[Timed]) -> list[Figure]:
    rate, beside = (middle([timed.rate for timed in side]) for side in (ours, bare))
    used, needed = (middle([timed.processor_ms for timed in side]) for side in (ours, bare))
    each = [seconds for timed in ours for seconds in timed.each]
    note = f"p50 {middle(each) * 1000:.1f}, p99 {high(each) * 1000:.1f} ms a set" if each else case.tape.told
    return [
        Figure(f"store, {case.name}", rate, "sets/s", beside, case.bound, note),
        Figure(f"store processor time, {case.name}", used, "ms a set", needed),
    ]


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Store]:
    store = await open_store(url)
    try:
        yield store
    finally:
        await store.close()
