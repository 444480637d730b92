"""After a restore: what the lost life had shown since the backup is found and not shown again."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.testing.channel.adapter import REPEAT_MARK, no_floor
from bot.testing.channel.server import ChannelKind
from runtime.contract import Features
from runtime.delivery.retry_policy import RetryPolicy, Unknown
from runtime.domain.deliveries import DeliveryState
from runtime.domain.ids import new_id
from runtime.store.operations.after_restore import Aftermath, Origin, after_restore
from runtime.store.sql.sqlite import MEMORY_DATABASE, SqliteDriver, connect
from runtime.store.store import Store
from tests.contract.courier.scripted import ScriptedAdapter
from tests.contract.courier.stage import CARD, LONG, TELLING, Stage
from tests.contract.runtime.stage import Crash, crash_at


class Backup:
    """What a store in memory was at one moment."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._taken_at: datetime = stage.clock.at
        self._rows = connect(MEMORY_DATABASE)
        driver = stage.store.driver
        assert isinstance(driver, SqliteDriver)
        driver._writer._connection.backup(self._rows)

    async def restored(self) -> tuple[Stage, Aftermath]:
        """A new life that begins with it; the platform goes on as it is."""
        driver = SqliteDriver(MEMORY_DATABASE, self._rows, now=self._stage.clock)
        origin = Origin("b1", self._taken_at, "1.0")
        after = await driver.write(lambda: after_restore(origin, "command line of kim", self._stage.clock.at, new_id))
        return replace(self._stage, store=Store.over(driver, new_id)), after


async def queued(stage: Stage) -> None:
    await stage.put(LONG)


async def waiting_after_a_refusal(stage: Stage) -> None:
    await stage.put(LONG)
    stage.fault("error")
    await (await stage.courier()).drain()


async def partly_shown(stage: Stage) -> None:
    await stage.put(LONG)
    with pytest.raises(Crash):
        await (await stage.courier(probe=crash_at("part-checkpointed", 1))).drain()


async def just_marked(stage: Stage) -> None:
    await stage.put(LONG)
    with pytest.raises(Crash):
        await (await stage.courier(probe=crash_at("part-marked", 2))).drain()


async def being_looked_for(stage: Stage) -> None:
    await stage.put(LONG)
    stage.fault("cut_after")
    later = replace(stage.adapter().features(), floor=no_floor)
    await (await stage.courier(features=later)).drain()


BEFORE: dict[str, Callable[[Stage], Awaitable[None]]] = {
    one.__name__: one for one in (queued, waiting_after_a_refusal, partly_shown, just_marked, being_looked_for)
}
before = pytest.mark.parametrize("how", BEFORE)
telling = pytest.mark.parametrize("kind", TELLING)


async def backed_up(stage: Stage, how: str) -> Backup:
    await BEFORE[how](stage)
    return Backup(stage)


@before
@telling
async def test_what_was_shown_since_the_backup_is_not_shown_again(how: str, kind: ChannelKind, stage: Stage) -> None:
    backup = await backed_up(stage, how)
    stage.clock.advance(timedelta(hours=3))
    await stage.settle(await stage.courier())
    assert "".join(stage.seen()) == LONG
    stage.clock.advance(timedelta(hours=3))
    life, after = await backup.restored()
    await life.settle(await life.courier())
    assert "".join(stage.seen()) == LONG
    assert after.deliveries == 1
    assert [row.state for row in await life.outbox()] == [DeliveryState.SHOWN]


@before
@telling
async def test_what_was_not_shown_is_shown_once(how: str, kind: ChannelKind, stage: Stage) -> None:
    backup = await backed_up(stage, how)
    stage.clock.advance(timedelta(hours=6))
    life, _ = await backup.restored()
    await life.settle(await life.courier())
    assert "".join(stage.seen()) == LONG


@pytest.mark.parametrize("kind", [ChannelKind.LOOKUP])
async def test_a_second_restore_of_the_same_backup_repeats_nothing_either(kind: ChannelKind, stage: Stage) -> None:
    await stage.put(LONG)
    backup, again = Backup(stage), Backup(stage)
    for one in (backup, again):
        life, _ = await one.restored()
        await life.settle(await life.courier())
    assert "".join(stage.seen()) == LONG


@pytest.mark.parametrize("kind", [ChannelKind.NONE])
async def test_where_nobody_can_tell_it_is_repeated_with_a_mark(kind: ChannelKind, stage: Stage) -> None:
    await stage.put("hello")
    backup = Backup(stage)
    await stage.settle(await stage.courier())
    life, _ = await backup.restored()
    await life.settle(await life.courier())
    assert stage.seen() == ["hello", f"{REPEAT_MARK}hello"]


@pytest.mark.parametrize("kind", [ChannelKind.NONE])
async def test_or_it_is_held_for_a_person(kind: ChannelKind, stage: Stage) -> None:
    stage.pace = RetryPolicy(unknown=Unknown.HOLD)
    delivery = await stage.put("hello")
    life, _ = await Backup(stage).restored()
    await life.settle(await life.courier())
    assert stage.seen() == []
    assert await life.state(delivery) is DeliveryState.HELD


async def test_nothing_new_overtakes_what_is_looked_for(stage: Stage) -> None:
    await stage.put("old")
    backup = Backup(stage)
    life, _ = await backup.restored()
    await life.put("new")
    await life.settle(await life.courier())
    assert stage.seen() == ["old", "new"]


async def test_an_edit_that_waited_is_made(stage: Stage) -> None:
    card = await stage.put("question", origin="approval:a1", buttons=CARD)
    await stage.settle(await stage.courier())
    await stage.put("settled", origin="approval:a1", ordinal=1, edits=card)
    backup = Backup(stage)
    await stage.settle(await stage.courier())
    life, _ = await backup.restored()
    await life.settle(await life.courier())
    assert stage.seen() == ["settled"]


async def test_on_a_channel_whose_screen_is_our_store_it_is_simply_shown(stage: Stage) -> None:
    """Also where parts of it were made before, as after a requeue."""
    await stage.put("queued")
    requeued = await stage.put("requeued")
    adapter = ScriptedAdapter(offers=Features(stored=True))
    backup = Backup(stage)
    with closing(backup._rows.cursor()) as cursor:
        _make_open(cursor, requeued)
    life, _ = await backup.restored()
    await life.settle(await life.courier(adapter=adapter))
    assert sorted(adapter.texts) == ["queued", "requeued"]


def _make_open(cursor: sqlite3.Cursor, delivery: str) -> None:
    cursor.execute("UPDATE deliveries SET state = 'open' WHERE id = ?", (delivery,))
    cursor.execute(
        "INSERT INTO parts (delivery_id, ordinal, state, body, attempts, looks, repeat_mark, reason) "
        "VALUES (?, 1, 'pending', 'requeued', 1, 0, 0, '')",
        (delivery,),
    )
