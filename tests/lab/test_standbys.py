"""PostgreSQL with a standby that is promoted in mid-traffic, and with one that lags."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from bot.doctor.examine import examine
from bot.doctor.machine.store import check_store
from runtime.contract import Finding
from runtime.errors import StoreError, Trouble
from runtime.store.store import open_store
from tests.contract.store.stage import HandClock, Stage
from tests.fakes.standby import BEHIND, STREAMING, Primary, Standby
from tests.faults.app import settings_of
from tests.faults.program import until
from tests.lab.proxy import Proxy, proxy
from tests.lab.stage import Lab, Reached, lab

pytestmark = [pytest.mark.soak, pytest.mark.timeout(400)]

THINKS: Final = 0.3  # seconds: so that a fail-over meets runs at work
ROOMS: Final = 8
LEASE: Final = 3.0  # seconds
WITHIN: Final = timedelta(seconds=1)
"""How long a write may take where that is waited for."""
AWAY_FOR: Final = 4.0  # seconds from the loss of the primary to the promotion: longer than a lease
SETTINGS: Final[dict[str, Any]] = {"nodes.lease_seconds": LEASE}


class Pair:
    """A primary and a standby that has all it confirmed. `way` leads to the primary."""

    def __init__(self, primary: Primary, standby: Standby) -> None:
        self.primary = primary
        self.standby = standby
        self.way: Proxy | None = None

    def reach(self, url: str) -> Reached:
        both = self.standby.pair(url)
        past = both.replace(self.primary.place, f"127.0.0.1:{self.way.port}") if self.way else both
        return Reached(past, past, f"{both}?target_session_attrs=read-write")

    async def fail_over(self, lose: Callable[[], object]) -> None:
        """The primary is lost, and after a while the standby is promoted."""
        lose()
        await asyncio.to_thread(self.primary.stop, crash=True)
        await asyncio.sleep(AWAY_FOR)
        await asyncio.to_thread(self.standby.promote)


@pytest.fixture
def pair() -> Iterator[Pair]:
    with Primary() as primary, Standby(primary) as standby:
        yield Pair(primary, standby)


@asynccontextmanager
async def at_work(folder: Path, pair: Pair) -> AsyncIterator[Lab]:
    await pair.primary.until(STREAMING, 1)
    await pair.primary.confirm_after("*")
    async with lab(folder, pair.primary, think=THINKS, reach=pair.reach, **SETTINGS) as on:
        for node in on.nodes:
            await node.until_ready()
        yield on


async def traffic(on: Lab, stop: asyncio.Event) -> list[tuple[Any, str]]:
    """People write, whatever happens."""
    said = []
    while not stop.is_set():
        for room in on.rig.places(ROOMS):
            said.append((room, await on.say(room)))
            await asyncio.sleep(0.1)
    return said


async def promoted_in_traffic(on: Lab, pair: Pair, lose: Callable[[], object]) -> tuple[int, float]:
    """How many lines were said meanwhile, and the seconds from the promotion until each was answered."""
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        talking = group.create_task(traffic(on, stop))
        await asyncio.sleep(2)
        await on.until_at_work()
        failing = group.create_task(pair.fail_over(lose))
        await until_not_ready(on)
        await failing
        began = time.monotonic()
        await asyncio.sleep(2)
        stop.set()
    said = talking.result()
    await asyncio.gather(*(on.until_shown(room, token, 120) for room, token in said))
    return len(said), time.monotonic() - began


async def until_not_ready(on: Lab) -> None:
    """Every node says so while nothing takes writes."""
    for node in on.nodes:

        async def look() -> bool | None:
            return "store" in (await node.health()).reasons or None  # noqa: B023 - it is done before the next node

        await until(look, "a word about the store", 30)


async def test_a_standby_promoted_in_mid_traffic_loses_and_repeats_nothing(
    pair: Pair, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    async with at_work(tmp_path, pair) as on:
        count, took = await promoted_in_traffic(on, pair, lambda: None)
        await on.judged()
    tell(
        f"{count} messages, the primary killed and its standby promoted: all answered {took:.1f} s after the promotion"
    )


async def test_a_primary_that_is_gone_without_a_word_keeps_nobody_from_the_other_server(
    pair: Pair, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    """As a machine without power: no connection is refused, none ends."""
    to = urlsplit(pair.primary.url)
    async with proxy(to.hostname or "", to.port or 0) as way:
        pair.way = way
        async with at_work(tmp_path, pair) as on:
            count, took = await promoted_in_traffic(on, pair, way.stall)
            await on.judged()
    tell(
        f"{count} messages, the primary silent and its standby promoted: all answered {took:.1f} s after the promotion"
    )


async def test_what_a_lagging_standby_had_not_is_told_by_the_audit(pair: Pair, tmp_path: Path) -> None:
    """Without synchronous replication it is lost; work goes on."""
    await pair.primary.until(STREAMING, 1)
    async with lab(tmp_path, pair.primary, nodes=1, reach=pair.reach, **SETTINGS) as on:
        (node,) = on.nodes
        await node.until_ready()
        room = on.rig.places(1)[0]
        await on.answered(room)
        await pair.primary.until(BEHIND, 0)
        await pair.standby.asked("ALTER SYSTEM SET primary_conninfo = ''")
        await pair.standby.asked("SELECT pg_reload_conf()")
        await pair.primary.until(STREAMING, 0)
        await on.answered(room)
        await until_sealed(on)
        await pair.fail_over(lambda: None)
        await on.answered(room, 120)

        async def look() -> bool | None:
            return "does not reach its signed head" in node.log() or None

        await until(look, f"a word of the audit\n{node.log()}", 60)


async def until_sealed(on: Lab) -> None:
    async def look() -> bool | None:
        return (await on.select("SELECT count(*) FROM audit WHERE number IS NULL"))[0][0] == 0 or None

    await until(look, "an audit that is sealed", 30)


async def test_nothing_is_confirmed_that_the_standby_has_not(pair: Pair) -> None:
    """A COMMIT that gives up its wait for the standby is made and told as made; it would be gone after a fail-over."""
    await pair.primary.until(STREAMING, 1)
    await pair.primary.confirm_after("*")
    store = await open_store(pair.primary.create_database(), within=WITHIN)
    stage = Stage(store, HandClock.of_today())
    await stage.open()
    pair.standby.stop()
    with pytest.raises(StoreError) as waited:
        await stage.say("hello")
    assert waited.value.trouble is Trouble.AWAY
    assert "synchronous_standby_names" in str(waited.value)
    await store.close()


async def test_a_standby_alone_is_told_with_words(pair: Pair, tmp_path: Path) -> None:
    url = pair.primary.create_database()
    store = await open_store(url)
    await store.close()
    await pair.primary.until(BEHIND, 0)
    both, alone = pair.standby.pair(url), url.replace(pair.primary.place, pair.standby.place)
    assert "promote it" in (await of_doctor(tmp_path, alone))["store.writable"].fix
    pair.primary.stop()
    with pytest.raises(StoreError, match="Promote one of them") as told:
        await open_store(both)
    assert told.value.trouble is Trouble.READ_ONLY
    pair.standby.promote()
    store = await open_store(both)
    await Stage(store, HandClock.of_today()).open()
    await store.close()


async def test_a_standby_that_may_lag_or_that_is_waited_for_in_vain_is_told_by_the_doctor(
    pair: Pair, tmp_path: Path
) -> None:
    url = pair.primary.create_database()
    await pair.primary.until(STREAMING, 1)
    assert "synchronous_standby_names" in (await of_doctor(tmp_path, url))["store.confirmed"].fix
    await pair.primary.confirm_after("*")
    assert "store.confirmed" not in await of_doctor(tmp_path, url)
    pair.standby.stop()
    await pair.primary.until(STREAMING, 0)
    assert "synchronous_standby_names" in (await of_doctor(tmp_path, url))["store.writable"].fix


async def of_doctor(folder: Path, url: str) -> dict[str, Finding]:
    settings = settings_of(folder, {"database_url": url})
    return {one.id: one async for one in examine(settings, checks={"store": check_store})}
