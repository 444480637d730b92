"""Follow-up of what a program said: how it stands, and its answer. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from runtime.contract import Address, FileRef, RunId, SignalId


class FollowState(StrEnum):
    """Stages of an answer, as programs are told them."""

    QUEUED = "queued"  # it waits for its lane
    WORKING = "working"
    ASKING = "asking"  # people are asked something
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    REFUSED = "refused"
    KEPT = "kept"  # as context, without an answer

    @property
    def is_over(self) -> bool:
        return self in ENDED_STATES


ENDED_STATES: Final = frozenset(
    {FollowState.DONE, FollowState.FAILED, FollowState.STOPPED, FollowState.REFUSED, FollowState.KEPT}
)
RUN_STATES: Final = {
    "running": FollowState.WORKING,
    "ready": FollowState.WORKING,
    "parked": FollowState.WORKING,
    "done": FollowState.DONE,
    "failed": FollowState.FAILED,
    "stopped": FollowState.STOPPED,
}
SIGNAL_STATES: Final = {
    "waiting": FollowState.QUEUED,
    "refused": FollowState.REFUSED,
    "observed": FollowState.KEPT,
    "stale": FollowState.REFUSED,
}


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """A question to people that a run waits for. `text` is its words, where it is no call's."""

    id: str
    kind: str
    tool: str
    expires_at: datetime
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A message as it stands. `text` is the answer once it is over; `own` is what its sender
    wrote, as it is kept; `body` tells whether another request with its key is the same.
    """

    id: SignalId
    platform: str
    address: Address
    agent: str
    state: FollowState
    own: str
    body: str
    at: datetime
    run: RunId | None = None
    text: str = ""
    error: str = ""
    model: str = ""
    files: tuple[FileRef, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SaidStep:
    """Text of one model call of a run; `is_last` where it is the newest turn of the run."""

    step: int
    text: str
    is_last: bool = False


def texts_of(found: Followed, steps: Sequence[SaidStep]) -> tuple[str, ...]:
    """Every text that an answer is made of: said before calls, and its last words."""
    said = [one.text for one in steps if not (found.state.is_over and one.is_last)]
    return tuple(text for text in (*said, found.text if found.state.is_over else "") if text.strip())


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of a run that decide how its message stands."""

    state: str = ""
    questions: Sequence[OpenQuestion] = field(default=())


def state_of(signal: str, run: RunFacts | None, *, answered: bool) -> FollowState:
    """State of a message: by its run, else by its own row; `answered` says that the sink itself answered it.

    >>> state_of("consumed", RunFacts("running"), answered=False)
    <FollowState.WORKING: 'working'>
    """
    if run is not None:
        is_asked = run.state == "parked" and bool(run.questions)
        return FollowState.ASKING if is_asked else RUN_STATES.get(run.state, FollowState.WORKING)
    if answered:
        return FollowState.DONE
    return SIGNAL_STATES.get(signal, FollowState.DONE if signal == "decided" else FollowState.QUEUED)
