"""Old rows of the audit go behind a signed checkpoint, and nothing but old and sound rows does."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from bot.operator.audit import verify
from bot.settings.settings import load
from bot.wiring.retention import trimmer_of
from runtime.audit.anchor import CheckpointFile, HeadFile
from runtime.audit.sealer import Sealer
from runtime.audit.trimmer import TRIMMING_INTERVAL, Trimmer
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import NodeId, Role
from runtime.errors import StoreError
from runtime.store.protocol import AuditCheckpoint, Duty, Head
from runtime.store.store import Store
from tests.contract.runtime.stores import memory_store
from tests.contract.store.stage import HandClock

DAY = timedelta(days=1)


class Book:
    """A store in memory with one fact a day, sealed."""

    def __init__(self, store: Store, clock: HandClock, folder: Path) -> None:
        self.store = store
        self.clock = clock
        self.folder = folder
        self.duty = Duty("", NodeId(""), 0)
        self.trimmer = Trimmer(book=store.audit, file=CheckpointFile(folder), keep=3 * DAY, now=clock)

    async def fill(self, days: int = 10) -> None:
        lease = await self.store.cluster.join(NodeId("n"), "", 999 * DAY, alone=True)
        duty = await self.store.cluster.take(lease, "sealer")
        assert duty is not None
        self.duty = duty
        for n in range(days):
            await self.store.people.add_person(f"p{n}", Role.USER, [], actor="test")
            self.clock.advance(hours=24)
        await self.seal()

    async def seal(self) -> Head:
        head = await self.store.audit.seal(self.duty, await self.store.audit.audit_head())
        assert head is not None
        HeadFile(self.folder).write(head)
        return head

    async def trim(self) -> None:
        await self.trimmer.trim(self.duty, await self.store.audit.audit_head())

    async def numbers(self) -> list[int | None]:
        return [row.number for row in await self.store.audit.audit_rows(0)]

    async def told(self) -> dict[str, object]:
        return dict(await verify(self.store.audit, HeadFile(self.folder).read, CheckpointFile(self.folder).read))


@pytest.fixture
async def book(tmp_path: Path) -> Book:
    clock = HandClock()
    made = Book(memory_store(clock), clock, tmp_path)
    await made.fill()
    return made


async def test_rows_go_once_they_are_too_old_and_the_rest_is_whole(book: Book) -> None:
    await book.trim()
    assert await book.numbers() == [8, 9, 10]
    assert await book.told() == {"whole": True, "rows": 3, "fault": None, "removed": 7, "unsealed": 1}


async def test_the_last_row_stays_however_old_it_is(book: Book) -> None:
    book.clock.advance(hours=9999)
    await book.trim()
    assert await book.numbers() == [10]


async def test_it_looks_now_and_then_only(book: Book) -> None:
    await book.trim()
    book.clock.advance(seconds=60)
    await book.trim()
    assert await book.numbers() == [8, 9, 10], "row 8 is too old by now, and it is not time yet"
    book.clock.advance(seconds=TRIMMING_INTERVAL.total_seconds())
    await book.trim()
    assert await book.numbers() == [9, 10]


async def test_a_kill_between_checkpoint_and_removal_is_made_good(book: Book) -> None:
    row = (await book.store.audit.audit_rows(4, limit=1))[0]
    CheckpointFile(book.folder).write(AuditCheckpoint(5, row.hash, book.clock()))
    assert (await book.told())["whole"] is True
    await book.trim()
    assert await book.numbers() == [6, 7, 8, 9, 10]


async def test_a_broken_chain_is_not_tidied_away(book: Book) -> None:
    rows = await book.store.audit.audit_rows(0)
    forged = [replace(row, detail="x") if row.number == 2 else row for row in rows]

    async def audit_rows(after: int, *, limit: int = 1000) -> list[object]:
        return list(forged)

    book.store.audit.audit_rows = audit_rows  # type: ignore[assignment,method-assign]  # what a forger's database would say
    with capture_logs() as logs:
        await book.trim()
    assert [line["fault"] for line in logs] == ["row 2: changed after it was sealed"]
    assert CheckpointFile(book.folder).read() is None


@pytest.mark.parametrize(("field", "value"), [("number", 9), ("hash", "abd"), ("at", "2026-01-01T00:00:00+00:00")])
async def test_a_checkpoint_that_someone_else_wrote_is_refused(book: Book, field: str, value: object) -> None:
    await book.trim()
    path = book.folder / "audit.checkpoint"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(StoreError, match="signature"):
        CheckpointFile(book.folder).read()
    assert "signature" in str((await book.told())["fault"])
    with capture_logs() as logs:
        book.clock.advance(hours=99)
        await book.trim()
    assert "signature" in logs[0]["reason"]
    assert await book.numbers() == [8, 9, 10]


async def test_a_missing_checkpoint_is_missed(book: Book) -> None:
    await book.trim()
    (book.folder / "audit.checkpoint").unlink()
    assert str((await book.told())["fault"]).startswith("row 1: missing")


async def test_a_head_is_no_checkpoint(book: Book) -> None:
    head = json.loads((book.folder / "audit.head").read_text())
    at = datetime(2026, 1, 1, tzinfo=UTC).isoformat()
    (book.folder / "audit.checkpoint").write_text(json.dumps(head | {"at": at}))
    with pytest.raises(StoreError, match="signature"):
        CheckpointFile(book.folder).read()


async def test_who_seals_also_trims(book: Book) -> None:
    async def take(role: str) -> Duty:
        return book.duty

    sealer = Sealer(
        book=book.store.audit,
        file=HeadFile(book.folder),
        take=take,
        notifier=LocalNotifier(),
        trimmer=book.trimmer,
        every=timedelta(seconds=0.005),
    )
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        sealing = group.create_task(sealer.run())
        for _ in range(1000):
            if (told := await book.told())["removed"] == 7 and not told["unsealed"]:
                break
            await asyncio.sleep(0.005)
        sealing.cancel()
    assert (told["whole"], told["removed"]) == (True, 7)


def test_without_an_age_nothing_is_trimmed(tmp_path: Path) -> None:
    store = memory_store(HandClock())
    assert trimmer_of(load(None, {}, environ={}, folder=tmp_path), store) is None
    assert trimmer_of(load(None, {"retention.audit_days": 1}, environ={}, folder=tmp_path), store) is not None
