"""Whatever is done to the audit or its files, `verify` says so, or nothing that was signed is lost."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import text

from bot.operator.audit import verify
from runtime.audit.anchor import CheckpointFile, HeadFile
from runtime.audit.sealer import Sealer
from runtime.cluster.notifier import LocalNotifier
from runtime.contract import NodeId, Role
from runtime.domain.ids import new_id
from runtime.errors import BotError
from runtime.store.protocol import Duty
from runtime.store.sql.driver import Op
from runtime.store.store import Store
from tests.contract.runtime.stores import memory_store
from tests.contract.store.stage import TTL, HandClock
from tests.security.tally import Tallied, Tally

ROWS: Final = 6
COLUMNS: Final = ("number", "at", "kind", "actor", "subject", "detail", "previous", "hash")
PLACES: Final = (1, 3, ROWS)


class Crash(BaseException):
    """Stands for kill -9."""


class House:
    """A store with sealed rows and its signed files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store: Store = memory_store(HandClock())
        self.file = HeadFile(folder)
        self.duty: Duty | None = None

    async def open(self) -> None:
        lease = await self.store.cluster.join(NodeId(new_id()), "", TTL, alone=True)
        self.duty = await self.store.cluster.take(lease, "sealer")
        self.sealer = self._sealer()

    def _sealer(self) -> Sealer:
        async def take(_: str) -> Duty | None:
            return self.duty

        return Sealer(book=self.store.audit, file=self.file, take=take, notifier=LocalNotifier())

    def restart(self) -> None:
        self.file = HeadFile(self.folder)
        self.sealer = self._sealer()

    async def add(self, count: int = 1) -> None:
        for _ in range(count):
            await self.store.people.add_person(new_id(), Role.USER, [], actor="test")

    async def seal(self) -> None:
        """One pass: what comes behind it is cut off."""

        async def end() -> None:
            raise Crash

        self.sealer._more = end  # type: ignore[method-assign]  # it rests for seconds there
        assert self.duty
        try:
            await self.sealer._seal(self.duty)
        except Crash:
            return

    async def change(self, sql: str) -> None:
        def op() -> Op[None]:
            yield text(sql), {}

        await self.store.driver.write(op)

    async def fault(self) -> str | None:
        told: dict[str, Any] = await verify(self.store.audit, self.file.demand, CheckpointFile(self.folder).read)
        fault: str | None = told["fault"]
        return fault


def rows_changed() -> Iterator[tuple[str, str]]:
    for column, place in itertools.product(COLUMNS, PLACES):
        value = "1000" if column in ("number", "at") else f"{column} || 'x'"
        yield f"{column} of {place}", f"UPDATE audit SET {column} = {value} WHERE number = {place}"
    for place in range(1, ROWS + 1):
        yield f"{place} removed", f"DELETE FROM audit WHERE number = {place}"
        yield f"{place} and later removed", f"DELETE FROM audit WHERE number >= {place}"
        yield f"{place} unsealed", f"UPDATE audit SET number = NULL WHERE number = {place}"


FILES: Final[dict[str, dict[str, bytes | None]]] = {
    "the head away": {"audit.head": None},
    "the key away": {"audit.key": None},
    "both away": {"audit.head": None, "audit.key": None},
    "an empty head": {"audit.head": b""},
    "a head of another": {"audit.head": b'{"number": 2, "hash": "x", "signature": "00"}'},
    "another key": {"audit.key": b"x" * 32},
    "an empty key": {"audit.key": b""},
}


def change(folder: Path, files: dict[str, bytes | None]) -> None:
    for name, words in files.items():
        if words is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(words)


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


async def opened(folder: Path) -> House:
    house = House(made(folder))
    await house.open()
    await house.seal()
    await house.add(ROWS)
    await house.seal()
    return house


async def test_tampering_is_told(tmp_path: Path, tallied: Tallied, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.audit.sealer.DAMAGED", timedelta())  # it rests for a minute where something is wrong
    tally, folders = tallied("audit tampering", 40), (tmp_path / str(n) for n in itertools.count())
    for name, sql in rows_changed():
        house = await opened(next(folders))
        await house.change(sql)
        tally.case(await house.fault() is not None, f"{name}: nothing was told")
        await _is_not_sealed_over(tally, house, name)
    for name, files in FILES.items():
        house = await opened(next(folders))
        change(house.folder, files)
        house.restart()
        tally.case(await house.fault() is not None, f"{name}: nothing was told")
        await _is_not_sealed_over(tally, house, name)
    for cut in range(ROWS):
        await _after_a_failed_write(tally, next(folders), cut)
        await _after_a_crash(tally, next(folders), cut)
    tally.close()


async def _is_not_sealed_over(tally: Tally, house: House, name: str) -> None:
    """The next pass, of this process and of the next one, signs nothing that would hide it."""
    for again in (False, True):
        if again:
            house.restart()
        await house.add()
        with suppress(BotError):
            await house.seal()
        tally.case(await house.fault() is not None, f"{name}: sealed over{' after a restart' if again else ''}")
    await house.store.close()


async def _after_a_failed_write(tally: Tally, folder: Path, cut: int) -> None:
    """The head could not be written once: the next pass writes it, and a tail that is cut then is missed."""
    house = await opened(folder)
    write = house.file.write
    house.file.write = lambda head: (_ for _ in ()).throw(OSError(28, "full"))  # type: ignore[method-assign]
    await house.add(ROWS)
    with pytest.raises(OSError, match="full"):
        await house.seal()
    house.file.write = write  # type: ignore[method-assign]
    await house.seal()
    tally.case(await house.fault() is None, "a mended head is whole")
    await house.change(f"DELETE FROM audit WHERE number > {ROWS + cut}")
    tally.case(await house.fault() is not None, f"after a failed write, cut behind {ROWS + cut}")
    await house.store.close()


async def _after_a_crash(tally: Tally, folder: Path, cut: int) -> None:
    """Killed between the rows and the head: the next process signs what is there, and misses it when it goes."""
    house = await opened(folder)
    kept = shutil.copy(folder / "audit.head", folder / "kept")
    await house.add(ROWS)
    await house.seal()
    shutil.move(kept, folder / "audit.head")
    house.restart()
    tally.case(await house.fault() is None, "a kill is no fault")
    await house.seal()
    await house.change(f"DELETE FROM audit WHERE number > {ROWS + cut}")
    tally.case(await house.fault() is not None, f"after a crash, cut behind {ROWS + cut}")
    await house.store.close()


async def test_before_the_first_row_nothing_is_missing(tmp_path: Path) -> None:
    house = House(tmp_path)
    assert await house.fault() is None
    await house.store.close()


async def test_a_node_of_several_that_never_signed_has_no_head_to_miss(tmp_path: Path) -> None:
    house = await opened(tmp_path / "one")
    other = HeadFile(tmp_path, shared=True)
    assert other.demand() is None
    assert (await verify(house.store.audit, other.demand))["whole"]
    await house.store.close()
