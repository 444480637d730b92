"""The observer that counts: what the store's transactions did, added to the meters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from bot.metrics.answers import ADOPTED, RESUMED, STRAIGHT, Answers
from bot.metrics.labels import Account, Labels
from bot.metrics.meters import ENDINGS, EXPIRED, GUARD_ENDED, Meters, kind_of
from runtime.context.watch import LoopWatch
from runtime.contract import ApprovalId, Choice, Clicked, DeliveryId, Kind, ModelReply, Outcome, RunId, Signal
from runtime.domain.ids import made_at
from runtime.domain.runs import RunState, StepState
from runtime.domain.schedules import Firing
from runtime.errors import Cause
from runtime.models.choice.watch import ChainWatch
from runtime.store.observer import Observer, PartOutcome
from runtime.store.protocol import (
    Claim,
    Decided,
    Duty,
    NewDelivery,
    NewStep,
    OpenDelivery,
    Question,
    Released,
    Taken,
)

NO_TIME: Final = timedelta()
OCCURRENCE_ENDINGS: Final = {RunState.DONE: "done", RunState.FAILED: "failed", RunState.STOPPED: "stopped"}


class CountingLoop(LoopWatch):
    """Adds what the agent's loop tells."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters

    def condensed(self, step: str) -> None:
        self._meters.condensed.add(step)

    def summarised(self, kind: str, seconds: float) -> None:
        self._meters.summaries.add(kind)
        self._meters.summary_seconds.observe(seconds)

    def summary_failed(self) -> None:
        self._meters.summaries.add("failed")

    def guarded(self, gate: str, detector: str, action: str) -> None:
        self._meters.leaks.add(gate, detector, action)

    def ended_by_guard(self) -> None:
        self._meters.guarded.add("", GUARD_ENDED)


class CountingChain(ChainWatch):
    """Adds what several models tell."""

    def __init__(self, meters: Meters) -> None:
        self._meters = meters

    def stood_in(self, model: str, instead_of: str) -> None:
        self._meters.stood_in.add(model, instead_of)

    def rested(self, model: str, cause: Cause) -> None:
        self._meters.rested.add(model, cause)


def wall_clock() -> datetime:
    return datetime.now(UTC)


