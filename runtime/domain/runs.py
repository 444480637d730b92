"""Runs and their tool steps as state machines, and what a parked run waits for. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from runtime.contract import Trigger


class RunState(StrEnum):
    RUNNING = "running"  # has the lane of its session, or had it when its node died
    PARKED = "parked"  # waits for something; costs rows only
    READY = "ready"  # its last wait is settled; waits for its turn in the lane
    DONE = "done"  # answered
    FAILED = "failed"  # ended with words about what went wrong
    STOPPED = "stopped"  # ended by a person


class RunEvent(StrEnum):
    PARK = "park"
    SETTLE = "settle"
    RESUME = "resume"
    FINISH = "finish"
    FAIL = "fail"
    STOP = "stop"


# All moves are here and nowhere else. A state without a row is final.
RUN_MOVES: Final[Mapping[tuple[RunState, RunEvent], RunState]] = {
    (RunState.RUNNING, RunEvent.PARK): RunState.PARKED,
    (RunState.RUNNING, RunEvent.FINISH): RunState.DONE,
    (RunState.RUNNING, RunEvent.FAIL): RunState.FAILED,
    (RunState.RUNNING, RunEvent.STOP): RunState.STOPPED,
    (RunState.PARKED, RunEvent.SETTLE): RunState.READY,
    (RunState.PARKED, RunEvent.STOP): RunState.STOPPED,
    (RunState.READY, RunEvent.RESUME): RunState.RUNNING,
    (RunState.READY, RunEvent.STOP): RunState.STOPPED,
}


FOR_SCHEDULES: Final = (Trigger.SCHEDULE, Trigger.MANUAL, Trigger.UNKNOWN)
"""How a run begins that works for an instant of a schedule, or may do so."""


class WaitKind(StrEnum):
    CHILD = "child"  # the end of a run that this one asked for; the subject is that run
    TIMER = "timer"  # a time; the subject is that, and the step
    APPROVAL = "approval"  # a person's word, about a call or in answer to one; the subject is the question


class StepState(StrEnum):
    OPEN = "open"  # may run, has not begun
    ASKED = "asked"  # a person must say
    HANDED = "handed"  # other agents work on it, and one of them is not done yet; or it waits for a time
    MARKED = "marked"  # began: after a kill nobody knows how far it came
    DONE = "done"  # its result is recorded


NOT_DONE: Final = tuple(state.value for state in StepState if state is not StepState.DONE)
"""States of a call that has no result yet."""


class StepEvent(StrEnum):
    MARK = "mark"
    HAND = "hand"
    RESULT = "result"
    ALLOW = "allow"
    REFUSE = "refuse"
    DOUBT = "doubt"
    LAPSE = "lapse"


# A repeatable tool is marked again after a kill; any other is doubted, and a person says what happened. A call whose
# trust is over as it is marked lapses in that very transaction: it has not begun.
STEP_MOVES: Final[Mapping[tuple[StepState, StepEvent], StepState]] = {
    (StepState.OPEN, StepEvent.MARK): StepState.MARKED,
    (StepState.OPEN, StepEvent.REFUSE): StepState.DONE,
    (StepState.MARKED, StepEvent.MARK): StepState.MARKED,
    (StepState.MARKED, StepEvent.HAND): StepState.HANDED,
    (StepState.HANDED, StepEvent.RESULT): StepState.DONE,
    (StepState.MARKED, StepEvent.RESULT): StepState.DONE,
    (StepState.MARKED, StepEvent.REFUSE): StepState.DONE,
    (StepState.MARKED, StepEvent.DOUBT): StepState.ASKED,
    (StepState.MARKED, StepEvent.LAPSE): StepState.ASKED,
    (StepState.ASKED, StepEvent.ALLOW): StepState.OPEN,
    (StepState.ASKED, StepEvent.REFUSE): StepState.DONE,
}
