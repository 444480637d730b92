"""Nodes behind a real PgBouncer that gives each transaction another connection of the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from bot.doctor.examine import examine
from bot.doctor.machine.store import check_store
from runtime.contract import Level
from runtime.errors import StoreError
from runtime.store.store import open_store
from tests.fakes.pgbouncer import PgBouncer, program
from tests.fakes.postgres import Postgres
from tests.faults.app import settings_of
from tests.lab.stage import Lab, Reached, lab

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(program() is None, reason="no PgBouncer on this machine (tests/setup.sh pgbouncer installs it)"),
]

THINKS: Final = 0.3  # seconds: so a kill meets runs at work
ROOMS: Final = 12
ROUNDS: Final = 6
FEW: Final = 4
"""Connections of the server, for three nodes that would hold eight each."""


@pytest.fixture
def pooler(postgres: Postgres) -> Iterator[PgBouncer]:
    with PgBouncer(postgres, size=FEW) as made:
        yield made


@asynccontextmanager
async def pooled(folder: Path, server: Postgres, pooler: PgBouncer, **given: Any) -> AsyncIterator[Lab]:
    async with lab(folder, server, reach=lambda url: Reached(pooler.before(url), url, url), **given) as on:
        for node in on.nodes:
            await node.until_ready()
        yield on


async def test_a_node_behind_a_pooler_starts_and_answers(postgres: Postgres, pooler: PgBouncer, tmp_path: Path) -> None:
    """With the doctor, who tells how it is connected."""
    async with pooled(tmp_path, postgres, pooler, nodes=1) as on:
        await on.answered(on.rig.places(1)[0])
        url = pooler.before(on.database)
        settings = settings_of(on.nodes[0].data, {"database_url": url, "database_listen_url": on.database})
        found = {one.id: one async for one in examine(settings, checks={"store": check_store})}
        assert "pooler" in found["store.pooler"].what
        assert found["store.notices"].level is Level.OK
        await on.judged()


async def test_a_pooler_that_gives_away_each_statement_is_told(postgres: Postgres) -> None:
    url = postgres.create_database()
    with PgBouncer(postgres, mode="statement") as pooler, pytest.raises(StoreError, match="pool_mode = transaction"):
        await open_store(pooler.before(url))


@pytest.mark.soak
async def test_three_nodes_behind_a_pooler_lose_and_repeat_nothing_when_one_is_killed(
    postgres: Postgres, pooler: PgBouncer, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    async with pooled(tmp_path, postgres, pooler, nodes=3, think=THINKS) as on:
        rooms = on.rig.places(ROOMS)
        said = []
        for number in range(ROUNDS):
            said += [(room, await on.say(room)) for room in rooms]
            if number == ROUNDS // 2:
                await on.until_at_work()
                killed = await on.owner("courier:telegram")
                killed.kill()
                await killed.ended()
        took = max(await asyncio.gather(*(on.until_shown(room, token, 120) for room, token in said)))
        tell(f"{len(said)} messages, the owner of the courier killed: all answered {took:.1f} s after the last one")
        await on.judged()
