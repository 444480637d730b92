"""Progress of a workflow: how far it has come, and what it does next. Both follow from its definition and from what its calls gave, so that
a kill, a repeat and another node come to the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from runtime.contract import Json
from runtime.domain.workflows.definition import FAN_OUT_MAX, OnError, Step, StepKind, Workflow
from runtime.domain.workflows.expressions import ExpressionError, value_of
from runtime.text.words import marked

CHILDREN_AT_ONCE: Final = 5
"""Pieces of a workflow that other runs work on side by side."""
IN_A_RUN_OF_ITS_OWN: Final = (StepKind.PROMPT, StepKind.DELEGATE)


class StepState(StrEnum):
    PENDING = "pending"  # waits for others
    RUNNING = "running"  # a call of it is made, or comes next
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"  # its condition does not hold, or it failed and the others go on without it


OVER: Final = (StepState.SUCCEEDED, StepState.FAILED, StepState.SKIPPED)


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one call that is over. `failed`: it did not do what was asked."""

    text: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that comes next: of which step, under which id, and with the values that its words may name."""

    id: str
    step: Step
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Piece:
    """One of the things that a step is done for. `result` is what came of it, `wanted` the call that it needs; neither stands
    where its turn has not come."""

    result: Result | None = None
    wanted: Wanted | None = None


@dataclass(frozen=True, slots=True)
class StepNow:
    """A step as it stands. `text` and `value` are what it gave; `why` is what went wrong, or why it was skipped.

    `done` counts its pieces that are over, of `pieces`.
    """

    step: Step
    state: StepState
    text: str = ""
    value: Json = None
    why: str = ""
    done: int = 0
    pieces: int = 1
    wanted: tuple[Wanted, ...] = ()

    @property
    def values(self) -> dict[str, Json]:
        """Its part of the values that later steps read."""
        return {"text": self.text, "value": self.value, "state": self.state.value, "error": self.why}


@dataclass(frozen=True, slots=True)
class Standing:
    """A workflow as it stands: its steps in their order. `failed` is the step that ends it. `pending` are calls that were made and
    are not over."""

    flow: Workflow
    steps: Sequence[StepNow]
    values: Mapping[str, Any] = field(default_factory=dict)
    pending: frozenset[str] = frozenset()

    @property
    def failed(self) -> StepNow | None:
        return next((now for now in self.steps if now.state is StepState.FAILED), None)

    @property
    def wanted(self) -> list[Wanted]:
        """Calls that come next, whatever others are still waited for; none where it is over."""
        if self.failed:
            return []
        every = [one for now in self.steps for one in now.wanted]
        fresh = [one for one in every if one.id not in self.pending]
        handed = [one for one in fresh if one.step.kind in IN_A_RUN_OF_ITS_OWN]
        room = CHILDREN_AT_ONCE - sum(one.step.kind in IN_A_RUN_OF_ITS_OWN for one in every if one.id in self.pending)
        return [one for one in fresh if one not in handed[max(room, 0) :]]

    @property
    def is_awaited(self) -> bool:
        """True if a call is in the hands of others."""
        return bool(self.pending)


def standing(
    flow: Workflow, inputs: Mapping[str, Json], results: Mapping[str, Result], pending: frozenset[str] = frozenset()
) -> Standing:
    """The workflow as it stands after the calls that gave `results`, by their ids; of those that are `pending` others have the answer."""
    known: dict[str, StepNow] = {}
    steps: dict[str, dict[str, Json]] = {}
    values = {"inputs": inputs, "steps": steps}
    for step in flow.steps:
        known[step.name] = now = _now(step, known, values, results)
        if now.state in OVER:
            steps[step.name] = now.values
    return Standing(flow, tuple(known.values()), values, pending)


def _now(step: Step, known: Mapping[str, StepNow], values: Mapping[str, Any], results: Mapping[str, Result]) -> StepNow:
    if any(known[name].state not in OVER or known[name].state is StepState.FAILED for name in step.after):
        return StepNow(step, StepState.PENDING)
    try:
        if step.when and not value_of(step.when, values):
            return StepNow(step, StepState.SKIPPED, why="its condition does not hold")
        if step.until:
            return _looped(step, values, results)
        things = _things(step, values)
        return _of_pieces(step, [_piece(step, number, thing, values, results) for number, thing in enumerate(things)])
    except ExpressionError as error:
        return _failed(step, str(error))


NO_THING: Final = object()
"""In place of the thing that a step without `each` is done for."""


def _things(step: Step, values: Mapping[str, Any]) -> Sequence[Any]:
    """Errors: ExpressionError for what is no list, or too long."""
    if not step.each:
        return [NO_THING]
    found = value_of(step.each, values)
    if not isinstance(found, list | tuple):
        raise ExpressionError(marked("`{each}` is no list").format(each=step.each))
    if len(found) > FAN_OUT_MAX:
        raise ExpressionError(
            marked("`{each}` has {number} pieces; a step is done for at most {most}").format(
                each=step.each, number=f"{len(found):,}", most=FAN_OUT_MAX
            )
        )
    return found


def _piece(step: Step, number: int, thing: Any, values: Mapping[str, Any], results: Mapping[str, Result]) -> Piece:
    """The piece with its tries: the first that succeeded, or the last there may be."""
    own = values if thing is NO_THING else {**values, "item": thing, "index": number}
    result: Result | None = None
    for attempt in range(step.retries + 1):
        key = call_id(step.name, number, attempt)
        if key not in results:
            return Piece(wanted=Wanted(key, step, own))
        result = results[key]
        if not result.failed:
            break
    return Piece(result)


def _of_pieces(step: Step, pieces: Sequence[Piece]) -> StepNow:
    over = [piece.result for piece in pieces if piece.result]
    failed = next((result for result in over if result.failed), None)
    if failed and step.on_error is not OnError.SKIP:
        return _failed(step, failed.text, len(over), len(pieces))
    wanted = [piece.wanted for piece in pieces if piece.wanted]
    if wanted:
        most = CHILDREN_AT_ONCE if step.kind in IN_A_RUN_OF_ITS_OWN else len(wanted)
        return StepNow(step, StepState.RUNNING, done=len(over), pieces=len(pieces), wanted=tuple(wanted[:most]))
    if not step.each:
        return _ended(step, over[0])
    good = [result for result in over if not result.failed]
    if over and not good:
        return StepNow(step, StepState.SKIPPED, why=over[0].text, done=len(over), pieces=len(over))
    text, value = "\n\n".join(one.text for one in good), [read(one.text) for one in good]
    return StepNow(step, StepState.SUCCEEDED, text, value, done=len(over), pieces=len(over))


def _looped(step: Step, values: Mapping[str, Any], results: Mapping[str, Result]) -> StepNow:
    """A step that is done again until its condition holds."""
    for number in range(step.rounds):
        piece = _piece(step, number, NO_THING, {**values, "index": number}, results)
        if piece.wanted:
            own = {**values, "index": number}
            wanted = Wanted(piece.wanted.id, step, own)
            return StepNow(step, StepState.RUNNING, done=number, pieces=step.rounds, wanted=(wanted,))
        result = piece.result or Result("")
        if result.failed:
            return _ended(step, result)
        own = {**values, "index": number, "result": {"text": result.text, "value": read(result.text)}}
        if value_of(step.until, own):
            return _ended(step, result)
    return _failed(step, f"`{step.until}` did not come true within {step.rounds} rounds", step.rounds, step.rounds)


def _ended(step: Step, result: Result) -> StepNow:
    if not result.failed:
        return StepNow(step, StepState.SUCCEEDED, result.text, read(result.text), done=1)
    return _failed(step, result.text)


def _failed(step: Step, why: str, done: int = 1, pieces: int = 1) -> StepNow:
    state = StepState.SKIPPED if step.on_error is OnError.SKIP else StepState.FAILED
    return StepNow(step, state, why=why, done=done, pieces=pieces)


def call_id(step: str, number: int, attempt: int) -> str:
    """Id of a call: one for each piece or round of a step, and each try of that.

    >>> call_id("fetch", 0, 0), call_id("fetch", 2, 1)
    ('step-fetch-1', 'step-fetch-3-again-1')
    """
    return f"step-{step}-{number + 1}{f'-again-{attempt}' if attempt else ''}"


def read(text: str) -> Json:
    """The value that a call gave: JSON where it is that, else text."""
    try:
        found: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found


def states(now: Sequence[StepNow]) -> Iterator[str]:
    """A line for each step, as people read it."""
    for one in now:
        count = f" ({one.done} of {one.pieces})" if one.pieces > 1 else ""
        why = f": {one.why}" if one.why and one.state in (StepState.FAILED, StepState.SKIPPED) else ""
        yield f"{STATE_MARKS[one.state]} {one.step.name}{count}{why}"


STATE_MARKS: Final[Mapping[StepState, str]] = {
    StepState.PENDING: "☐",
    StepState.RUNNING: "▶",
    StepState.SUCCEEDED: "☑",
    StepState.FAILED: "✗",
    StepState.SKIPPED: "⤼",
}
