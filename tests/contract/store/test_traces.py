"""Words that went are in no byte of the file: whether a scan took them out, their time was over, or a document was replaced."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.wiring.safety.scan import GuardScan
from runtime.audit.retention import Keep, Retention
from runtime.contract.memory.facts import MemoryRequest, Scope, ScopeKind
from runtime.domain.memory.chunks import Chunk
from runtime.guard.door import Door
from runtime.guard.findings import Detector, Strictness
from runtime.guard.guard import Guard, GuardRules
from runtime.knowledge.packs import Pack
from runtime.store.protocol.memory.knowledge import DocumentText
from runtime.store.sql import traces
from runtime.store.store import open_store
from runtime.workspace.cleanup import Leftovers
from runtime.workspace.workspaces import WorkspaceFolders
from tests.contract.store.stage import HandClock, Stage
from tests.contract.store.test_knowledge import Reading
from tests.contract.store.test_memory_owners import bytes_in
from tests.unit.guard.secrets import SECRETS

WORD = "zanzibar"
AGENT = Scope(ScopeKind.AGENT)


async def opened(folder: Path) -> Stage:
    store = await open_store(f"sqlite:///{folder / 'signalbox.db'}", now=HandClock())
    stage = Stage(store, store.now)  # type: ignore[arg-type]  # the clock that it was given
    await stage.open()
    return stage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


async def test_of_a_memory_whose_time_is_over(folder: Path, tmp_path: Path) -> None:
    stage = await opened(folder)
    until = stage.clock() + timedelta(hours=1)
    for at in range(3):
        wanted = MemoryRequest(f"{WORD} number {at}", expires_at=until)
        await stage.store.memories.keep_given(wanted, "ops", AGENT, actor="t")
    stage.clock.advance(hours=2)
    retention = Retention(
        store=stage.store.retention,
        leftovers=Leftovers(lambda: [WorkspaceFolders(tmp_path, "main")], uploads="uploads", partial=".upload-"),
        keep=Keep({}, None),
        take=stage.duty,
        now=stage.clock,
        pause=timedelta(),
    )
    assert await retention.round(await stage.duty("retention")) is False
    await stage.store.close()
    assert WORD.encode() not in bytes_in(folder).lower()


async def test_of_a_document_that_was_replaced(folder: Path, tmp_path: Path) -> None:
    stage, pack = await opened(folder), tmp_path / "pack"
    pack.mkdir()
    (pack / "a.md").write_text(f"The capital is {WORD}.\n")
    (pack / "b.md").write_text("Something else.\n")
    reading = Reading(stage, Pack("pack", pack))
    await reading.round("pack")
    assert len(await reading.found(WORD)) == 1
    (pack / "a.md").write_text("The capital is another one.\n")
    await reading.round("pack")
    assert len(await reading.found("capital")) == 1
    await stage.store.close()
    assert WORD.encode() not in bytes_in(folder).lower()


async def test_of_what_a_scan_took_out(folder: Path) -> None:
    stage, (_, secret) = await opened(folder), SECRETS["github"]
    await stage.store.memories.keep_given(MemoryRequest(f"The token is {secret}"), "ops", AGENT, actor="t")
    scan = GuardScan(stage.store.texts, lambda: Door(Guard(GuardRules({Detector.SHAPE: Strictness.REDACT}))))
    after, pages = None, 0
    while (page := await scan.page("memories", after, redact=True)).after is not None:
        after, pages = page.after, pages + 1
    assert pages == 1
    await stage.store.close()
    assert secret.encode().lower() not in bytes_in(folder).lower()
    for start in range(0, len(secret) - 12, 8):
        assert secret[start : start + 12].encode().lower() not in bytes_in(folder).lower()


async def test_a_large_index_is_cleared_in_steps(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else everybody would wait for the whole of it."""
    monkeypatch.setattr(traces, "MERGED_PAGES", 2)
    stage = await opened(folder)
    knowledge, duty = stage.store.knowledge, await stage.duty("knowledge")
    for name, word in (("a", "other"), ("b", WORD)):
        parts = [Chunk("", at, at, f"{word} {' '.join(f'{word}{at}x{n}' for n in range(50))}") for at in range(90)]
        await knowledge.put_document(duty, DocumentText("p", name, name, "1", "d", 9), parts)
    gone = next(one.id for one in await knowledge.documents("p") if one.place == "b")
    await knowledge.drop_documents(duty, [gone])
    await knowledge.clear_remains(duty)
    steps, write = list[object](), stage.store.driver.write

    async def counted(make: Any) -> Any:
        steps.append(make)
        return await write(make)

    monkeypatch.setattr(knowledge._driver, "write", counted)
    await knowledge.clear_traces()
    assert len(steps) > 3
    assert len(await knowledge.search("other", ["p"])) == 5
    await stage.store.close()
    assert WORD.encode() not in bytes_in(folder).lower()
