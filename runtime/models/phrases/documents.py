"""Phrases of the demo model about documents and databases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from runtime.contract import Turn, UserTurn
from runtime.models.demo_plans import Phrase

DOCUMENT_ENDINGS: Final = r"pdf|docx|xlsx|pptx|epub|eml"
SUMMARISE: Final = r"(?:read|summari[sz]e|sum up)"
SOME_PAGES: Final = r"(?:,? pages? (?P<pages>[\d, -]+?))?"
THIS_FILE: Final = "this file"
"""In place of a path: the file that came last with a message."""
DOCUMENT_PHRASES: Final[Sequence[Phrase]] = (
    (rf"{SUMMARISE} (?:the document )?(?P<url>https?://\S+\.(?:{DOCUMENT_ENDINGS})){SOME_PAGES}", "read_document", {}),
    (
        rf"(?:summari[sz]e|sum up) (?:this|it|the) ?(?:file|pdf|document|mail|presentation|table)?{SOME_PAGES}",
        "read_document",
        {"path": THIS_FILE},
    ),
    (
        rf"{SUMMARISE} (?:the )?(?:document |file )?(?P<path>\S.*\.(?:{DOCUMENT_ENDINGS})){SOME_PAGES}",
        "read_document",
        {},
    ),
    (rf"(?:read the document|summari[sz]e|sum up) (?P<path>\S.*\.\w+){SOME_PAGES}", "read_document", {}),
    (r"what(?:'s| is) in the database(?: (?P<database>[\w-]+))?\??", "query", {"sql": ""}),
    (r"query(?: (?P<database>[\w-]+))?: ?(?P<sql>.+)", "query", {}),
    (r"chart the (?:file|table) (?P<path>\S+)(?: as (?:a )?(?P<kind>line|bar|pie))?", "chart", {"kind": "bar"}),
)
WHAT_I_READ: Final = """\
- `summarise report.pdf` (or `summarise this`, a file that you sent; `summarise report.pdf pages 3-5`)
- `query: select …` in a database that operators gave me (or `what is in the database?`)
- `chart the file sales.csv` (or `… as a line`)"""
ATTACHED_LINE: Final = re.compile(r"^\[attached file: (?P<path>.+?)(?: \([\d,]+ bytes\))?\]$", re.MULTILINE)


def sent_last(turns: Iterable[Turn]) -> str:
    """The path of the file that came last; empty for none."""
    found = [one["path"] for turn in turns if isinstance(turn, UserTurn) for one in ATTACHED_LINE.finditer(turn.text)]
    return found[-1] if found else ""
