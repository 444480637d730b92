"""Answers as programs hold them: words, files, questions and what they cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Final

from runtime.contract import Json, Usage
from runtime.domain.approvals import Approval, ApprovalState
from runtime.domain.programs.followed import FollowState, OpenQuestion

PEOPLE_ARE_ASKED: Final = "I wait until people decide: {tools}."


@dataclass(frozen=True, slots=True)
class Question:
    """A question to people that a run waits for: about a call of `tool` with `arguments`, or in words, as `text`."""

    id: str
    kind: str
    tool: str
    arguments: Mapping[str, Json]
    text: str
    expires_at: datetime

    @classmethod
    def of(cls, asked: OpenQuestion, row: Approval | None) -> Question:
        """The open question, with its call as the row has it."""
        return cls(
            asked.id, asked.kind, asked.tool, object_in(row.arguments if row else ""), asked.text, asked.expires_at
        )


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that came with an answer. It lies in the conversation's folder, at `path`."""

    name: str
    path: str
    size: int
    _open: Callable[[], AbstractContextManager[BinaryIO]] = field(repr=False, compare=False)

    async def read(self) -> bytes:
        """Its bytes. Errors: OSError once it is gone."""
        return await asyncio.to_thread(self._read)

    async def save(self, folder: Path | str) -> Path:
        """A copy in `folder`, under its own name; one that is there is replaced. Errors: OSError."""
        target = Path(folder) / Path(self.name).name
        await asyncio.to_thread(lambda: target.write_bytes(self._read()))
        return target

    def _read(self) -> bytes:
        with self._open() as file:
            return file.read()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as it stands: `str(answer)` is its words. While people are asked, `questions` tells what.

    `text` is Markdown, and empty until it is over.
    """

    text: str
    state: FollowState
    agent: str
    id: str
    run: str
    error: str = ""
    files: tuple[Artifact, ...] = ()
    questions: tuple[Question, ...] = ()
    usage: Usage

    def __str__(self) -> str:
        return self.text or (
            PEOPLE_ARE_ASKED.format(tools=", ".join(one.tool or one.text for one in self.questions))
            if self.questions
            else ""
        )

    @property
    def is_over(self) -> bool:
        return self.state.is_over


@dataclass(frozen=True, slots=True)
class Decided:
    """End of a question, and who decided."""

    question: str
    state: ApprovalState
    by: str = ""


def object_in(text: str) -> dict[str, Json]:
    """Arguments of a call; none where a model wrote no object."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
