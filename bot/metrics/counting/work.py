"""Taking in, runs, steps and questions, counted by what their transactions return."""

from __future__ import annotations

from collections.abc import Sequence

from bot.metrics.counting.answers import RESUMED, STRAIGHT
from bot.metrics.counting.base import Counting
from bot.metrics.meters import ENDINGS, EXPIRED, kind_of
from runtime.contract import (
    ApprovalId,
    Busy,
    Choice,
    Clicked,
    FileRef,
    Kind,
    ModelReply,
    Outcome,
    RunId,
    Signal,
)
from runtime.domain.routing import BusyRules
from runtime.domain.runs import RunState, StepState
from runtime.store.approvals.decisions import DeskStore
from runtime.store.intake.signals import IntakeStore
from runtime.store.protocol import (
    Claim,
    Decided,
    Gate,
    Lane,
    Lease,
    NewDelivery,
    NewStep,
    Offer,
    Question,
    Recorded,
    Released,
    Taken,
)
from runtime.store.runs.lanes import LaneStore


class CountedWork(Counting, IntakeStore, LaneStore, DeskStore):
    # --------------------------------------------------------------------------------------------------- taking in

    async def accept(self, signal: Signal, gate: Gate, offer: Offer | None = None) -> Taken:
        taken = await super().accept(signal, gate, offer)
        kind, outcome = type(signal.body).__name__.lower(), taken.verdict.outcome
        self._meters.signals.add(*self._labels.at(signal.address), kind, outcome)
        if isinstance(signal.body, Clicked) and outcome is Outcome.DECIDED:
            self._settled(signal.body.approval_id, signal.body.choice)
        if taken.claim:
            self._begun(taken.claim)
        return taken

    def _settled(self, approval: ApprovalId, choice: Choice) -> None:
        kind = kind_of(choice)
        self._meters.settled.add(kind, ENDINGS[choice])
        if (age := self._since(approval)) is not None:
            self._meters.question_age.observe(age, kind)

    async def expire(self) -> list[Decided]:
        expired = await super().expire()
        for approval in (decided.approval for decided in expired):
            if approval:
                self._meters.settled.add(approval.kind, EXPIRED)
                self._meters.question_age.observe((self.now() - approval.asked_at).total_seconds(), approval.kind)
        return expired

    # ------------------------------------------------------------------------------------------------------- runs

    async def claim(self, lease: Lease, busy: Busy | BusyRules) -> Claim | None:
        claim = await super().claim(lease, busy)
        if claim:
            self._begun(claim)
        return claim

    async def claim_suspect(self, lease: Lease, busy: Busy | BusyRules, *, most: int) -> Claim | None:
        claim = await super().claim_suspect(lease, busy, most=most)
        if claim:
            self._begun(claim)
        return claim

    def _begun(self, claim: Claim) -> None:
        self._meters.begun.add("resumed" if claim.resumed else "new")
        if claim.resumed:
            self._resumed.add(claim.run_id)
        elif (lag := self._since(claim.run_id)) is not None:  # a run has the id of its first message
            self._meters.claim_lag.observe(lag)

    async def park(self, lane: Lane, run: RunId, questions: Sequence[Question]) -> Released | None:
        released = await super().park(lane, run, questions)
        if released:
            self._meters.runs.add(RunState.PARKED)
            self._resumed.discard(run)
            for question in questions:
                self._meters.asked.add(question.kind)
                self._put(released, question.card)
        return released

    async def finish(
        self,
        lane: Lane,
        run: RunId,
        number: int,
        reply: ModelReply | None,
        state: RunState,
        text: str,
        deliveries: Sequence[NewDelivery],
    ) -> Released | None:
        released = await super().finish(lane, run, number, reply, state, text, deliveries)
        if released:
            self._meters.runs.add(state)
            if reply:
                self._meters.steps.add("model")
            self._answered(run, released, deliveries)
        return released

    def _answered(self, run: RunId, released: Released, deliveries: Sequence[NewDelivery]) -> None:
        way = RESUMED if run in self._resumed else STRAIGHT
        self._resumed.discard(run)
        for delivery in deliveries:
            if delivery.kind is Kind.FINAL:
                self._answers.expect(delivery.id, run, way)
            self._put(released, delivery)

    def _put(self, released: Released, delivery: NewDelivery) -> None:
        """A new delivery may have gone up with its own commit."""
        rendered = delivery.rendered
        if rendered and delivery.id in released.begun:
            self._answers.rendered(delivery.id, len(rendered.wires))
            for ordinal, _ in enumerate(rendered.receipts, 1):
                self._shown(self._labels.at(delivery.address), delivery.id, ordinal)

    # ------------------------------------------------------------------------------------------------------- steps

    async def record_model(
        self, lane: Lane, run: RunId, number: int, reply: ModelReply, calls: Sequence[NewStep]
    ) -> Recorded | None:
        recorded = await super().record_model(lane, run, number, reply, calls)
        if recorded:
            self._meters.steps.add("model")
            for step in calls:
                if step.state is StepState.DONE:  # policy, or a call that is none
                    self._meters.tool_calls.add(self._labels.tool(step.call.tool), "refused")
        return recorded

    async def finish_tool(
        self, lane: Lane, run: RunId, number: int, result: str, files: Sequence[FileRef] = ()
    ) -> Recorded | None:
        recorded = await super().finish_tool(lane, run, number, result, files)
        if recorded:
            self._meters.steps.add("tool")
        return recorded
