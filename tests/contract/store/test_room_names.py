"""Names of rooms: kept as platforms tell them, read by other nodes, and no work for a message that tells nothing new."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Final

import pytest

from runtime.cluster.notifier import LocalNotifier, SharedNotifier
from runtime.contract import Address, Said
from runtime.domain.ids import new_id
from runtime.intake.room_names import RoomNames
from runtime.text.words import LANGUAGES, Languages
from tests.contract.store.stage import SHELL, Stage

GENERAL: Final = Address("slack", "T1", "C1")
THREAD: Final = replace(GENERAL, thread="1795.1")


class Counting:
    """A book of names that counts what is asked of it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.writes = self.read = 0
        self.written = asyncio.Event()

    async def room_names(self, since: datetime | None = None) -> Mapping[Address, str]:
        found = await self._stage.store.places.room_names(since)
        self.read += len(found)
        return found

    def now(self) -> datetime:
        return self._stage.store.now()

    async def room_languages(self) -> Mapping[Address, str]:
        return await self._stage.store.places.room_languages()

    async def keep_languages(self, languages: Mapping[Address, str]) -> None:
        await self._stage.store.places.keep_languages(languages)
        self.writes += 1
        self.written.set()

    async def name_rooms(self, names: Mapping[Address, str]) -> None:
        await self._stage.store.places.name_rooms(names)
        self.writes += 1
        self.written.set()


@asynccontextmanager
async def listening(stage: Stage, book: Counting, notifier: LocalNotifier | None = None) -> AsyncIterator[RoomNames]:
    names = RoomNames(book, notifier or LocalNotifier())
    async with asyncio.TaskGroup() as group:
        task = group.create_task(names.run())
        yield names
        task.cancel()


async def written(book: Counting) -> int:
    """How often it was written to, once that was done again."""
    async with asyncio.timeout(20):
        await book.written.wait()
    book.written.clear()
    return book.writes


def hear(stage: Stage, names: RoomNames, name: str, at: Address = THREAD) -> None:
    names.hear(replace(stage.signal(Said(new_id()), at=at), room_name=name))


async def test_a_name_is_kept_once_and_read_by_others(stage: Stage) -> None:
    book = Counting(stage)
    async with listening(stage, book) as names:
        for _ in range(50):
            hear(stage, names, "#general")
        assert names.of(GENERAL) == names.of(THREAD) == "#general"
        assert await written(book) == 1
        hear(stage, names, "")
        hear(stage, names, "#team")
        assert await written(book) == 2
    other = RoomNames(Counting(stage), LocalNotifier())
    assert other.of(GENERAL) == ""
    await other.refresh()
    assert other.of(replace(GENERAL, thread="another")) == "#team"


async def test_a_look_reads_what_is_new_and_not_every_name(stage: Stage) -> None:
    rooms = {replace(GENERAL, room=f"C{number}"): f"#{number}" for number in range(50)}
    await stage.store.places.name_rooms(rooms)
    stage.clock.advance(hours=1)
    book = Counting(stage)
    names = RoomNames(book, LocalNotifier())
    await names.refresh()
    assert book.read == 50
    await names.refresh()
    await stage.store.places.name_rooms({GENERAL: "#general"})
    stage.clock.advance(seconds=1)
    await names.refresh()
    assert (names.of(GENERAL), names.of(replace(GENERAL, room="C7"))) == ("#general", "#7")
    assert book.read == 51


async def test_a_name_cannot_steer_where_it_is_shown(stage: Stage) -> None:
    names = RoomNames(Counting(stage), LocalNotifier())
    hear(stage, names, "a\n\u202eb\u3164\x1b[31m" + "x" * 200)
    assert names.of(GENERAL).startswith("a b[31mxxx")
    assert len(names.of(GENERAL)) == 80


@pytest.mark.parametrize("room", [GENERAL, THREAD])
async def test_lists_are_narrowed_to_a_room_with_its_threads(stage: Stage, room: Address) -> None:
    await stage.park(SHELL, text="in the thread", at=THREAD)
    await stage.park(SHELL, text="elsewhere", at=replace(GENERAL, room="C12"))
    store = stage.store
    assert [one.text for one in await store.traces.recent(room)] == ["in the thread"]
    assert [one.address for one in await store.approvals.approvals(room=room)] == [THREAD]
    assert [one.address for one in await store.operations.runs(room=room)] == [THREAD]
    assert {one.address for one in await store.operations.deliveries(room=room)} == {THREAD}
    assert await store.approvals.approvals(room=replace(THREAD, thread="another")) == []


async def test_the_language_of_a_rooms_only_reader_outlasts_a_restart(stage: Stage) -> None:
    book, german = Counting(stage), replace(stage.signal(Said(new_id()), at=GENERAL), language="de-AT")
    LANGUAGES.set(Languages())
    async with listening(stage, book) as names:
        for _ in range(3):
            names.hear(german)
        assert await written(book) == 1
        assert names.of(GENERAL) == ""
    assert await stage.store.places.room_names() == {}
    LANGUAGES.set(Languages())  # another life
    async with listening(stage, book), asyncio.timeout(20):
        while LANGUAGES.get().of(GENERAL) != "de":  # noqa: ASYNC110 - nothing rings when it was read
            await asyncio.sleep(0.01)
    async with listening(stage, book) as names:
        hear(stage, names, "#general")
        await written(book)
    assert await stage.store.places.room_languages() == {GENERAL: "de"}


async def test_another_node_speaks_the_language_as_soon_as_its_reader_is_heard(stage: Stage) -> None:
    there, other = LocalNotifier(), Languages()
    LANGUAGES.set(other)
    async with listening(stage, Counting(stage), there), asyncio.timeout(20):
        LANGUAGES.set(Languages())  # of this node
        async with listening(stage, Counting(stage), SharedNotifier(there.notify_here)) as names:
            for tag in ("de", "en", "de"):  # a reader who makes up their mind
                names.hear(replace(stage.signal(Said(new_id()), at=GENERAL), language=tag))
                while other.of(GENERAL) != tag:  # noqa: ASYNC110 - nothing rings when it was read
                    await asyncio.sleep(0.01)


async def test_a_language_that_everybody_has_is_not_kept(stage: Stage) -> None:
    LANGUAGES.set(Languages("de"))
    async with listening(stage, Counting(stage)) as names:
        for tag in ("de", "fr", "", "xx"):
            names.hear(replace(stage.signal(Said(new_id()), at=GENERAL), language=tag))
        await asyncio.sleep(0.05)
    assert await stage.store.places.room_languages() == {}
