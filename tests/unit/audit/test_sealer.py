"""The signed head of the audit, and the duty that seals it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from runtime.audit.anchor import HeadFile
from runtime.audit.sealer import Sealer
from runtime.cluster.notifier import LocalNotifier
from runtime.cluster.topics import UNSEALED
from runtime.contract import NodeId, Role
from runtime.domain.ids import new_id
from runtime.errors import StoreError
from runtime.store.protocol import Duty, Head
from runtime.store.store import Store
from tests.contract.runtime.stores import memory_store

HEAD = Head(7, "abc")
SOON = timedelta(seconds=0.005)


# -------------------------------------------------------------------------------------------------------- the file


def test_the_head_is_read_as_it_was_written(tmp_path: Path) -> None:
    HeadFile(tmp_path).write(HEAD)
    assert HeadFile(tmp_path).read() == HEAD


def test_before_the_first_there_is_no_head(tmp_path: Path) -> None:
    assert HeadFile(tmp_path).read() is None


def test_the_newest_head_replaces_the_one_before(tmp_path: Path) -> None:
    for number in range(3):
        HeadFile(tmp_path).write(Head(number, f"h{number}"))
    assert HeadFile(tmp_path).read() == Head(2, "h2")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.head", "audit.key"]


def test_the_key_is_for_its_owner_alone(tmp_path: Path) -> None:
    HeadFile(tmp_path).write(HEAD)
    assert (tmp_path / "audit.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("field", "value"), [("number", 6), ("hash", "abd"), ("signature", "00")])
def test_a_head_that_someone_else_wrote_is_refused(field: str, value: object, tmp_path: Path) -> None:
    HeadFile(tmp_path).write(HEAD)
    path = tmp_path / "audit.head"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(StoreError, match="signature"):
        HeadFile(tmp_path).read()


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[]", '{"number": 1}', '{"number": "x", "hash": "", "signature": ""}']
)
def test_a_damaged_head_is_told(text: str, tmp_path: Path) -> None:
    HeadFile(tmp_path).write(HEAD)
    (tmp_path / "audit.head").write_text(text)
    with pytest.raises(StoreError, match=r"audit\.head"):
        HeadFile(tmp_path).read()


def test_another_key_is_told(tmp_path: Path) -> None:
    HeadFile(tmp_path).write(HEAD)
    (tmp_path / "audit.key").write_bytes(b"x" * 32)
    with pytest.raises(StoreError, match="signature"):
        HeadFile(tmp_path).read()


# -------------------------------------------------------------------------------------------------------- the duty


@asynccontextmanager
async def sealing(
    store: Store, folder: Path, notifier: LocalNotifier | None = None, *, every: timedelta = SOON
) -> AsyncIterator[None]:
    lease = await store.cluster.join(NodeId(new_id()), "test", timedelta(hours=1), alone=True)

    async def take(role: str) -> Duty | None:
        return await store.cluster.take(lease, role)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(
            Sealer(
                book=store.audit, file=HeadFile(folder), take=take, notifier=notifier or LocalNotifier(), every=every
            ).run()
        )
        try:
            async with asyncio.timeout(30):
                yield
        finally:
            task.cancel()


async def sealed(store: Store, folder: Path, count: int) -> None:
    """Wait until `count` rows are sealed and the head says so."""
    while True:
        with capture_logs():
            head = HeadFile(folder).read()
        if head is not None and head.number >= count:
            return
        await asyncio.sleep(0.005)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    opened = memory_store(lambda: datetime(2026, 3, 1, tzinfo=UTC))
    yield opened
    await opened.close()


async def test_new_rows_are_numbered_linked_and_the_head_signed(store: Store, tmp_path: Path) -> None:
    """Scenario 42."""
    async with sealing(store, tmp_path):
        for name in ("Ada", "Otto", "Uma"):
            await store.people.add_person(name, Role.USER, [], actor="test")
        await sealed(store, tmp_path, 3)
    rows = await store.audit.audit_rows(0)
    assert [row.number for row in rows] == [1, 2, 3]
    assert [row.previous for row in rows] == ["", *(row.hash for row in rows[:-1])]
    assert HeadFile(tmp_path).read() == Head(3, rows[-1].hash)


async def test_who_is_told_of_new_rows_seals_them_at_once(store: Store, tmp_path: Path) -> None:
    notifier = LocalNotifier()
    async with sealing(store, tmp_path, notifier, every=timedelta(hours=1)):
        await asyncio.sleep(0.05)  # it has looked and rests
        await store.people.add_person("Ada", Role.USER, [], actor="test")
        notifier.notify(UNSEALED)
        await sealed(store, tmp_path, 1)


async def test_a_restart_goes_on_where_the_chain_ended(store: Store, tmp_path: Path) -> None:
    """Scenario 42."""
    for count, name in enumerate(("Ada", "Otto"), 1):
        async with sealing(store, tmp_path):
            await store.people.add_person(name, Role.USER, [], actor="test")
            await sealed(store, tmp_path, count)
    rows = await store.audit.audit_rows(0)
    assert rows[1].previous == rows[0].hash


async def test_a_key_that_is_damaged_is_told_in_the_log_once(store: Store, tmp_path: Path) -> None:
    """Not as a store that is away for a moment: nothing but a person mends it."""
    async with sealing(store, tmp_path):
        await store.people.add_person("Ada", Role.USER, [], actor="test")
        await sealed(store, tmp_path, 1)
    (tmp_path / "audit.key").write_bytes(b"half a key")
    with capture_logs() as logs:
        async with sealing(store, tmp_path):
            while not logs:  # noqa: ASYNC110 - the sealer tells nobody else
                await asyncio.sleep(0.005)
            await asyncio.sleep(0.02)
    assert [(one["log_level"], "audit.key is damaged" in one["reason"]) for one in logs] == [("warning", True)]
