"""One bad document never keeps the others waiting: it is noted, told, and tried again in its time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.operator.work.knowledge import KnowledgeOperations
from bot.wiring.knowledge.packs import search_of
from bot.wiring.knowledge.reader import document_text
from runtime.domain.memory.chunks import Chunk
from runtime.errors import StoreError
from runtime.knowledge import reading as reading_module
from runtime.knowledge.folders import FoundFile, files_of, read_file
from runtime.knowledge.packs import Pack
from runtime.knowledge.reading import BROKEN, NOT_KEPT, TOO_SLOW, KnowledgeReader, Round
from runtime.store.knowledge.documents import PIECE
from runtime.store.protocol import Duty
from runtime.store.protocol.memory.knowledge import DocumentText
from tests.contract.store.stage import Stage
from tests.contract.store.test_knowledge import Reading, Web

BAD = "bad.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three documents; the one in the middle is bad."""
    (tmp_path / "pack").mkdir()
    for name, text in (("a.md", "Trains leave at nine."), (BAD, "Buses leave at ten."), ("c.md", "Ships leave.")):
        (tmp_path / "pack" / name).write_text(text)
    return tmp_path / "pack"


def reading_with(stage: Stage, folder: Path, text_of: Callable[..., Awaitable[str | None]]) -> Reading:
    made = Reading(stage, Pack("pack", folder))
    made.reader = KnowledgeReader(
        store=stage.store.knowledge,
        packs=lambda: made.packs,
        pages=Web({}),
        text_of=text_of,
        clean=str,
        take=made._take,
        now=stage.store.now,
        pause=timedelta(),
    )
    return made


async def faults_told(stage: Stage) -> list[tuple[str, str]]:
    operations = KnowledgeOperations(stage.store.knowledge, search_of(stage.store), str)
    return [(one["place"], one["fault"]) for one in await operations.shown("pack") if one["fault"]]


@pytest.mark.parametrize("error", [RuntimeError("parser"), OverflowError(), RecursionError(), ValueError("\ud800")])
async def test_a_reader_that_breaks_on_one_document_reads_the_others(
    stage: Stage, folder: Path, error: Exception
) -> None:
    async def broken(data: bytes, media: str, place: str) -> str | None:
        if place == BAD:
            raise error
        return await document_text(data, media, place)

    reading = reading_with(stage, folder, broken)
    assert await reading.round("pack") == Round(read=2, faults=1)
    assert await faults_told(stage) == [(BAD, BROKEN.format(error=type(error).__name__))]
    assert (await stage.store.knowledge.counts())[0].faults == 1
    assert await reading.round("pack") == Round(same=3), "it is left alone until it changes"
    assert await reading.found("ships") == ["c.md, line 1"]


async def test_a_document_that_takes_too_long_keeps_no_other_waiting(
    stage: Stage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_module, "DOCUMENT_TIMEOUT", timedelta(milliseconds=200))

    async def endless(data: bytes, media: str, place: str) -> str | None:
        if place == BAD:
            await asyncio.Event().wait()
        return await document_text(data, media, place)

    reading = reading_with(stage, folder, endless)
    assert await reading.round("pack") == Round(read=2, faults=1)
    assert await faults_told(stage) == [(BAD, TOO_SLOW)]


