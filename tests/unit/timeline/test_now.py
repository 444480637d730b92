"""How it stands is one sentence, and whether anything may still come."""

from __future__ import annotations

import pytest

from runtime.contract import (
    Kind,
    RunId,
)
from runtime.domain.deliveries import DeliveryState
from runtime.domain.runs import RunState, StepState
from runtime.timeline import told
from runtime.timeline.trail import Trail
from tests.unit.timeline.rows import ONE, delivery, model, question, run, signal, tool, trail

WORKING = run(state=RunState.RUNNING, ended_at=None)
NOWS: dict[str, tuple[Trail, str, bool]] = {
    "waits its turn": (
        Trail("s1", (signal(state="waiting", run_id=None, answered_at=None),), behind=RunId("r0")),
        "It waits for its turn: run r0 is at work in this conversation.",
        False,
    ),
    "waits": (
        Trail("s1", (signal(state="waiting", run_id=None, answered_at=None),)),
        "It waits to be taken up. Nothing else is at work in this conversation.",
        False,
    ),
    "refused": (Trail("s1", (signal(state="refused"),)), "It was refused, and nothing came of it.", True),
    "forgotten": (
        Trail("s1", (signal(state="forgotten", who="", text="", run_id=None),)),
        "It was answered or ended; what was written and done is not kept any more.",
        True,
    ),
    "a click": (
        Trail("s1", (signal(state="decided", kind="clicked"),)),
        "It was acted on when it was accepted; the run it was about tells the rest.",
        True,
    ),
    "a command": (
        Trail("s1", (signal(state="decided", kind="commanded", answered_at=None),), deliveries=(delivery(),)),
        "All of it was shown.",
        True,
    ),
    "a command on its way": (
        Trail("s1", (signal(state="decided", kind="commanded"),), deliveries=(delivery(state=DeliveryState.QUEUED),)),
        "Still on its way to the screen: the reply.",
        False,
    ),
    "a stranger with a code": (
        Trail("s1", (signal(state="refused", answered_at=None),), deliveries=(delivery(),)),
        "It was refused, and its sender told so. All of it was shown.",
        True,
    ),
    "observed": (
        Trail("s1", (signal(state="observed"),)),
        "It is context: the next run in this conversation reads it. Nothing is answered to it.",
        True,
    ),
    "too late": (
        Trail("s1", (signal(state="stale"),)),
        "It came too late, and nothing came of it; its sender was told to ask again.",
        True,
    ),
    "its run is gone": (Trail("s1", (signal(),)), "It was worked on; the run is not kept any more.", True),
    "the model thinks": (
        trail(run=WORKING),
        "It is being worked on by host/1: waiting for the model.",
        False,
    ),
    "a tool runs": (
        trail(run=WORKING, steps=(model(), tool(state=StepState.MARKED, ended_at=None))),
        "It is being worked on by host/1: list_files running.",
        False,
    ),
    "its process is gone": (
        trail(run=WORKING, gone=frozenset([ONE])),
        "host/1, which had it, is gone: the next process to look takes it up again.",
        False,
    ),
    "parked": (
        trail(run=run(state=RunState.PARKED, ended_at=None), approvals=(question(),)),
        "It waits for a person: `signalbox approvals list` shows a1.",
        False,
    ),
    "decided": (
        trail(run=run(state=RunState.READY, ended_at=None)),
        "All is decided; it waits for its turn in the conversation.",
        False,
    ),
    "on its way": (
        trail(deliveries=(delivery(state=DeliveryState.OPEN, reason="500"),)),
        "Still on its way to the screen: the reply (500).",
        False,
    ),
    "on hold": (
        trail(deliveries=(delivery(state=DeliveryState.HELD, reason="nobody can tell"),)),
        "On hold, the reply: nobody can tell. `signalbox outbox requeue d1` or `discard` settles it.",
        False,
    ),
    "dead": (
        trail(deliveries=(delivery(state=DeliveryState.DEAD, reason="the room is gone"),)),
        "Given up, the reply: the room is gone. `signalbox outbox requeue d1` or `discard` settles it.",
        False,
    ),
    "discarded": (
        trail(deliveries=(delivery(state=DeliveryState.DISCARDED),)),
        "Discarded, the reply: it was not shown.",
        True,
    ),
    "answered": (trail(), "Answered 3.000 s after it was sent.", True),
    "a report": (Trail("d1", deliveries=(delivery(kind=Kind.REPORT),)), "All of it was shown.", True),
    "nothing left": (trail(signals=(), deliveries=()), "What was shown is not kept any more.", True),
}


@pytest.mark.parametrize("case", NOWS)
def test_how_it_stands_is_one_sentence(case: str) -> None:
    about, now, over = NOWS[case]
    story = told(about)
    assert (story.now, story.over) == (now, over)
