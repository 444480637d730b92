"""Events of a run as a program reads them, told from looks at it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bot.sdk.results import Answer, Decided, Question
from runtime.contract import Json
from runtime.domain.runs import StepState
from runtime.store.protocol.operations import StepRow


@dataclass(frozen=True, slots=True)
class TextGrew:
    """The words that are being said, so far. They may still change; the answer has those that stay."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool was called, as step `step` of the run."""

    step: int
    tool: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """The result of a call, as the model reads it; it was refused or failed where that says so."""

    step: int
    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """People are asked; `run.approve` and `run.deny` answer for this program."""

    question: Question


@dataclass(frozen=True, slots=True)
class QuestionSettled:
    """A question is over: answered by whoever, expired or withdrawn."""

    decided: Decided


@dataclass(frozen=True, slots=True)
class RunEnded:
    """Nothing more comes: the answer is whole, or the run failed or was stopped."""

    answer: Answer


Event = TextGrew | ToolStarted | ToolEnded | QuestionAsked | QuestionSettled | RunEnded


@dataclass(frozen=True, slots=True)
class Look:
    """A run as its rows tell it, and the text that is being said."""

    answer: Answer
    calls: Sequence[tuple[StepRow, Mapping[str, Json]]] = ()
    settled: Sequence[Decided] = ()
    live: str = ""


@dataclass(slots=True)
class Telling:
    """Tells each thing once, however often somebody looks."""

    _live: str = ""
    _told: set[tuple[str, str]] = field(default_factory=set)

    def news(self, look: Look) -> Iterator[Event]:
        """News since the last look, in the order in which they came to be."""
        for decided in look.settled:
            if ("asked", decided.question) in self._told and self._is_new("settled", decided.question):
                yield QuestionSettled(decided)
        for step, arguments in look.calls:
            yield from self._of_call(step, arguments)
        for question in look.answer.questions:
            if self._is_new("asked", question.id):
                yield QuestionAsked(question)
        if look.live and look.live != self._live:
            yield TextGrew(look.live)
        self._live = look.live
        if look.answer.is_over and self._is_new("over", ""):
            yield RunEnded(look.answer)

    def _of_call(self, step: StepRow, arguments: Mapping[str, Json]) -> Iterator[Event]:
        has_begun = step.started_at is not None or step.state in (StepState.MARKED, StepState.HANDED, StepState.DONE)
        if has_begun and self._is_new("started", str(step.number)):
            yield ToolStarted(step.number, step.tool, arguments)
        if step.state is StepState.DONE and self._is_new("ended", str(step.number)):
            yield ToolEnded(step.number, step.tool, step.result)

    def _is_new(self, what: str, which: str) -> bool:
        if (what, which) in self._told:
            return False
        self._told.add((what, which))
        return True
