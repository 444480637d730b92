"""Twenty nodes at rest on one PostgreSQL: what they cost its server, and what each costs its own machine.

One real process has every duty. Of a second one, which runs in this process, everything is written down that goes to the
server while nothing happens. Eighteen more are simulated by that tape: each sends the same statements at the same intervals,
as a node of its own in the table, and listens.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import asyncpg
import psutil

from bench.figures import Figure, at_most
from bench.program import TOKEN, Program, signalbox
from bench.statements import quiet
from bot.server.process import serving
from bot.settings.settings import load
from runtime.contract import NodeId
from runtime.domain.ids import new_id
from runtime.store.sql.driver import Rows
from runtime.store.sql.notices import CHECK
from runtime.store.sql.telling import NOTIFY_CHANNEL
from runtime.store.sql.wire.pipeline import Pipelined, Script
from runtime.store.store import open_store
from tests.fakes.postgres import Postgres

NODES: Final = 20
REAL: Final = 2
OF_A_CORE: Final = 5.0  # percent
STATEMENTS: Final = 512
OWN_LABEL: Final = "SELECT id FROM nodes WHERE label LIKE '%/' || $1"


@dataclass(frozen=True, slots=True)
class Rest:
    """Seconds: until what a start leaves is done, then of nothing, taped and measured."""

    settle: float = 8.0
    quiet: float = 30.0


@dataclass(slots=True)
class RestTape:
    """Scripts of one node by the connection that they went over, each with its second."""

    node: str = ""
    lease: timedelta = timedelta()
    began: float = 0.0
    began_micros: int = 0
    lines: dict[int, list[tuple[float, Script]]] = field(default_factory=dict)

    @property
    def scripts(self) -> int:
        return sum(map(len, self.lines.values()))

    @property
    def statements(self) -> int:
        return sum(len(script) for line in self.lines.values() for _, script in line)


async def rest(short: bool) -> list[Figure]:
    quiet()
    times = Rest(1.0, 2.0) if short else Rest()
    count = 3 if short else NODES
    with tempfile.TemporaryDirectory() as name, Postgres() as server:
        url = server.create_database()
        told = f'database_url = "{url}"\n[web]\nport = 0\n'
        first = Path(name) / "first"
        first.mkdir()
        with signalbox(first, told) as node:
            tape = await _taped(Path(name), url, times)
            alone = await _used(node, server, times)
            async with _simulated(url, tape, count - 1, times):
                together = await _used(node, server, times)
    every = (
        f"each {tape.scripts / times.quiet:.1f} round trips and {tape.statements / times.quiet:.1f} statements a second"
    )
    beside = f"of {count}, with every duty"
    return [
        Figure("a node at rest", together.node, "% of a core", alone.node, at_most(OF_A_CORE), beside),
        Figure(
            f"PostgreSQL, {count} nodes at rest",
            together.server,
            "% of a core",
            alone.server,
            at_most(OF_A_CORE),
            every,
        ),
    ]


@dataclass(frozen=True, slots=True)
class Used:
    """Percent of a core."""

    node: float
    server: float


async def _used(node: Program, server: Postgres, times: Rest) -> Used:
    await asyncio.sleep(times.settle)
    before, servers = node.processor_seconds, processor_seconds(server)
    await asyncio.sleep(times.quiet)
    node_used, server_used = node.processor_seconds - before, processor_seconds(server) - servers
    return Used(node_used / times.quiet * 100, server_used / times.quiet * 100)


def processor_seconds(server: Postgres) -> float:
    """Of all its processes; those that ended are in their parent's."""
    top = psutil.Process(server.pid)
    total = 0.0
    for process in (top, *top.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


# -------------------------------------------------------------------------------------------------------- the tape


async def _taped(folder: Path, url: str, times: Rest) -> RestTape:
    """What a second node asks in so many seconds of rest."""
    overrides = {"database_url": url, "web.port": 0, "web.token": TOKEN}
    settings = load(environ={}, folder=folder, overrides=overrides)
    async with serving(settings):
        await asyncio.sleep(times.settle)
        tape = RestTape(
            await _own_id(url), settings.nodes.lease, began=time.monotonic(), began_micros=time.time_ns() // 1000
        )
        with _written_down(tape):
            await asyncio.sleep(times.quiet)
    tape.lines = {line: whole for line, scripts in tape.lines.items() if (whole := _whole(scripts))}
    return tape


async def _own_id(url: str) -> str:
    connection = await asyncpg.connect(url)
    try:
        return str(await connection.fetchval(OWN_LABEL, str(os.getpid())))
    finally:
        await connection.close()


@contextmanager
def _written_down(tape: RestTape) -> Iterator[None]:
    run_script = Pipelined.run_script

    async def noted(self: Pipelined, script: Script) -> list[Rows]:
        at = time.monotonic() - tape.began
        tape.lines.setdefault(id(self), []).append((at, [(one, tuple(values)) for one, values in script]))
        return await run_script(self, script)

    setattr(Pipelined, "run_script", noted)  # noqa: B010 - a method is put in its place
    try:
        yield
    finally:
        setattr(Pipelined, "run_script", run_script)  # noqa: B010


def _whole(line: Sequence[tuple[float, Script]]) -> list[tuple[float, Script]]:
    """Without the end of a transaction at its beginning, and the beginning of one at its end."""
    begins = [place for place, (_, script) in enumerate(line) if script[0][0].sql.startswith("BEGIN")]
    ends = [place for place, (_, script) in enumerate(line) if script[-1][0].sql in ("COMMIT", "ROLLBACK")]
    return list(line[begins[0] : ends[-1] + 1]) if begins and ends else []


# -------------------------------------------------------------------------------------------------- the simulation


@asynccontextmanager
async def _simulated(url: str, tape: RestTape, count: int, times: Rest) -> AsyncIterator[None]:
    """So many nodes at rest. They go over the tape again where it ends."""
    store = await open_store(url)
    members = [NodeId(new_id()) for _ in range(count)]
    try:
        for number, member in enumerate(members):
            await store.cluster.join(member, f"simulated/{number}", tape.lease, alone=False)
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_rests(url, tape, node, number / count, times)) for number, node in enumerate(members)
            ]
            tasks += [group.create_task(_listens(url)) for _ in members]
            yield
            for task in tasks:
                task.cancel()
    finally:
        await store.close()


