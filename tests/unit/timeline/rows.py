"""Rows of a trail as the store has them: one message that was answered, and what is changed of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from runtime.contract import (
    Address,
    ApprovalId,
    ApprovalKind,
    Choice,
    DeliveryId,
    Effect,
    Kind,
    NodeId,
    RunId,
    SignalId,
)
from runtime.domain.approvals import Approval, ApprovalState
from runtime.domain.deliveries import DeliveryState, PartState
from runtime.domain.runs import RunState, StepState
from runtime.timeline import What, told
from runtime.timeline.trail import Move, Spent, TracedDelivery, TracedPart, TracedRun, TracedSignal, TracedStep, Trail

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ROOM = Address("web", "main", "r1")
ONE, TWO = NodeId("n1"), NodeId("n2")
LABELS = {ONE: "host/1", TWO: "host/2"}
RUN = RunId("s1")


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def signal(**changed: Any) -> TracedSignal:
    made = TracedSignal(
        id=SignalId("s1"),
        kind="said",
        who="Ada",
        address=ROOM,
        text="list the files",
        files=0,
        state="consumed",
        merged_into=None,
        run_id=RUN,
        received_at=at(0),
        accepted_at=at(0.1),
        answered_at=at(3),
        node=None,
    )
    return replace(made, **changed)


def run(**changed: Any) -> TracedRun:
    made = TracedRun(
        id=RUN,
        address=ROOM,
        state=RunState.DONE,
        requester="Ada",
        claims=1,
        error="",
        started_at=at(0.2),
        ended_at=at(2),
        node=ONE,
    )
    return replace(made, **changed)


def model(number: int = 1, ended: float = 1, **changed: Any) -> TracedStep:
    made = TracedStep(number, True, StepState.DONE, "demo", None, "", None, at(ended), ONE, Spent(1200, 5, 0))
    return replace(made, **changed)


def tool(number: int = 2, **changed: Any) -> TracedStep:
    made = TracedStep(
        number, False, StepState.DONE, "list_files", Effect.READ, "a.txt", at(1.1), at(1.5), ONE, spent=None
    )
    return replace(made, **changed)


def question(**changed: Any) -> Approval:
    made = Approval(
        id=ApprovalId("a1"),
        kind=ApprovalKind.CALL,
        state=ApprovalState.PENDING,
        run_id=RUN,
        step=2,
        session="main|web:main/r1",
        address=ROOM,
        tool="shell",
        effect=Effect.DANGER,
        arguments="{}",
        arguments_hash="",
        policy_version="1",
        requester=None,
        asked_at=at(1),
        expires_at=at(1) + timedelta(hours=12),
    )
    return replace(made, **changed)


def part(ordinal: int = 1, **changed: Any) -> TracedPart:
    return replace(TracedPart(ordinal, PartState.SHOWN, 1, at(2.5), at(3), "m1", ONE), **changed)


def delivery(*parts: TracedPart, **changed: Any) -> TracedDelivery:
    made = TracedDelivery(
        id=DeliveryId("d1"),
        kind=Kind.FINAL,
        address=ROOM,
        origin="run:s1",
        edits=None,
        state=DeliveryState.SHOWN,
        reason="",
        not_before=at(2),
        created_at=at(2),
        settled_at=at(3),
        text="There is **a.txt**.",
        parts=parts or (part(),),
    )
    return replace(made, **changed)


def move(what: str, detail: str = "", *, subject: str = "d1", seconds: float = 2.7, node: NodeId | None = ONE) -> Move:
    return Move(subject, at(seconds), node, what, detail)


def trail(**changed: Any) -> Trail:
    made = Trail("s1", (signal(),), run(), None, (model(ended=2),), (), (delivery(),), (), LABELS)
    return replace(made, **changed)


def words(told_trail: Trail) -> list[str]:
    return [event.words for event in told(told_trail).events]


def of(told_trail: Trail, what: What) -> list[str]:
    return [event.words for event in told(told_trail).events if event.what is what]


PARKED = {"steps": (model(), tool(tool="shell", state=StepState.ASKED, started_at=None, ended_at=None))}
APPROVED = question(state=ApprovalState.APPROVED, choice=Choice.APPROVE, decided_name="Otto", decided_at=at(60))
