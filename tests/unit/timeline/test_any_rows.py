"""Whatever the rows hold, a story is told of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runtime.contract import (
    ApprovalKind,
    Choice,
    Effect,
    Kind,
    NodeId,
    RunId,
)
from runtime.domain.approvals import ApprovalState
from runtime.domain.deliveries import DeliveryEvent, DeliveryState, PartEvent, PartState
from runtime.domain.runs import RunEvent, RunState, StepState
from runtime.timeline import told
from runtime.timeline.trail import Move, Spent, TracedPart, TracedStep, Trail
from tests.unit.timeline.rows import LABELS, ONE, TWO, at, delivery, question, run, signal

TIMES = st.integers(0, 100).map(at)
MAYBE = st.none() | TIMES
NODES = st.none() | st.sampled_from([ONE, TWO, NodeId("n9")])
SIGNALS = st.builds(
    signal,
    kind=st.sampled_from(["said", "clicked", "stopped"]),
    state=st.sampled_from(["waiting", "consumed", "merged", "refused", "decided", "forgotten"]),
    received_at=TIMES,
    accepted_at=TIMES,
    answered_at=MAYBE,
    joined_at=MAYBE,
    node=NODES,
)
RUNS = st.builds(
    run,
    state=st.sampled_from(RunState),
    claims=st.integers(1, 3),
    started_at=st.just(at(0)),  # nothing of a run is before it
    ended_at=MAYBE,
    node=NODES,
)
STEPS = st.builds(
    TracedStep,
    number=st.integers(1, 9),
    is_model=st.booleans(),
    state=st.sampled_from(StepState),
    tool=st.text(max_size=9),
    effect=st.none() | st.sampled_from(Effect),
    result=st.text(max_size=200),
    started_at=MAYBE,
    ended_at=MAYBE,
    node=NODES,
    spent=st.none() | st.just(Spent(1, 2, 3)),
)
QUESTIONS = st.builds(
    question,
    kind=st.sampled_from(ApprovalKind),
    state=st.sampled_from(ApprovalState),
    step=st.integers(1, 9),
    asked_at=TIMES,
    decided_at=MAYBE,
    choice=st.none() | st.sampled_from(Choice),
)
PARTS = st.builds(
    TracedPart,
    ordinal=st.integers(1, 3),
    state=st.sampled_from(PartState),
    attempts=st.integers(0, 3),
    marked_at=MAYBE,
    shown_at=MAYBE,
    receipt=st.none() | st.just("m"),
    node=NODES,
)
DELIVERIES = st.builds(
    lambda parts, **given: delivery(*parts, **given),
    st.lists(PARTS, max_size=3),
    kind=st.sampled_from(Kind),
    state=st.sampled_from(DeliveryState),
    created_at=TIMES,
)
MOVES = st.builds(
    Move,
    subject=st.sampled_from(["s1", "d1", "other"]),
    at=TIMES,
    node=NODES,
    what=st.sampled_from([*PartEvent, *DeliveryEvent, *RunEvent, "refused", "process ended"]),
    detail=st.text(max_size=30) | st.sampled_from(["part 1", "part 2: {why}", "n1"]),
)
TRAILS = st.builds(
    Trail,
    about=st.just("s1"),
    signals=st.lists(SIGNALS, max_size=3).map(tuple),
    run=st.none() | RUNS,
    behind=st.none() | st.just(RunId("r0")),
    steps=st.lists(STEPS, max_size=4).map(tuple),
    approvals=st.lists(QUESTIONS, max_size=3).map(tuple),
    deliveries=st.lists(DELIVERIES, max_size=2).map(tuple),
    moves=st.lists(MOVES, max_size=4).map(tuple),
    labels=st.just(LABELS),
).filter(lambda one: bool(one.run or one.signals or one.deliveries))


@given(TRAILS)
def test_whatever_the_rows_hold_it_is_told_in_order_and_in_words(about: Trail) -> None:
    story = told(about)
    assert [event.at for event in story.events] == sorted(event.at for event in story.events)
    assert all(event.words.strip() for event in story.events)
    assert story.now.endswith(".")
    assert story.began_at == story.events[0].at