async def test_a_document_that_the_database_refuses_is_tried_again(
    stage: Stage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, refused = stage.store.knowledge.put_document, ["The database answered: out of range."]

    async def picky(duty: Duty, new: DocumentText, parts: Sequence[Chunk]) -> bool:
        if new.place == BAD and refused:
            raise StoreError(refused.pop())
        return await put(duty, new, parts)

    monkeypatch.setattr(stage.store.knowledge, "put_document", picky)
    reading = Reading(stage, Pack("pack", folder))
    assert await reading.round("pack") == Round(read=2, faults=1)
    assert await faults_told(stage) == [(BAD, NOT_KEPT.format(error="The database answered: out of range."))]
    assert await reading.round("pack") == Round(read=1, same=2)
    assert await faults_told(stage) == []


async def test_a_document_that_changes_while_it_is_read_is_read_the_next_time(
    stage: Stage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = ["Buses leave at eleven, and one more at noon."]

    def racing(pack: Pack, file: FoundFile) -> bytes:
        if file.place == BAD and changes:
            (folder / BAD).write_text(changes.pop())
        return read_file(pack, file)

    monkeypatch.setattr(reading_module, "read_file", racing)
    reading = Reading(stage, Pack("pack", folder))
    assert await reading.round("pack") == Round(read=2, same=1)
    assert await reading.found("buses") == []
    assert await reading.round("pack") == Round(read=1, same=2)
    assert [one.text for one in await reading.book.search("buses", ["pack"])] == [
        "Buses leave at eleven, and one more at noon."
    ]


async def test_a_pack_with_a_bug_keeps_no_other_waiting(
    stage: Stage, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(pack: Pack) -> list[FoundFile]:
        if pack.name == "pack":
            raise IndexError
        return files_of(pack)

    monkeypatch.setattr(reading_module, "files_of", broken)
    reading = Reading(stage, Pack("pack", folder), Pack("other", folder))
    await reading.reader.look()
    assert [(one.pack, one.documents) for one in await stage.store.knowledge.counts()] == [("other", 3)]


# ------------------------------------------------------------------------------------------------ long documents


def parts_with(word: str, count: int = 2 * PIECE + 7) -> list[Chunk]:
    return [Chunk("", at + 1, at + 1, f"{word} {at}") for at in range(count)]


async def test_a_long_document_is_written_in_pieces_and_found_whole(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge, duty = stage.store.knowledge, await stage.duty("knowledge")
    write, found = knowledge._driver.write, list[tuple[int, int]]()

    async def watched(make: Any) -> Any:
        result = await write(make)
        found.append((len(await knowledge.search("old", ["p"], 300)), len(await knowledge.search("new", ["p"], 300))))
        return result

    new = DocumentText("p", "long.md", "Long", "1", "d", 9)
    await knowledge.put_document(duty, new, parts_with("old"))
    monkeypatch.setattr(knowledge._driver, "write", watched)
    await knowledge.put_document(duty, new, parts_with("new"))
    whole = found[-1][1]
    assert whole >= PIECE
    assert found == [(whole, 0), (whole, 0), (0, whole)]
    found.clear()
    assert await knowledge.clear_remains(duty) == 1
    assert found == [(0, whole)] * 3
    assert await stage.column("SELECT count(*) FROM knowledge_chunks") == [2 * PIECE + 7]
    assert await knowledge.clear_remains(duty) == 0


async def test_what_a_cut_left_of_a_document_is_never_found_and_goes(stage: Stage, folder: Path) -> None:
    reading = Reading(stage, Pack("pack", folder))
    await stage.write(
        "INSERT INTO knowledge_chunks (id, document_id, pack, ordinal, heading, first_line, last_line, text) "
        "VALUES ('c1', 'cut', 'pack', 0, '', 1, 1, 'submarines')"
    )
    assert await reading.found("submarines") == []
    await reading.round("pack")
    assert await stage.column("SELECT count(*) FROM knowledge_chunks WHERE document_id = 'cut'") == [0]


@pytest.mark.soak
@pytest.mark.timeout(300)
async def test_ten_thousand_documents_are_read_and_stay_as_they_are(stage: Stage, tmp_path: Path) -> None:
    for at in range(10_000):
        (tmp_path / f"{at}.md").write_text(f"# Document {at}\n\nIts word is w{at}x.\n")
    (tmp_path / "5000.md").write_bytes(b"\0")
    reading = Reading(stage, Pack("pack", tmp_path))
    assert await reading.round("pack") == Round(read=9_999, faults=1)
    assert await reading.round("pack") == Round(same=10_000)
    assert await reading.found("w9999x") == ["9999.md, lines 1-3"]
