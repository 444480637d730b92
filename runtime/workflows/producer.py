"""A workflow in the model's place: it looks at what was called so far and answers with the calls that come next.

    first reply: the definition, frozen as the arguments of a call -> the calls whose turn has come -> last reply: the report

So steps, policy, approvals, kills and repeats are those of any run, and nothing is remembered in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from runtime.contract import AssistantTurn, Call, CallKey, Job, ModelReply, ModelRequest, OnText, ToolTurn, Turn, Usage
from runtime.domain.schedules import NO_MODEL
from runtime.domain.workflows.asking import Flows, found
from runtime.domain.workflows.calls import BEGIN_ID, call_of
from runtime.domain.workflows.definition import Step, StepKind, Workflow
from runtime.domain.workflows.expressions import ExpressionError, named_in, text_of
from runtime.domain.workflows.progress import Standing, StepState, states
from runtime.domain.workflows.reading import WorkflowError, inputs_of
from runtime.domain.workflows.record import (
    CUT_CALLS,
    DEFINITION,
    DONE_BEFORE,
    INPUTS,
    SOURCES,
    Recorded,
    freezing,
    frozen_in,
    key_in,
    standing_in,
)
from runtime.errors import ModelFailed

USAGE: Final = Usage(NO_MODEL)


class WorkflowModel:
    """Implements `contract.Model` for one job."""

    name = NO_MODEL
    goes_on = True

    def __init__(self, job: Job, flows: Callable[[], Flows]) -> None:
        self._job = job
        self._flows = flows
        self._flow: Workflow | None = None

    def recall(self, turns: Sequence[Turn]) -> None:
        if begun := frozen_in(recorded_in(turns)):
            self._flow = begun.flow

    def is_fixed(self, call: str) -> bool:
        """Tell whether all words of a call stand in the definition: nothing that another call gave is in it."""
        if call == BEGIN_ID:
            return True
        step = self._step(call)
        given = step and [dict(step.arguments), step.text, step.to, *step.options, *step.words]
        return given is not None and all(self._is_own(path) for path in named_in(given))

    def limit(self, call: str) -> timedelta | None:
        """The time that its step gives a call of a tool."""
        step = self._step(call)
        return timedelta(seconds=step.seconds) if step and step.kind is StepKind.TOOL and step.seconds else None

    def repeated(self, call: str) -> CallKey | None:
        """The call that was cut in the run with which this one goes on."""
        cut = self._job.task.resumes.get(CUT_CALLS)
        return key_in(cut.get(call)) if isinstance(cut, dict) else None

    def _step(self, call: str) -> Step | None:
        steps = self._flow.steps if self._flow else ()
        return next((one for one in steps if call.startswith(f"step-{one.name}-")), None)

    def _is_own(self, path: Sequence[str]) -> bool:
        """An input is whoever's words the workflow was started with, but for those that a trigger took from its event."""
        outside = self._job.task.outside
        return path[0] == INPUTS and not (outside and (len(path) < 2 or path[1] in outside))

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        now = standing_in(recorded_in(request.turns))
        if now is None:
            return ModelReply("", (self._begin(),), USAGE)
        self._flow = now.flow
        if not now.wanted and now.is_awaited:
            return ModelReply("", (), USAGE)  # also where a step failed: what is under way comes to its end first
        if failed := now.failed:
            raise ModelFailed(told_failure(now, failed.step.name, failed.why))
        try:
            calls = tuple(call_of(one) for one in now.wanted)
            return ModelReply("" if calls else report_of(now), calls, USAGE)
        except ExpressionError as error:
            raise ModelFailed(f"The workflow {now.flow.name} can't go on: {error}.") from error

    def _begin(self) -> Call:
        task = self._job.task
        try:
            kept = task.resumes.get(DEFINITION)
            flow = Workflow.from_json(str(kept)) if kept else found(task.text, self._flows())
            before = (task.resumes.get(DONE_BEFORE, {}), task.resumes.get(SOURCES, []), task.resumes.get(CUT_CALLS, {}))
            return freezing(flow, inputs_of(flow, task.options), *before)
        except WorkflowError as error:
            raise ModelFailed(capital(str(error))) from error


def recorded_in(turns: Sequence[Turn]) -> list[Recorded]:
    """Calls of the turns, each with its result."""
    results = {turn.call_id: turn.text for turn in turns if isinstance(turn, ToolTurn)}
    calls = [call for turn in turns if isinstance(turn, AssistantTurn) for call in turn.calls]
    return [(call, results.get(call.id)) for call in calls]


def report_of(now: Standing) -> str:
    """Last words of a workflow: its report, or what its last step gave. Errors: ExpressionError."""
    if now.flow.report:
        return text_of(now.flow.report, now.values).strip() or f"{counted(now)}."
    done = (one for one in reversed(now.steps) if one.state is StepState.SUCCEEDED and one.text.strip())
    last = next(done, None)
    told = last.text if last and last.step.kind is not StepKind.POST else ""  # what was posted is there already
    return "\n\n".join(filter(None, [f"**{counted(now)}.**", told]))


def counted(now: Standing) -> str:
    """The end of a workflow in a line.

    Shape:  The workflow weekly is done: 7 steps, 1 skipped
    """
    skipped = sum(one.state is StepState.SKIPPED for one in now.steps)
    more = f", {skipped} skipped" if skipped else ""
    return f"The workflow {now.flow.name} is done: {len(now.steps)} step{'s' * (len(now.steps) != 1)}{more}"


def told_failure(now: Standing, step: str, why: str) -> str:
    """Last words of a workflow that failed: the reason, and how far it came."""
    return f"The workflow {now.flow.name} stopped at its step {step}: {why}\n\n" + "  \n".join(states(now.steps))


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]
