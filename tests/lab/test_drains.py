"""A node that an operator has leave: others serve its rooms at once, its work comes to an end, and it ends with 0."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from runtime.store.cluster.roster import Drain, Member, Removal
from runtime.store.store import Store, open_store
from tests.fakes.postgres import Postgres
from tests.lab.node import Node
from tests.lab.stage import Lab, lab

pytestmark = pytest.mark.timeout(180)

THINKS = 2.0  # seconds: so long a run is at work while its node drains


async def member(store: Store, node: Node) -> Member:
    pid = str(node.process.pid)
    return next(one for one in await store.roster.members() if one.label.endswith(f"/{pid}"))


async def drained(on: Lab, store: Store, node: Node, within: timedelta) -> float:
    """Ask it through the database alone; how many seconds until it is gone."""
    asked = await store.roster.ask_to_drain((await member(store, node)).id, within, "ada")
    assert asked is Drain.ASKED
    began = time.monotonic()
    assert await node.ended() == 0
    return time.monotonic() - began


async def owner_first(on: Lab) -> tuple[Node, Node]:
    for node in on.nodes:
        await node.until_ready()
    owner = await on.owner(f"courier:{on.rig.channel}")
    [other] = [node for node in on.nodes if node is not owner]
    return owner, other


async def test_a_node_that_drains_under_traffic_loses_and_repeats_nothing(
    postgres: Postgres, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    async with lab(tmp_path, postgres, think=THINKS) as on:
        owner, other = await owner_first(on)
        room, apart = on.rig.rooms().direct, on.rig.rooms().apart
        assert apart
        first = await on.say(room)
        await on.until_at_work()
        store = await open_store(on.database)
        try:
            async with asyncio.TaskGroup() as group:
                gone = group.create_task(drained(on, store, owner, timedelta(minutes=1)))
                said = [(first, room)]
                for place in (apart, room, apart):
                    await asyncio.sleep(0.4)
                    said.append((await on.say(place), place))
            for token, place in said:
                await on.until_shown(place, token)
            assert (await member(store, owner)).state == "left"
            assert await on.owner(f"courier:{on.rig.channel}") is other
            crashes: Any = await on.select("SELECT count(*) FROM runs WHERE crashes > 0")
            assert crashes == [(0,)]
        finally:
            await store.close()
        await on.judged()
    tell(f"gone {gone.result():.1f} s after it was asked, with a run of {THINKS:.0f} s at work")


async def test_at_the_time_limit_it_hands_its_work_over(postgres: Postgres, tmp_path: Path) -> None:
    async with lab(tmp_path, postgres, think=2.5) as on:
        owner, _ = await owner_first(on)
        room = on.rig.rooms().direct
        token = await on.say(room)
        await on.until_at_work()
        store = await open_store(on.database)
        try:
            assert await drained(on, store, owner, timedelta(seconds=1)) < 5.0
        finally:
            await store.close()
        await on.until_shown(room, token)
        await on.judged()


@pytest.mark.soak
async def test_a_killed_node_is_removed_only_once_it_is_late(postgres: Postgres, tmp_path: Path) -> None:
    async with lab(tmp_path, postgres, think=6.0) as on:
        owner, other = await owner_first(on)
        token = await on.say(on.rig.rooms().direct)
        await on.until_at_work()
        store = await open_store(on.database)
        try:
            assert await store.roster.remove((await member(store, owner)).id, "ada") is Removal.LIVES
            owner.kill()
            await on.until_missed(owner)
            assert await store.roster.remove((await member(store, owner)).id, "ada") is Removal.GONE
        finally:
            await store.close()
        await on.until_shown(on.rig.rooms().direct, token)
        assert await on.owner(f"courier:{on.rig.channel}") is other
        await on.judged()