class Counting(Observer):
    """Adds to `meters` what the store tells.

    Lags are counted from the time in an id, so they need no query and no memory, and hold over restarts and nodes as
    far as the clocks of the machines agree.
    """

    def __init__(self, meters: Meters, labels: Labels, *, clock: Callable[[], datetime] = wall_clock) -> None:
        self._meters = meters
        self._labels = labels
        self._clock = clock
        self._answers = Answers()
        self._resumed: set[RunId] = set()
        self._roles: dict[str, int] = {}

    def _since(self, made: str) -> float | None:
        """Seconds since an id was made; None for one that tells no time."""
        at = made_at(made)
        return None if at is None else max(self._clock() - at, NO_TIME).total_seconds()

    # ------------------------------------------------------------------------------------- taking in and questions

    def accepted(self, signal: Signal, taken: Taken) -> None:
        kind, outcome = type(signal.body).__name__.lower(), taken.verdict.outcome
        self._meters.signals.add(*self._labels.at(signal.address), kind, outcome)
        if isinstance(signal.body, Clicked) and outcome is Outcome.DECIDED and signal.body.choice in ENDINGS:
            for approval in taken.settled or (signal.body.approval_id,):
                self._settled(approval, signal.body.choice)
        if taken.claim:
            self.claimed(taken.claim)
        for one in taken.ended:
            self._meters.runs.add(RunState.STOPPED)
            self._resumed.discard(one.run)
            if one.planned:
                self._meters.instants.add(OCCURRENCE_ENDINGS[RunState.STOPPED])

    def _settled(self, approval: ApprovalId, choice: Choice) -> None:
        kind = kind_of(choice)
        self._meters.settled.add(kind, ENDINGS[choice])
        if (age := self._since(approval)) is not None:
            self._meters.question_age.observe(age, kind)

    def expired(self, expired: Sequence[Decided], now: datetime) -> None:
        for approval in (decided.approval for decided in expired):
            if approval:
                self._meters.settled.add(approval.kind, EXPIRED)
                self._meters.question_age.observe((now - approval.asked_at).total_seconds(), approval.kind)

    # ------------------------------------------------------------------------------------------------------- runs

    def claimed(self, claim: Claim) -> None:
        self._meters.begun.add("resumed" if claim.resumed else "new")
        if claim.resumed:
            self._resumed.add(claim.run_id)
        elif (lag := self._since(claim.run_id)) is not None:  # a run has the id of its first message
            self._meters.claim_lag.observe(lag)

    def recorded(self, calls: Sequence[NewStep]) -> None:
        self._meters.steps.add("model")
        for step in calls:
            if step.guard:
                self._meters.guarded.add(self._labels.tool(step.call.tool), step.guard)
            if step.state is StepState.DONE:  # policy, or a call that is none
                self._meters.tool_calls.add(self._labels.tool(step.call.tool), "refused")

    def tool_finished(self) -> None:
        self._meters.steps.add("tool")

    def parked(self, run: RunId, questions: Sequence[Question], released: Released) -> None:
        self._meters.runs.add(RunState.PARKED)
        self._resumed.discard(run)
        for question in questions:
            for _ in (question, *question.further):
                self._meters.asked.add(question.kind)
            self._put(released, question.card)

    def finished(
        self,
        run: RunId,
        reply: ModelReply | None,
        state: RunState,
        deliveries: Sequence[NewDelivery],
        released: Released,
    ) -> None:
        self._meters.runs.add(state)
        if reply:
            self._meters.steps.add("model")
        self._answered(run, released, deliveries)
        if released.planned:
            silent = state is RunState.DONE and not deliveries
            self._meters.instants.add("silent" if silent else OCCURRENCE_ENDINGS[state])

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
                self._on_screen(self._labels.at(delivery.address), delivery.id, ordinal)

    # -------------------------------------------------------------------------------------------------- schedules

    def fired(self, firing: Firing, now: datetime, *, started: bool) -> None:
        """Count a firing, or a skip where the one before is still at work or the money is spent."""
        begun = [one.planned_at for one in firing.instants if not one.skip] if started else []
        for planned_at in begun:
            self._meters.instants.add("started")
            self._meters.schedule_lag.observe(max(now - planned_at, NO_TIME).total_seconds())
        if skipped := len(firing.instants) - len(begun):
            self._meters.instants.add("skipped", by=skipped)

    def tried(self) -> None:
        """Each try of an occurrence counts, since each may fail."""
        self._meters.instants.add("started")

    # --------------------------------------------------------------------------------------------------- delivery

    def opened(self, found: Sequence[OpenDelivery]) -> None:
        for open_ in found:
            if open_.run_id and open_.delivery.kind is Kind.FINAL:
                self._answers.expect(open_.delivery.id, open_.run_id, ADOPTED, len(open_.parts))

    def adopted(self, channel: str, account: str, in_doubt: int) -> None:
        self._meters.parts.add(*self._labels.account(channel, account), PartOutcome.UNCERTAIN, by=in_doubt)

    def rendered(self, delivery: DeliveryId, parts: int) -> None:
        self._answers.rendered(delivery, parts)

    def shown(self, duty: Duty, delivery: DeliveryId, ordinal: int) -> None:
        self._on_screen(self._labels.courier(duty.role), delivery, ordinal)

    def _on_screen(self, account: Account, delivery: DeliveryId, ordinal: int) -> None:
        """With the last part of an answer its message is answered."""
        self._meters.parts.add(*account, "shown")
        if (lag := self._since(delivery)) is not None:
            self._meters.shown_lag.observe(lag, *account)
        answer = self._answers.shown(delivery, ordinal)
        if answer and (lag := self._since(answer.run)) is not None:
            self._meters.answer_lag.observe(lag, *account, answer.way)

    def moved(self, duty: Duty, delivery: DeliveryId, outcome: PartOutcome) -> None:
        """A plain part may take more than were rendered; the courier reads them before it goes on, see `opened`."""
        if outcome in (PartOutcome.HELD, PartOutcome.DEAD):
            self._answers.forget(delivery)
        self._meters.parts.add(*self._labels.courier(duty.role), outcome)

    # ---------------------------------------------------------------------------------------------------- cluster

    def joined(self) -> None:
        self._meters.node_changes.add("joined")

    def left(self) -> None:
        self._meters.node_changes.add("left")

    def lost(self) -> None:
        self._meters.node_changes.add("lost")
        for role in self._roles:
            self._meters.role_changes.add(self._labels.role(role), "lost")
        self._roles.clear()

    def reaped(self, count: int) -> None:
        self._meters.node_changes.add("reaped", by=count)

    def took(self, role: str, duty: Duty | None) -> None:
        """Count a duty that was taken; its owner asks again and again, so only a change counts."""
        if duty and self._roles.get(role) != duty.fence:
            self._roles[role] = duty.fence
            self._meters.role_changes.add(self._labels.role(role), "taken")
        elif duty is None and self._roles.pop(role, None) is not None:
            self._meters.role_changes.add(self._labels.role(role), "lost")
