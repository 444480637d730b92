"""Stages of a message of a program: every state it was in, in order, and the places that are told of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from runtime.contract import SignalId
from runtime.domain.programs.followed import FollowState, OpenQuestion, RunFacts, state_of

PUSH_TRIES_MAX: Final = 12
"""Failures in a row until a place is given up: some 20 minutes, as waits are doubled up to five."""
PUSH_FIRST_DELAY: Final = timedelta(seconds=1)
PUSH_LONGEST_DELAY: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Stage:
    """A state, since when, and the questions for which it waits."""

    state: FollowState
    at: datetime
    questions: tuple[OpenQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class PutQuestion:
    """A question of a run, and when it was settled; None while it is open."""

    question: OpenQuestion
    asked_at: datetime
    settled_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """Facts of a message and its run, as their rows have them. `run` is empty where there is none."""

    signal: str
    taken_at: datetime
    run: str = ""
    began_at: datetime | None = None
    ended_at: datetime | None = None
    questions: Sequence[PutQuestion] = ()
    answered: bool = False


def stages_of(story: Story) -> tuple[Stage, ...]:
    """Each state a message was in. With time this only grows at its end, so that a number names a stage for good.

    A message that joined work later was never in the states that were over by then.
    """
    stages = [Stage(FollowState.QUEUED, story.taken_at)]
    if not story.run or story.began_at is None:
        state = state_of(story.signal, None, answered=story.answered)
        return (*stages, Stage(state, story.taken_at)) if state.is_over else tuple(stages)
    stages.append(Stage(FollowState.WORKING, max(story.began_at, story.taken_at)))
    own = [one for one in story.questions if one.settled_at is None or one.settled_at > story.taken_at]
    for asked in _rounds(own):
        stages.append(Stage(FollowState.ASKING, asked.begun, tuple(asked.questions)))
        if asked.ended is not None and (story.ended_at is None or asked.ended < story.ended_at):
            stages.append(Stage(FollowState.WORKING, asked.ended))
    state = state_of("", RunFacts(story.run), answered=False)
    return (*stages, Stage(state, story.ended_at or story.taken_at)) if state.is_over else tuple(stages)


def untold(story: Story, told: int) -> tuple[tuple[int, Stage], ...]:
    """Stages that a place wasn't told, by number: the end always is one, since a place that was told that is kept no more.

    Clocks of several nodes differ, so that a stage may be gone again: then the end has a number that was told.
    """
    stages = stages_of(story)
    begin = min(told, len(stages) - 1) if stages[-1].state.is_over else told
    return tuple(enumerate(stages))[begin:]


@dataclass(slots=True)
class _Round:
    """Questions that were open together, from the first until the last is settled."""

    begun: datetime
    ended: datetime | None
    questions: list[OpenQuestion]


def _rounds(questions: Sequence[PutQuestion]) -> list[_Round]:
    rounds: list[_Round] = []
    for one in sorted(questions, key=lambda each: (each.asked_at, each.question.id)):
        last = rounds[-1] if rounds else None
        if last and (last.ended is None or one.asked_at <= last.ended):
            last.questions.append(one.question)
            last.ended = None if last.ended is None or one.settled_at is None else max(last.ended, one.settled_at)
        else:
            rounds.append(_Round(one.asked_at, one.settled_at, [one.question]))
    return rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """A place that is told of a task. `told` counts the stages that it took, `tries` its failures since then."""

    task: SignalId
    name: str
    program: str
    dialect: str
    sealed: str = field(repr=False)
    told: int
    tries: int
    due_at: datetime
    fault: str = ""

    @property
    def about(self) -> str:
        return self.about_of(self.task, self.name)

    @staticmethod
    def about_of(task: str, name: str) -> str:
        """Text to which a sealed address is bound: elsewhere that doesn't open."""
        return f"push {task} {name}"


@dataclass(frozen=True, slots=True)
class PushDue:
    """A place with what is to be told there; `story` is None once the message is forgotten."""

    push: Push
    story: Story | None


def push_delay(tries: int) -> timedelta:
    """Wait after that many failures in a row."""
    doubled: timedelta = PUSH_FIRST_DELAY * (1 << min(max(tries - 1, 0), 16))
    return min(doubled, PUSH_LONGEST_DELAY)
