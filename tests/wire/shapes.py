"""Bodies of many shapes, written by us after a platform's documentation, and what must come of each of them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from runtime.contract import FileRef, Signal

Line = dict[str, Any]

KEPT: Final = ("name", "size", "remote", "mime")


@dataclass(slots=True)
class Outcome:
    """All that came of one body. `answers` is the platform's answer, where there is one."""

    signals: list[Line] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    answers: Any = None


def lines(path: Path) -> list[Line]:
    """The bodies of a file of JSON lines, each with a name of its own."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def made(signal: Signal) -> Line:
    """A signal as it is written beside the body it was made of: without what is empty, its text excepted."""
    said = {one.name: _plain(getattr(signal.body, one.name)) for one in fields(signal.body)}
    kept = {name: value for name, value in said.items() if value or name == "text"}
    bot: Line = {"by_bot": True} if signal.by_bot else {}
    where: Line = {"at": str(signal.address), "by": str(signal.actor), "reach": str(signal.reach), **bot}
    return {"body": type(signal.body).__name__, **kept, **where}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [{name: getattr(one, name) for name in KEPT} for one in value if isinstance(one, FileRef)]
    return value


class Heard(logging.Handler):
    """Remembers what is logged from WARNING on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.words: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.words.append(record.getMessage() + (" with a traceback" if record.exc_info else ""))


@contextmanager
def heard() -> Iterator[list[str]]:
    """What is logged meanwhile."""
    handler, root = Heard(), logging.getLogger()
    root.addHandler(handler)
    try:
        yield handler.words
    finally:
        root.removeHandler(handler)


def check(line: Line, found: Outcome) -> None:
    """The outcome is exactly the one that is written beside the body."""
    assert bool(line.get("makes")) != bool(line.get("why")), "a body that makes no signal says why"
    assert found.signals == ([line["makes"]] if "makes" in line else [])
    assert [word for word in found.warnings if line.get("logs") is None or line["logs"] not in word] == []
    assert bool(found.warnings) == ("logs" in line)
    if "answers" in line:
        assert found.answers == line["answers"]
