"""A workflow as it was read: its inputs, and its steps in their order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from runtime.contract import Json

STEPS_MAX: Final = 100
FAN_OUT_MAX: Final = 50
"""Pieces that one step may be done for."""
ROUNDS_MAX: Final = 100
RETRIES_MAX: Final = 5
ASK_OPTIONS_MAX: Final = 4
STEP_SECONDS: Final = 120
LEAST_SECONDS, MOST_SECONDS = 10, 3600
STARTS_MAX: Final = 60
STARTS_SPAN: Final = timedelta(hours=1)
"""So many workflows begun in a room within that time, and agents begin no more: one may lead to the next for ever."""
SHA_CHARS: Final = 16
"""Characters of a definition's digest that are shown and kept."""


class StepKind(StrEnum):
    TOOL = "tool"  # one call of a tool
    PROMPT = "prompt"  # words for the workflow's own agent, in a run of its own
    DELEGATE = "delegate"  # the same for another agent
    ASK = "ask"  # a question to a person
    WAIT = "wait"  # until a time has come, or an event happens
    POST = "post"  # words for a room, beside the report


class OnError(StrEnum):
    """Consequence of a step that fails."""

    FAIL = "fail"  # so does the workflow
    SKIP = "skip"  # the others go on without it
    RETRY = "retry"  # it is tried again, and then the workflow fails


@dataclass(frozen=True, slots=True)
class Input:
    """A value that whoever starts the workflow may give. `kind` is that of its default, or named where it has none.

    `required`: it has no default.
    """

    name: str
    kind: str = "text"
    default: Json = None
    required: bool = False
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. `text` is the tool's name, the words, the question or the time to wait, as its kind has it.

    `after` are the steps that must be over before. `when`: a condition without which it is skipped. `each`: a list, for each
    piece of which it is done. `until`: a condition after which it is not done once more, of at most `rounds`.
    `to`: an agent, a person or a room, as its kind has it. `seconds` are for work in a run of its own, or for a
    call of a tool, which has its own time where they are 0. `event` ends a wait before its time; of messages those with `words` do.
    """

    name: str
    kind: StepKind
    text: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    to: str = ""
    options: tuple[str, ...] = ()
    schema: Mapping[str, Json] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    when: str = ""
    each: str = ""
    until: str = ""
    rounds: int = 1
    on_error: OnError = OnError.FAIL
    retries: int = 0
    seconds: int = STEP_SECONDS
    event: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A workflow. `steps` stand in an order in which each comes behind all that it waits for.

    `report` are the last words, in which `{{ … }}` names values; without any the last step's result is told.
    """

    name: str
    steps: tuple[Step, ...]
    about: str = ""
    agent: str = ""
    inputs: tuple[Input, ...] = ()
    report: str = ""

    @property
    def sha256(self) -> str:
        """Digest of all that it does: another one is another workflow."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:SHA_CHARS]

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Workflow:
        raw = json.loads(text)
        steps = tuple(_step(one) for one in raw["steps"])
        inputs = tuple(Input(**one) for one in raw["inputs"])
        return cls(**{**raw, "steps": steps, "inputs": inputs})


def _step(raw: Mapping[str, Any]) -> Step:
    lists = {name: tuple(raw.get(name, ())) for name in ("options", "after", "words")}
    return Step(**{**raw, **lists, "kind": StepKind(raw["kind"]), "on_error": OnError(raw["on_error"])})
