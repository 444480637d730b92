"""What was seen and done from outside, with its time: the raw material of the story that a broken promise is told as."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Note:
    """`at` is in seconds of time.time(), as everywhere in the campaign."""

    at: float
    what: str
    about: dict[str, Any]


@dataclass(slots=True)
class Diary:
    notes: list[Note] = field(default_factory=list)

    def write(self, what: str, **about: Any) -> None:
        self.notes.append(Note(time.time(), what, about))

    def of(self, *what: str) -> Iterator[Note]:
        return (note for note in self.notes if note.what in what)

    def keep(self, path: Path) -> None:
        lines = (json.dumps({"at": note.at, "what": note.what, **note.about}) for note in self.notes)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


class Complaint(Exception):
    """A promise was not kept. `promise` is its row in docs/promises.md, `subject` what the story is about."""

    def __init__(self, promise: str, words: str, **subject: str) -> None:
        super().__init__(words)
        self.promise = promise
        self.words = words
        self.subject = subject
