"""Every number that is counted while it happens. `docs/metrics.md` explains them, and the gauges, to people.

Labels are bounded by the settings and the code: names of accounts, models and tools, and words of ours. No person, room,
message or text is ever one. What can be told beforehand starts at 0, so that its first count is seen as a change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from bot.metrics.tally import Counter, Histogram
from runtime.contract import CHOICES, ApprovalKind, Choice
from runtime.domain.runs import RunState
from runtime.errors import StoreError, Trouble

# Seconds: from a bare commit to the longest wait that is a wait still. A question may wait for half a day.
LAG: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
MODEL: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600)
TOOL: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60)
SEND: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
TOKENS: Final = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 200_000, 500_000, 1_000_000)
AGE: Final = (5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 14400, 28800, 43200)
COMMIT: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
BATCH: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256)  # operations; 256 is the most that the writer takes at once

ACCOUNT: Final = ("channel", "account")
PART_OUTCOMES: Final = (
    "shown",
    "retried",
    "plain",
    "uncertain",
    "found",
    "absent",
    "repeated",
    "held",
    "dropped",
    "dead",
)
ENDINGS: Final = {
    Choice.APPROVE: "approved",
    Choice.EDIT: "approved",
    Choice.CONVERSATION: "approved",
    Choice.ALWAYS: "approved",
    Choice.ALL: "approved",
    Choice.DENY: "denied",
    Choice.DONE: "done",
    Choice.AGAIN: "again",
    Choice.SKIP: "skipped",
    Choice.USER: "approved",
    Choice.VIEWER: "approved",
    Choice.OPERATOR: "approved",
    Choice.NO: "denied",
    Choice.FIRST: "answered",
    Choice.SECOND: "answered",
    Choice.THIRD: "answered",
    Choice.FOURTH: "answered",
    Choice.TEXT: "answered",
}
GUARD_ENDED: Final = "ended"
"""The guard's last verdict: on a run, and on no tool."""
EXPIRED: Final = "expired"
INSTANTS: Final = ("started", "skipped", "done", "silent", "failed", "stopped")
CONDENSED: Final = ("trim", "repeat", "extract", "summary")
SUMMARIES: Final = ("model", "extract", "handoff", "failed")
NODE_CHANGES: Final = ("joined", "left", "lost", "reaped")


def counted(name: str, help: str, *labels: str) -> Any:
    """A counter of its own for each `Meters`."""
    return field(default_factory=partial(Counter, name, help, *labels))


def observed(name: str, help: str, *labels: str, bounds: Sequence[float]) -> Any:
    """Declare a histogram."""
    return field(default_factory=partial(Histogram, name, help, *labels, bounds=bounds))


