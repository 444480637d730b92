"""The examples of docs/executors.md, as they stand there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from runtime.contract import AssistantTurn, ModelRequest, ToolTurn, Turn, UserTurn
from tests.unit.test_docs import DOCS, blocks
from tools.executors.answers import read_answers
from tools.executors.canned import read_canned
from tools.executors.program_model import ProgramModel
from tools.mcp.terms import Program

FILES: Final = {
    block.marks[0].removeprefix("file="): block.text for block in blocks(DOCS / "executors.md") if block.marks
}


async def test_the_program_of_the_page_works_and_is_short(tmp_path: Path) -> None:
    code = FILES["agent.py"]
    assert len(code.splitlines()) <= 30
    made = ProgramModel(Program((sys.executable, "-c", code), tmp_path, env={"PATH": "/usr/bin"}), "main")
    try:
        said = await made.reply(ModelRequest("", [UserTurn("hello")], []), lambda _: None)
        looked = await made.reply(ModelRequest("", [UserTurn("read a.txt")], []), lambda _: None)
        turns: list[Turn] = [
            UserTurn("read a.txt"),
            AssistantTurn("", looked.calls),
            ToolTurn("c", "read_file", "a cat"),
        ]
        found = await made.reply(ModelRequest("", turns, []), lambda _: None)
    finally:
        await made.close()
    assert [reply.text for reply in (said, looked, found)] == ["You said: hello", "Let me look. ", "I found: a cat"]
    assert [(call.tool, call.arguments) for call in looked.calls] == [("read_file", '{"path": "a.txt"}')]


def test_the_files_of_the_page_can_be_read(tmp_path: Path) -> None:
    for name in ("answers.toml", "canned.toml"):
        (tmp_path / name).write_text(FILES[name])
    answers = read_answers(tmp_path / "answers.toml")
    assert answers.otherwise == "I don't know that."
    assert [len(answer.replies) for answer in answers.answers] == [2, 1, 1]
    assert [result.tool for result in read_canned(tmp_path / "canned.toml")] == ["shell", "http_*"]
