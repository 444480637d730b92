"""Looks for a secret wherever text may come to rest: one case for each secret, way and sink."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from structlog.testing import capture_logs

from bot.testing.scripted import Answer, Scripted
from runtime.contract import ModelReply, ModelRequest, OnText
from runtime.store.schema import metadata
from tests.contract.runtime.stage import FakeTool, Process, Stage, address
from tests.security.tally import Tallied

SUITE: Final = "leaks, secrets x ways x sinks"
LINE: Final = 20
"""Characters from which on a line of a secret is one by itself."""

PIECE: Final = 16
"""Characters of a secret that nobody may see, however it was cut."""

STEP: Final = 7
"""Characters that a model says at a time."""


class Watched(Scripted):
    """A scripted model that streams what it says by so many characters, in turns where there are several counts."""

    def __init__(self, answers: list[Answer], steps: tuple[int, ...] = (STEP,)) -> None:
        super().__init__(answers)
        self._steps = steps

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        step = self._steps[len(self.requests) % len(self._steps)]
        reply = await super().reply(request, on_text)
        for end in range(0, len(reply.text), step):
            on_text(reply.text[:end])
        return reply


def lines_of(secret: str) -> list[str]:
    """The secret, or where it has several lines each of them that is one by itself."""
    return [line for line in secret.splitlines() if len(line) > LINE and not line.startswith("-----")]


def forms(secret: str) -> list[str]:
    return [form for line in lines_of(secret) for form in (line, base64.b64encode(line.encode()).decode()[:-4])]


def pieces(secret: str) -> list[str]:
    """Everything that is too much of it, where it may have been cut."""
    return [line[at : at + PIECE] for line in lines_of(secret) for at in range(max(len(line) - PIECE, 0) + 1)]


async def in_tables(stage: Stage, secret: str) -> list[str]:
    """Columns that hold it."""
    wanted, found = forms(secret), []
    for table in metadata.sorted_tables:
        rows = await stage.rows(f"SELECT * FROM {table.name}")
        names = [column.name for column in table.columns]
        for row in rows:
            held = [name for name, value in zip(names, row, strict=False) if any(one in str(value) for one in wanted)]
            found += [f"{table.name}.{name}" for name in held]
    return found


def in_requests(model: Scripted, secret: str) -> list[str]:
    told = [
        repr((one.system, one.working, one.tools, [(turn, getattr(turn, "calls", ())) for turn in one.turns]))
        for one in model.requests
    ]
    return holding(told, forms(secret))


def holding(texts: Iterable[str], wanted: list[str]) -> list[str]:
    return [text[:200] for text in texts if any(one in text for one in wanted)]


def files(stage: Stage) -> Iterable[str]:
    """Names and contents of what lies in the rooms' folders."""
    for room in ("r1", "r2"):
        for path in stage.workspaces.folder(address(room)).rglob("*"):
            yield path.name
            if path.is_file():
                yield path.read_text(encoding="utf-8", errors="replace")


@dataclass(frozen=True)
class Leaks:
    """Plays a way with a secret, and counts each sink that has nothing of it."""

    tallied: Tallied

    async def play(
        self, stage: Stage, secret: str, answers: list[Answer], tools: list[FakeTool], *said: str, **more: Any
    ) -> Process:
        """Say it, and see that nothing is left of the secret anywhere."""
        model = Watched(answers)
        with capture_logs() as logged:
            process = await stage.process(model, tools, **more)
            for words in said:
                await process.say(words)
                await process.answer_all()
        await self.nowhere(stage, model, secret, logged, process)
        return process

    async def nowhere(
        self,
        stage: Stage,
        model: Scripted,
        secret: str,
        logged: Iterable[Mapping[str, Any]] = (),
        process: Process | None = None,
        shown: Iterable[str] = (),
    ) -> None:
        """`shown`: what people saw besides, also for a moment."""
        screens = [*await stage.screen(), *await stage.screen("r2"), *shown]
        moments = [str(one) for one in process.page.seen] if process else []
        sinks = {
            "tables": await in_tables(stage, secret),
            "requests": in_requests(model, secret),
            "log": holding(map(str, logged), forms(secret)),
            "chat": holding([*screens, *joined(screens)], pieces(secret)),
            "previews": holding(moments, pieces(secret)),
            "files": holding(files(stage), forms(secret)),
        }
        self.count({sink: found for sink, found in sinks.items() if found}, len(sinks))

    async def not_stored(self, stage: Stage, secret: str) -> None:
        found = await in_tables(stage, secret)
        self.count({"tables": found} if found else {}, 1)

    def count(self, leaked: Mapping[str, object], of: int) -> None:
        count = self.tallied(SUITE, of)
        for number in range(of):
            count.case(number >= len(leaked), f"it is in {leaked}")
        count.close()


def joined(texts: list[str]) -> list[str]:
    """Each two that follow on each other, as people read them."""
    return [first + second for first, second in pairwise(texts)]
