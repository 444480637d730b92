"""Phrases of the demo model about documents, databases and charts of tables."""

from __future__ import annotations

import pytest

from runtime.contract import UserTurn
from runtime.models.demo_phrases import Wish, wish, wishes_of

SENT = [
    UserTurn("[attached file: uploads/old.pdf (9 bytes)]"),
    UserTurn("[attached file: uploads/May sales.pdf (1,200 bytes)]"),
]


@pytest.mark.parametrize(
    ("line", "tool", "arguments"),
    [
        ("summarise report.pdf", "read_document", {"path": "report.pdf"}),
        ("Please read out/May sales.xlsx.", "read_document", {"path": "out/May sales.xlsx"}),
        ("summarize the document plan.docx pages 3-5, 9", "read_document", {"path": "plan.docx", "pages": "3-5, 9"}),
        ("sum up https://example.org/a.pdf", "read_document", {"url": "https://example.org/a.pdf"}),
        ("read the document notes.html", "read_document", {"path": "notes.html"}),
        ("read notes.txt", "read_file", {"path": "notes.txt"}),
        ("query: SELECT 1;", "query", {"sql": "SELECT 1;"}),
        (
            "query sales: select * from t where a = 'x.'",
            "query",
            {"database": "sales", "sql": "select * from t where a = 'x.'"},
        ),
        ("what is in the database?", "query", {"sql": ""}),
        ("chart the file sales.csv as a line", "chart", {"kind": "line", "title": "sales.csv", "path": "sales.csv"}),
    ],
)
def test_a_phrase_asks_for_its_tool(line: str, tool: str, arguments: dict[str, str]) -> None:
    assert wish(line) == Wish(tool, arguments)


def test_this_is_the_file_that_came_last() -> None:
    assert wishes_of("summarise this PDF", SENT) == [Wish("read_document", {"path": "uploads/May sales.pdf"})]
    assert wishes_of("summarise it", [UserTurn("hello")]) == []
