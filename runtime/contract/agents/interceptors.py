"""Interceptors: what programs and packages are told at points of a run, and what they may answer."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol

from runtime.contract.people import Json


class Point(StrEnum):
    """Points of a run at which somebody may look in."""

    BEFORE_MODEL = "before_model"
    AFTER_MODEL = "after_model"
    BEFORE_TOOL = "before_tool"
    AFTER_TOOL = "after_tool"
    ON_ERROR = "on_error"
    ON_PROGRESS = "on_progress"
    BEFORE_SHOW = "before_show"
    RUN_END = "run_end"


class AnswerKind(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"
    REPLACE = "replace"


_ALL: Final = frozenset(AnswerKind)
_SILENT: Final = frozenset({AnswerKind.ALLOW})
ANSWERS_AT: Final[Mapping[Point, frozenset[AnswerKind]]] = {
    Point.BEFORE_MODEL: _ALL - {AnswerKind.ASK},
    Point.AFTER_MODEL: _ALL - {AnswerKind.ASK},
    Point.BEFORE_TOOL: _ALL,
    Point.AFTER_TOOL: _ALL - {AnswerKind.ASK},
    Point.ON_ERROR: _SILENT,
    Point.ON_PROGRESS: _SILENT,
    Point.BEFORE_SHOW: _ALL - {AnswerKind.ASK},
    Point.RUN_END: _SILENT,
}
"""Answers that count there. Where only "allow" does, interceptors are told and change nothing."""

REPLACEABLE: Final[Mapping[Point, frozenset[str]]] = {
    Point.BEFORE_MODEL: frozenset({"system", "working", "messages"}),
    Point.AFTER_MODEL: frozenset({"text"}),
    Point.BEFORE_TOOL: frozenset({"arguments"}),
    Point.AFTER_TOOL: frozenset({"result"}),
    Point.BEFORE_SHOW: frozenset({"text"}),
}
"""Values that may be replaced there, by their names in an `Occasion`."""

CLOSED_POINTS: Final = frozenset({Point.BEFORE_MODEL, Point.BEFORE_TOOL, Point.BEFORE_SHOW})
"""Points at which a failing interceptor denies, unless it is set otherwise."""
OPENABLE_POINTS: Final = CLOSED_POINTS | {Point.AFTER_MODEL, Point.AFTER_TOOL}
"""Points at which it may be set what a failure means."""

TOOL_POINTS: Final = frozenset({Point.BEFORE_TOOL, Point.AFTER_TOOL, Point.ON_ERROR, Point.ON_PROGRESS})
"""Points that may be about a tool."""
REASON_MAX_CHARS: Final = 300


class InterceptorFailed(Exception):
    """No answer came, or none that can be used. The text says why, without a value of the call in it.

    `aside` is for operators alone: the interceptor's own last words, places on this machine. People in a chat never read it.
    """

    def __init__(self, words: str, aside: str = "") -> None:
        super().__init__(words)
        self.aside = aside

    @property
    def whole(self) -> str:
        """The text for operators."""
        return "; ".join(filter(None, (str(self), self.aside)))


@dataclass(frozen=True, slots=True)
class Occasion:
    """A moment of a run, as interceptors are told of it.

    `run` and `step` are the same where a run goes on after a kill. `room` is written as in the settings; `person` is the name of
    whoever asked, if anybody did. `tool` is empty where none is involved. `values` depend on the point (docs/interceptors.md). `trial`: nothing happens, somebody only tries how it answers.
    """

    at: Point
    agent: str = ""
    room: str = ""
    run: str = ""
    step: str = ""
    person: str = ""
    tool: str = ""
    values: Mapping[str, Json] = field(default_factory=dict)
    trial: bool = False

    def to_json(self, question: int) -> str:
        """One line, which a program reads."""
        told: dict[str, Any] = {"id": question, "at": self.at.value, "agent": self.agent, "room": self.room}
        told |= {"run": self.run, "step": self.step, "person": self.person}
        told |= {"tool": self.tool} if self.tool else {}
        told |= {"trial": True} if self.trial else {}
        return json.dumps({**told, **self.values})  # in ASCII: half of a character has no other form


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: `reason` is for people and the model, `values` what is replaced."""

    kind: AnswerKind = AnswerKind.ALLOW
    reason: str = ""
    values: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def parse(cls, told: Mapping[str, Any]) -> Answer:
        """Of what a program said. Errors: InterceptorFailed."""
        try:
            kind = AnswerKind(told.get("answer", ""))
        except ValueError:
            raise InterceptorFailed('its "answer" is none of allow, ask, deny and replace') from None
        reason = told.get("reason", "")
        if not isinstance(reason, str):
            raise InterceptorFailed('its "reason" is no text')
        values = {name: value for name, value in told.items() if name not in ("id", "answer", "reason")}
        return cls(kind, reason, values)


Interceptor = Callable[[Occasion], Answer | Awaitable[Answer]]
"""What a package brings. A plain function runs in a thread."""


class Judge(Protocol):
    """One interceptor at work, wherever that is."""

    async def ask(self, occasion: Occasion) -> Answer:
        """Errors: InterceptorFailed."""


def fault_of(at: Point, answer: Answer) -> str:
    """The reason for which an answer counts for nothing at that point; empty where it counts."""
    if answer.kind not in ANSWERS_AT[at]:
        return f'it answered "{answer.kind}", which {at} does not know'
    if answer.kind is AnswerKind.REPLACE:
        return _fault_of_values(at, answer.values)
    return f"it answered {answer.kind} with {_listed(sorted(answer.values))} beside it" if answer.values else ""


def _fault_of_values(at: Point, values: Mapping[str, Json]) -> str:
    known = sorted(REPLACEABLE[at])
    if not values:
        return f"it answered replace without {_listed(known, 'or')}"
    if strange := sorted(values.keys() - REPLACEABLE[at]):
        return f"it replaced {_listed([name[:40] for name in strange[:3]])}, and {at} only knows {_listed(known)}"
    for name, value in values.items():
        if name == "arguments" and not isinstance(value, Mapping):
            return "its arguments are no JSON object"
        if name in ("result", "text", "system", "working") and not isinstance(value, str):
            return f"its {name} is no text"
    return ""


def _listed(names: Sequence[str], last: str = "and") -> str:
    return f" {last} ".join(names)
