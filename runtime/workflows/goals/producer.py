"""A goal in the model's place: it looks at what was called so far and answers with the call that comes next.

    first reply: the contract, frozen -> criteria, where none are given -> the agreement of whoever set it
        -> each turn: work in a run of its own -> a verdict by another one -> last reply: the result

So kills and repeats are those of any run, and nothing is remembered in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from runtime.contract import CallKey, Job, Json, ModelReply, ModelRequest, Now, OnText, Probe, Turn, no_probe
from runtime.domain.agents.tasks import short_id
from runtime.domain.goals.contract import Contract, GoalBounds, GoalKind, sprints_for
from runtime.domain.goals.harness import harness_words
from runtime.domain.goals.progress import BEGIN_GOAL_ID, End, Piece, is_just_judged
from runtime.domain.goals.record import CONTRACT, freezing_goal, goal_in, next_call
from runtime.domain.goals.words import last_words
from runtime.domain.quality.gate import given
from runtime.domain.schedules import NO_MODEL
from runtime.errors import ModelFailed
from runtime.store.protocol import BackgroundTask
from runtime.workflows.producer import USAGE, recorded_in


class GoalModel:
    """Implements `agent.run_state.Maker` for one goal. `contract` is asked once, as its run begins. It's called `name`, and goes
    on with what was done `before`."""

    name = NO_MODEL
    goes_on = False

    def __init__(
        self,
        contract: Callable[[], Contract],
        now: Now,
        probe: Probe = no_probe,
        name: str = "",
        before: Mapping[str, Json] | None = None,
    ) -> None:
        self._contract = contract
        self._now = now
        self._probe = probe
        self._called = name
        self._before = before

    def recall(self, turns: Sequence[Turn]) -> None:
        """No call is judged by what was called before."""

    def is_fixed(self, call: str) -> bool:
        """Only its own bookkeeping: what pieces are told may stem from anywhere."""
        return call == BEGIN_GOAL_ID or call.startswith(f"goal-{Piece.SAVE}-")

    def limit(self, call: str) -> timedelta | None:
        """Each call has its tool's own time."""
        return None

    def repeated(self, call: str) -> CallKey | None:
        """Each call is one of its own."""
        return None

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        now = self._now()
        at = goal_in(recorded_in(request.turns), now)
        if at is None:
            return ModelReply("", (freezing_goal(self._contract(), self._before),), USAGE)
        if is_just_judged(at):
            self._probe("verdict")
        if call := next_call(at, now):
            return ModelReply("", (call,), USAGE)
        if at.contract.kind is GoalKind.HARNESS:
            return ModelReply(harness_words(at, self._called), (), USAGE)
        best = at.best
        if at.contract.kind is GoalKind.SPRINTS and at.end is End.MET and best:
            return ModelReply(best.candidate.strip(), (), USAGE)
        if at.contract.kind is GoalKind.SPRINTS and best is None:
            raise ModelFailed(last_words(at))
        return ModelReply(last_words(at), (), USAGE)


def goal_of(job: Job, now: Now, probe: Probe = no_probe) -> GoalModel:
    """The maker that works on a goal that a person set."""
    return GoalModel(lambda: _kept(job), now, probe, short_id(job.occurrence), job.task.resumes)


def _kept(job: Job) -> Contract:
    kept = job.task.options.get(CONTRACT)
    if not isinstance(kept, dict):
        raise ModelFailed("This goal has no contract. Set it again with `/goal TEXT`.")
    return Contract.from_json(kept)


def sprints_of(task: BackgroundTask, bounds: GoalBounds, model: str, now: Now, probe: Probe = no_probe) -> GoalModel:
    """The maker that works on a task of an agent that works in sprints. `model` is the agent's own."""
    return GoalModel(lambda: sprints_for(task.goal, criteria_of(task.criteria), bounds, model), now, probe)


def criteria_of(text: str) -> tuple[str, ...]:
    """Criteria of a task: the points of a list, else all of it as one."""
    return given(text) or tuple(filter(None, [" ".join(text.split())]))
