"""The claim of the next session after 10^3, 10^5 and 10^6 conversations, on SQLite and PostgreSQL.

Old conversations, spread over all of the past, are spoken to again; then their claims are timed, one in each database
in turns, so that all meet the same neighbours. Neither engine waits for the disk here: a flush costs the same however
long the past is, and would only hide the difference. Program and server share one processor: a claim is fourteen round
trips, and one to a server process on another processor takes nearly twice as long as one on the same, whatever the past.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from bench.engines import Engine, Sqlite, engines, path_of
from bench.figures import Figure, high, middle, ratio_at_most
from bench.history import fill_postgres, fill_sqlite, past_room
from bench.pipeline import HERE, Pipeline, kept
from runtime.domain.ids import new_id
from runtime.store.sql.sqlite import SqliteDriver, connect
from runtime.store.store import Store, open_store

PASTS: Final = (1_000, 100_000, 1_000_000)
CLAIMS: Final = 400
WARM: Final = 20  # claims before those that count
MOST: Final = 1.3  # of the claim after the shortest past; source: design.md, section 12


@dataclass(frozen=True, slots=True)
class Past:
    """A store with so many conversations behind it, and how long its claims took."""

    conversations: int
    pipeline: Pipeline
    times: list[float] = field(default_factory=list)

    async def wake(self, lanes: int) -> None:
        """So many old conversations have something to claim."""
        for number in range(1, lanes + 1):
            room = past_room(number * self.conversations // lanes)
            await self.pipeline.accept(replace(HERE, room=room))

    async def claim(self) -> None:
        began = time.perf_counter()
        kept(await self.pipeline.claim())
        self.times.append(time.perf_counter() - began)


async def claim(short: bool) -> list[Figure]:
    figures: list[Figure] = []
    pasts, claims = ((100, 200, 1_000), 4) if short else (PASTS, CLAIMS)
    with _on_one_processor(), engines(safe=False) as both:
        for engine in both:
            figures += await _on(engine, pasts, claims)
    return figures


@contextmanager
def _on_one_processor() -> Iterator[None]:
    """Also for the servers that are started inside the block. Where the system cannot, each stays where it is put."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    given = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(given)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, given)


async def _on(engine: Engine, pasts: Sequence[int], claims: int) -> list[Figure]:
    async with AsyncExitStack() as stack:
        found = [await stack.enter_async_context(_past(engine, count)) for count in pasts]
        for past in found:
            await past.wake(WARM + claims)
        for number in range(WARM + claims):
            turn = number % len(found)
            for past in [*found[turn:], *found[:turn]]:
                await past.claim()
    return list(_figures(engine, found))


def _figures(engine: Engine, found: Sequence[Past]) -> Sequence[Figure]:
    least, most = found[0], found[-1]
    beside = middle(least.times[WARM:])
    return [
        Figure(
            f"claim after {past.conversations:,} conversations, {engine.name}, p50",
            middle(past.times[WARM:]) * 1e6,
            "µs",
            beside * 1e6 if past is not least else None,
            ratio_at_most(MOST) if past is most else None,
            f"p99 {high(past.times[WARM:]) * 1e6:.0f} µs",
        )
        for past in found
    ]


@asynccontextmanager
async def _past(engine: Engine, conversations: int) -> AsyncIterator[Past]:
    url = engine.empty()
    await (await open_store(url)).close()
    if isinstance(engine, Sqlite):
        fill_sqlite(path_of(url), conversations)
        store = _careless(url)
    else:
        await fill_postgres(url, conversations)
        store = await open_store(url)
    try:
        yield Past(conversations, await Pipeline.over(store))
    finally:
        await store.close()


def _careless(url: str) -> Store:
    """The product's store, which leaves it to the operating system when a commit reaches the disk."""
    path = str(path_of(url))
    connection = connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    return Store.over(SqliteDriver(path, connection), new_id)
