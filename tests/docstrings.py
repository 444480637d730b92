"""Checks that docstrings of the product and of the fakes begin with a verb or a noun phrase, never with a clause.

`make check` runs it as `python -m tests.docstrings`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
FOLDERS: Final = ("adapters", "bot", "runtime", "signalbox", "tests/fakes", "tools")
CLAUSE: Final = re.compile(
    r"(?:What|Who|Whom|Whose|Which|Where|When|Why|How|Whether|Whatever|Whoever|Whichever|Wherever|Whenever|However"
    r"|That|Those)\b"
)
FIX: Final = 'begin with a verb, or with the noun that the clause stands for; a predicate with "True if"'


def clauses(text: str) -> Iterator[tuple[int, str]]:
    """Line and beginning of each docstring in `text` that begins with a clause."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and (found := ast.get_docstring(node)) and (begin := CLAUSE.match(found)):
            yield node.body[0].lineno, begin[0]


def faults() -> Iterator[str]:
    """A line for each docstring in FOLDERS that begins so."""
    for path in sorted(place for folder in FOLDERS for place in (ROOT / folder).rglob("*.py")):
        for line, begin in clauses(path.read_text(encoding="utf-8")):
            yield f'{path.relative_to(ROOT)}:{line}: the docstring begins with "{begin}": {FIX}.'


if __name__ == "__main__":
    told = list(faults())
    sys.stderr.write("".join(f"{line}\n" for line in told))
    sys.exit(1 if told else 0)
