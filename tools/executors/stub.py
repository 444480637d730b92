"""A file of answers in a model's place: nothing is asked, and the same conversation has the same answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import structlog

from runtime.contract import AssistantTurn, ModelReply, ModelRequest, OnText, ToolTurn, Turn, Usage, UserTurn, Work
from runtime.errors import ModelFailed
from runtime.text.outside import unfenced
from tools.executors.answers import StubAnswers, StubReply, read_answers
from tools.executors.files import FileFault, filled
from tools.executors.turns import call_of
from tools.executors.words import STUB_UNREADABLE, STUB_WITHOUT_ANSWER

log = structlog.get_logger("executors")

RESULT_NAME: Final = "result"
SUMMARY_LINE_MAX_CHARS: Final = 200
SUMMARY_LINES: Final = 30


class StubModel:
    """Implements `contract.Model`. The file is read anew where it has changed, so answers can be tried at once.

    `ours` begins turns that nobody has said.
    """

    def __init__(self, file: Path, agent: str, ours: str) -> None:
        self.name = f"stub:{agent}"
        self._file = file
        self._agent = agent
        self._ours = ours
        self._known: tuple[float, int] = (0.0, -1)
        self._answers = StubAnswers(())

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        usage = Usage(self.name)
        if request.work is Work.SUMMARY:
            return ModelReply(
                summary_of([said_in(request.turns[place]) for place in self._said(request.turns)]), (), usage
            )
        chosen = reply_of(await asyncio.to_thread(self._read), request.turns, self._said(request.turns))
        if chosen is None:
            raise ModelFailed(STUB_WITHOUT_ANSWER.format(agent=self._agent))
        made = [] if request.words_only else chosen.calls
        calls = tuple(call_of(request.step, place, tool, given) for place, (tool, given) in enumerate(made))
        on_text(chosen.text)
        return ModelReply(chosen.text, calls, usage)

    def _said(self, turns: Sequence[Turn]) -> list[int]:
        """Places of what people said to it."""
        said = (place for place, turn in enumerate(turns) if isinstance(turn, UserTurn) and not turn.overheard)
        return [place for place in said if not turns[place].text.startswith(self._ours)]

    def _read(self) -> StubAnswers:
        try:
            stat = self._file.stat()
            if (stat.st_mtime, stat.st_size) != self._known:
                self._answers = read_answers(self._file)
                self._known = (stat.st_mtime, stat.st_size)
        except (OSError, FileFault) as error:
            log.warning("the answers of a stub can't be read", agent=self._agent, reason=str(error))
            raise ModelFailed(STUB_UNREADABLE.format(agent=self._agent), detail=str(error)) from None
        return self._answers


def reply_of(answers: StubAnswers, turns: Sequence[Turn], places: Sequence[int]) -> StubReply | None:
    """The reply that comes next, to what was said at `places`; results that no reply is for are said as they are."""
    said = [said_in(turns[place]) for place in places]
    if (found := answers.chosen(said)) is None:
        return None
    answer, parts = found
    since = turns[places[-1] + 1 :]
    given = sum(isinstance(turn, AssistantTurn) for turn in since)
    values = {**parts, RESULT_NAME: results_in(since)}
    if given >= len(answer.replies):
        return StubReply(values[RESULT_NAME] or answer.replies[-1].text)
    return _filled(answer.replies[given], values)


def said_in(turn: Turn) -> str:
    return unfenced(turn.text)


def results_in(turns: Sequence[Turn]) -> str:
    """Results of the newest calls."""
    texts: list[str] = []
    for turn in reversed(turns):
        if isinstance(turn, ToolTurn):
            texts.append(unfenced(turn.text))
        elif texts:
            break
    return "\n\n".join(reversed(texts))


def _filled(reply: StubReply, values: Mapping[str, str]) -> StubReply:
    calls = tuple((tool, filled(dict(arguments), values)) for tool, arguments in reply.calls)
    return StubReply(filled(reply.text, values), calls)


def summary_of(said: Sequence[str]) -> str:
    """Beginnings of what people said: enough for a conversation that is only tried."""
    lines = [" ".join(text.split())[:SUMMARY_LINE_MAX_CHARS] for text in said[-SUMMARY_LINES:]]
    return "\n".join(f"- {line}" for line in lines) or "- Nothing was said."