async def _rests(url: str, tape: RestTape, node: NodeId, ahead: float, times: Rest) -> None:
    await asyncio.sleep(ahead)
    async with asyncio.TaskGroup() as group:
        for line in tape.lines.values():
            group.create_task(_plays(url, tape, line, node, times))


async def _plays(url: str, tape: RestTape, line: Sequence[tuple[float, Script]], node: NodeId, times: Rest) -> None:
    connection = await asyncpg.connect(url, statement_cache_size=STATEMENTS, connection_class=Pipelined)
    try:
        began = time.monotonic()
        while True:
            for at, script in line:
                await asyncio.sleep(began + at - time.monotonic())
                later = time.time_ns() // 1000 - tape.began_micros - int(at * 1e6)
                await connection.run_script([(one, _now(values, tape, node, later)) for one, values in script])
            began += times.quiet
    finally:
        connection.terminate()


def _now(values: Sequence[object], tape: RestTape, node: NodeId, later: int) -> tuple[object, ...]:
    """Parameters of another node at another time."""
    day = 86_400_000_000
    return tuple(
        node
        if value == tape.node
        else value + later
        if type(value) is int and abs(value - tape.began_micros) < day
        else value
        for value in values
    )


async def _listens(url: str) -> None:
    connection: Any = await asyncpg.connect(url, statement_cache_size=0)
    try:
        await connection.add_listener(NOTIFY_CHANNEL, lambda *_: None)
        while True:
            await asyncio.sleep(CHECK.total_seconds())
            await connection.execute("SELECT 1")
    finally:
        connection.terminate()
