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
        "It's waiting for its turn: run r0 is working in this conversation.",
        False,
    ),
    "waits": (
        Trail("s1", (signal(state="waiting", run_id=None, answered_at=None),)),
        "It's waiting to be picked up. Nothing else is running in this conversation.",
        False,
    ),
    "refused": (Trail("s1", (signal(state="refused"),)), "It was refused. Nothing more came of it.", True),
    "forgotten": (
        Trail("s1", (signal(state="forgotten", who="", text="", run_id=None),)),
        "It was answered or stopped. The details are no longer kept.",
        True,
    ),
    "a click": (
        Trail("s1", (signal(state="decided", kind="clicked"),)),
        "It took effect at once. The run it was about shows the rest.",
        True,
    ),
    "a command": (
        Trail("s1", (signal(state="decided", kind="commanded", answered_at=None),), deliveries=(delivery(),)),
        "Everything was shown.",
        True,
    ),
    "a command on its way": (
        Trail("s1", (signal(state="decided", kind="commanded"),), deliveries=(delivery(state=DeliveryState.QUEUED),)),
        "The reply is still on its way.",
        False,
    ),
    "a stranger with a code": (
        Trail("s1", (signal(state="refused", answered_at=None),), deliveries=(delivery(),)),
        "It was refused, and its sender was told. Everything was shown.",
        True,
    ),
    "observed": (
        Trail("s1", (signal(state="observed"),)),
        "It's kept as context for the next run in this conversation. It gets no reply.",
        True,
    ),
    "too late": (
        Trail("s1", (signal(state="stale"),)),
        "It arrived too late to act on. Its sender was told.",
        True,
    ),
    "its run is gone": (Trail("s1", (signal(),)), "It was worked on. The details are no longer kept.", True),
    "the model thinks": (
        trail(run=WORKING),
        "host/1 is working on it: waiting for the model.",
        False,
    ),
    "a tool runs": (
        trail(run=WORKING, steps=(model(), tool(state=StepState.MARKED, ended_at=None))),
        "host/1 is working on it: running list_files.",
        False,
    ),
    "its process is gone": (
        trail(run=WORKING, gone=frozenset([ONE])),
        "host/1 was working on it and is gone. Another process will pick it up.",
        False,
    ),
    "parked": (
        trail(run=run(state=RunState.PARKED, ended_at=None), approvals=(question(),)),
        "It's waiting for somebody's answer: `signalbox approvals list` shows a1.",
        False,
    ),
    "decided": (
        trail(run=run(state=RunState.READY, ended_at=None)),
        "Its questions are settled. It's waiting for its turn in the conversation.",
        False,
    ),
    "on its way": (
        trail(deliveries=(delivery(state=DeliveryState.OPEN, reason="500"),)),
        "The reply is still on its way (500).",
        False,
    ),
    "on hold": (
        trail(deliveries=(delivery(state=DeliveryState.HELD, reason="nobody can tell"),)),
        "The reply is on hold: nobody can tell. `signalbox outbox requeue d1` sends it again; `discard` drops it.",
        False,
    ),
    "dead": (
        trail(deliveries=(delivery(state=DeliveryState.DEAD, reason="the room is gone"),)),
        "The reply couldn't be shown: the room is gone. `signalbox outbox requeue d1` sends it again; `discard` drops it.",
        False,
    ),
    "discarded": (
        trail(deliveries=(delivery(state=DeliveryState.DISCARDED),)),
        "The reply was discarded and not shown.",
        True,
    ),
    "answered": (trail(), "Answered 3.000 s after it was sent.", True),
    "failed": (
        trail(run=run(state=RunState.FAILED, error="The model refused the key.")),
        "It failed, and its sender was told so 3.000 s after it was sent.",
        True,
    ),
    "a report": (Trail("d1", deliveries=(delivery(kind=Kind.REPORT),)), "Everything was shown.", True),
    "nothing left": (trail(signals=(), deliveries=()), "What was shown is no longer kept.", True),
}


@pytest.mark.parametrize("case", NOWS)
def test_how_it_stands_is_one_sentence(case: str) -> None:
    about, now, over = NOWS[case]
    story = told(about)
    assert (story.now, story.over) == (now, over)