@dataclass(eq=False)
class Meters:
    """The counters and histograms of this process. Implements `store.driver.Watch`."""

    signals: Counter = counted("signalbox_signals_total", "Incoming events, by outcome.", *ACCOUNT, "kind", "outcome")
    claim_lag: Histogram = observed(
        "signalbox_claim_lag_seconds", "From a message's acceptance to the start of its run.", bounds=LAG
    )
    answer_lag: Histogram = observed(
        "signalbox_answer_lag_seconds",
        "From a message's acceptance to the last part of its answer on screen.",
        *ACCOUNT,
        "way",
        bounds=LAG,
    )
    begun: Counter = counted("signalbox_runs_begun_total", "Runs started or resumed.", "how")
    runs: Counter = counted("signalbox_runs_total", "Runs that ended or were parked.", "state")
    steps: Counter = counted("signalbox_steps_total", "Steps that were recorded.", "kind")
    model_calls: Counter = counted("signalbox_model_calls_total", "Calls to a language model.", "model", "outcome")
    model_failures: Counter = counted(
        "signalbox_model_failures_total", "Failed calls to a language model, by cause.", "model", "cause"
    )
    stood_in: Counter = counted(
        "signalbox_model_fallbacks_total", "Answers that one model gave in another's place.", "model", "instead_of"
    )
    rested: Counter = counted(
        "signalbox_model_cooldowns_total", "How often a model began to rest after failures.", "model", "cause"
    )
    model_seconds: Histogram = observed(
        "signalbox_model_call_seconds", "How long a call to a language model took.", "model", bounds=MODEL
    )
    tokens: Counter = counted("signalbox_model_tokens_total", "Tokens in and out.", "model", "direction")
    dollars: Counter = counted("signalbox_model_cost_dollars_total", "What model calls cost, in US dollars.", "model")
    tool_calls: Counter = counted("signalbox_tool_calls_total", "Tool calls.", "tool", "outcome")
    tool_seconds: Histogram = observed("signalbox_tool_call_seconds", "How long a tool call took.", "tool", bounds=TOOL)
    request_tokens: Histogram = observed(
        "signalbox_context_tokens",
        "Tokens in a request to a language model, as its vendor counts them.",
        "model",
        bounds=TOKENS,
    )
    condensed: Counter = counted("signalbox_context_condensed_total", "Requests that were condensed.", "step")
    summaries: Counter = counted("signalbox_summaries_total", "Summaries of conversations.", "outcome")
    summary_seconds: Histogram = observed(
        "signalbox_summary_seconds", "How long it took to make a summary.", bounds=MODEL
    )
    leaks: Counter = counted(
        "signalbox_guard_total",
        "Secrets and personal data that the leak guard found in what flows, and what it did.",
        "gate",
        "detector",
        "action",
    )
    guarded: Counter = counted(
        "signalbox_guard_verdicts_total",
        "Calls the loop guard warned about or refused, and runs it ended.",
        "tool",
        "verdict",
    )
    asked: Counter = counted("signalbox_approvals_asked_total", "Questions put to people.", "kind")
    settled: Counter = counted("signalbox_approvals_total", "Questions that were settled.", "kind", "outcome")
    question_age: Histogram = observed(
        "signalbox_approval_age_seconds", "How old a question was when it was settled.", "kind", bounds=AGE
    )
    instants: Counter = counted(
        "signalbox_occurrences_total", "Scheduled times, by outcome, and each attempt.", "outcome"
    )
    schedule_lag: Histogram = observed(
        "signalbox_schedule_lag_seconds", "From a scheduled time to the start of its run.", bounds=LAG
    )
    parts: Counter = counted("signalbox_parts_total", "What happened to wire messages.", *ACCOUNT, "outcome")
    shown_lag: Histogram = observed(
        "signalbox_shown_lag_seconds", "From the outbox to the screen, for each part.", *ACCOUNT, bounds=LAG
    )
    sends: Histogram = observed(
        "signalbox_send_seconds", "How long a platform took to accept a message.", *ACCOUNT, "outcome", bounds=SEND
    )
    commits: Histogram = observed("signalbox_store_commit_seconds", "How long a commit took.", bounds=COMMIT)
    batches: Histogram = observed("signalbox_store_batch_operations", "Operations in one commit.", bounds=BATCH)
    store_errors: Counter = counted("signalbox_store_errors_total", "Operations that the store refused.", "trouble")
    node_changes: Counter = counted(
        "signalbox_node_changes_total", "Nodes that joined or left, as this one saw it.", "change"
    )
    role_changes: Counter = counted(
        "signalbox_role_changes_total", "Roles that this node took or lost.", "role", "change"
    )

    def __post_init__(self) -> None:
        self._expect()

    def all(self) -> list[Counter | Histogram]:
        return list(vars(self).values())

    def expect_account(self, channel: str, account: str) -> None:
        for outcome in PART_OUTCOMES:
            self.parts.add(channel, account, outcome, by=0)

    def committed(self, operations: int, seconds: float) -> None:
        self.commits.observe(seconds)
        self.batches.observe(operations)

    def failed(self, error: StoreError) -> None:
        self.store_errors.add(error.trouble)

    def _expect(self) -> None:
        for state in (RunState.DONE, RunState.FAILED, RunState.STOPPED, RunState.PARKED):
            self.runs.add(state, by=0)
        for kind, choices in CHOICES.items():
            self.asked.add(kind, by=0)
            for outcome in {*(ENDINGS[choice] for choice in choices if choice in ENDINGS), EXPIRED}:
                self.settled.add(kind, outcome, by=0)
        for outcome in INSTANTS:
            self.instants.add(outcome, by=0)
        for trouble in Trouble:
            self.store_errors.add(trouble, by=0)
        for step in CONDENSED:
            self.condensed.add(step, by=0)
        for outcome in SUMMARIES:
            self.summaries.add(outcome, by=0)
        self.guarded.add("", GUARD_ENDED, by=0)
        for change in NODE_CHANGES:
            self.node_changes.add(change, by=0)


def kind_of(choice: Choice) -> ApprovalKind:
    """Kind of question that a choice answers."""
    return next((kind for kind, choices in CHOICES.items() if choice in choices), ApprovalKind.CALL)
