"""What a message costs a node and PostgreSQL, and how far servers go: the figures that docs/scale.md reckons with.

A real node answers people at its page, on a server that brings each commit to the disk; processor time is counted by process,
so whatever else the machine does is not in it. How a server grows is simulated by the store's operation set
(`bench.pipeline`), with the server's processes held to a share of a core, so that the server gives out first, and not the
program beside it: once with twice the share, and once with two servers.

    python -m bench.capacity        prints the model as Markdown, from figures that are measured now
"""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any, Final

import asyncpg
import psutil

from bench.cpu_share import NoShares, put, share_of_a_core
from bench.figures import Figure, ratio_at_least
from bench.load import load
from bench.pipeline import Pipeline
from bench.program import helper, signalbox
from bench.reply import settings
from bench.rest import processor_seconds
from bench.store import opened
from tests.fakes.postgres import Postgres

CHATS: Final = 24
MESSAGES: Final = 20
"""Of each chat."""
WARM: Final = 24
SETS: Final = 100
ROUNDS: Final = 3
SETTLED: Final = 2.0
"""Seconds until the server's counters have what its processes did: they tell a second late."""
SHARE: Final = 0.2
"""Of a core for a server: little enough for the program and two servers to have room on two cores."""
GROWTH: Final = ((SHARE,), (2 * SHARE,), (SHARE, SHARE))
GROWS: Final = ratio_at_least(1.6)
COUNTERS: Final = (
    "SELECT xact_commit, tup_inserted, tup_updated, tup_deleted, pg_database_size(datname), "
    "pg_current_wal_lsn() - '0/0'::pg_lsn FROM pg_stat_database WHERE datname = current_database()"
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one message. Milliseconds of processor; bytes."""

    node_ms: float
    server_ms: float
    commits: float
    inserted: float
    updated: float
    deleted: float
    kept: float
    log: float


async def cost_of_a_message(chats: int, messages: int) -> Cost:
    with (
        tempfile.TemporaryDirectory() as name,
        Postgres(fsync=True) as server,
        helper("bench.model", folder=Path(name)) as model,
    ):
        url = server.create_database()
        told = f'database_url = "{url}"\n' + settings(f"{model.url}/v1", stream=False)
        with signalbox(Path(name), told) as node:
            load("page", node.link, chats=min(WARM, chats), messages=2, folder=Path(name))
            before = await _counted(url)
            used, by_server = node.processor_seconds, processor_seconds(server)
            replies = load("page", node.link, chats=chats, messages=messages, folder=Path(name)).replies
            used, by_server = node.processor_seconds - used, processor_seconds(server) - by_server
            after = await _counted(url)
    counted = [(new - old) / replies for old, new in zip(before, after, strict=True)]
    return Cost(used / replies * 1000, by_server / replies * 1000, *counted)


async def _counted(url: str) -> Sequence[float]:
    await asyncio.sleep(SETTLED)
    connection: Any = await asyncpg.connect(url)
    try:
        return [float(value) for value in await connection.fetchrow(COUNTERS)]
    finally:
        await connection.close()


# ------------------------------------------------------------------------------------------------------- how it grows


async def rate_of(shares: Sequence[float], sets: int) -> float:
    """Operation sets a second of servers held to these shares of a core, each with a database of its own. Errors: NoShares."""
    with ExitStack() as groups, ExitStack() as started:
        servers = []
        for number, share in enumerate(shares):
            group = groups.enter_context(share_of_a_core(f"server{number}", share))
            servers.append(started.enter_context(Postgres(fsync=True)))
            _hold(group, servers[-1])
        async with AsyncExitStack() as stores:
            pipelines = []
            for server in servers:
                store = await stores.enter_async_context(opened(server.create_database()))
                pipelines.append(await Pipeline.over(store))
            await asyncio.gather(*(pipeline.together(WARM) for pipeline in pipelines))
            return sum(timed.rate for timed in await asyncio.gather(*(one.together(sets) for one in pipelines)))


def _hold(group: Path, server: Postgres) -> None:
    """The processes there are; those to come are begun by one of them, and so in the group."""
    top = psutil.Process(server.pid)
    for process in (top, *top.children(recursive=True)):
        put(group, process.pid)


async def capacity(short: bool) -> list[Figure]:
    cost = await cost_of_a_message(2, 1) if short else await cost_of_a_message(CHATS, MESSAGES)
    rows = f"{cost.inserted:.0f} rows inserted, {cost.updated:.0f} updated, {cost.deleted:.0f} removed"
    figures = [
        Figure("processor time of a node, a message", cost.node_ms, "ms"),
        Figure("processor time of PostgreSQL, a message", cost.server_ms, "ms"),
        Figure("commits of a message", cost.commits, "", note=rows),
        Figure("log of PostgreSQL, a message", cost.log / 1024, "KiB"),
        Figure("kept of a message", cost.kept / 1024, "KiB", note="tables and indexes, before anything is retired"),
    ]
    sets, rounds = (4, 1) if short else (SETS, ROUNDS)
    try:
        one, double, two = [median([await rate_of(shares, sets) for _ in range(rounds)]) for shares in GROWTH]
    except NoShares as error:
        return [*figures, Figure("PostgreSQL with twice the processor", 0, "sets/s", note=f"not run: {error}")]
    return [
        *figures,
        Figure(
            "PostgreSQL with twice the processor",
            double,
            "sets/s",
            one,
            GROWS,
            f"{2 * SHARE:g} of a core, beside {SHARE:g}",
        ),
        Figure(
            "two servers, a database each", two, "sets/s", one, GROWS, f"{SHARE:g} of a core each, beside one of that"
        ),
    ]


# ------------------------------------------------------------------------------------------------------------ a model

RATES: Final = (10, 1_000, 100_000)
NODE_FULL: Final = 0.7
"""Share of a core that a node uses when it has enough: the rest is for peaks."""
WIDTH: Final = 64
"""Runs that a node has at work at a time; source: runtime.intake.dispatch."""
SLOW_MODEL: Final = 5
"""Seconds of an answer."""
SERVER_CORES: Final = 32
SERVER_FULL: Final = 0.7
LOG_BYTES_A_SECOND: Final = 200e6
"""What a good disk takes of a log in a row, with a standby that keeps up."""


def of_one_server(cost: Cost) -> float:
    """Messages a second at which one server is full, by its processor or by its log."""
    return min(SERVER_CORES * SERVER_FULL * 1000 / cost.server_ms, LOG_BYTES_A_SECOND / cost.log)


def model(cost: Cost) -> Iterator[str]:
    """A row for each rate, as Markdown."""
    yield f"| messages a second | nodes | nodes, {SLOW_MODEL} s an answer | PostgreSQL, cores | commits a second | log a second | kept a day | servers |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for rate in RATES:
        nodes = math.ceil(rate * cost.node_ms / 1000 / NODE_FULL)
        cells = [
            f"{rate:,}",
            f"{nodes:,}",
            f"{max(nodes, math.ceil(rate * SLOW_MODEL / WIDTH)):,}",
            f"{rate * cost.server_ms / 1000:,.2g}" if rate < 100 else f"{rate * cost.server_ms / 1000:,.0f}",
            f"{rate * cost.commits:,.0f}",
            f"{rate * cost.log / 1e6:,.1f} MB",
            f"{rate * cost.kept * 86_400 / 1e9:,.0f} GB",
            f"{math.ceil(rate / of_one_server(cost)):,}",
        ]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    cost = asyncio.run(cost_of_a_message(CHATS, MESSAGES))
    print("\n".join(f"{one.name}: {getattr(cost, one.name):,.1f}" for one in fields(cost)))
    print(f"\none server: {of_one_server(cost):,.0f} messages a second\n")
    print("\n".join(model(cost)))


if __name__ == "__main__":
    main()
