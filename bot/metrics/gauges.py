"""Gauges read at each scrape: queues from the database, adapters and build from this process.

What stands in the database is the same for all nodes that share it: whoever adds nodes up takes the `max`, not the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import add
from typing import Final

from bot.metrics.labels import Account, Labels
from bot.metrics.tally import Gauge
from runtime.contract import ApprovalKind, ChannelAdapter, Connection, ScheduleState
from runtime.domain.deliveries import DeliveryState
from runtime.domain.events.sinks import Cursor
from runtime.domain.runs import RunState
from runtime.models.choice.cooling import Rest
from runtime.policy.budgets import NO_BUDGETS, BudgetRules, Counter
from runtime.store.operations.queue_depths import LANE_STATES, Depths

Reading = tuple[Gauge, tuple[str, ...], float]

BUILD: Final = Gauge("signalbox_build_info", "The program's version; always 1.", "version")
CONNECTED: Final = Gauge(
    "signalbox_adapter_connected", "1 while an account is connected to its platform, else 0.", "channel", "account"
)
STATE: Final = Gauge(
    "signalbox_adapter_state",
    "1 for an account's current state (connecting, connected, reconnecting, deaf, refused), 0 for the others.",
    "channel",
    "account",
    "state",
)
STORE_UP: Final = Gauge("signalbox_store_up", "1 if the store answered this scrape, else 0.")
SIGNALS: Final = Gauge("signalbox_signals_waiting", "Messages that wait for a run.")
SIGNALS_AGE: Final = Gauge(
    "signalbox_signals_oldest_waiting_seconds", "Age of the oldest waiting message; 0 if none waits."
)
LANES: Final = Gauge("signalbox_lanes", "Conversations with work waiting or in progress.", "state")
RUNS: Final = Gauge("signalbox_runs_open", "Runs that have not ended.", "state")
APPROVALS: Final = Gauge("signalbox_approvals_pending", "Questions that wait for a person.", "kind")
APPROVALS_AGE: Final = Gauge(
    "signalbox_approvals_oldest_pending_seconds", "Age of the oldest pending question; 0 if none waits."
)
SCHEDULES: Final = Gauge("signalbox_schedules", "Active and paused schedules.", "state")
SCHEDULES_FAILING: Final = Gauge("signalbox_schedules_failing", "Schedules whose last run failed.")
SCHEDULES_LATE: Final = Gauge(
    "signalbox_schedules_overdue_seconds", "How long the most overdue schedule has been waiting."
)
DELIVERIES: Final = Gauge(
    "signalbox_deliveries", "Deliveries that aren't on screen yet.", "channel", "account", "state"
)
DELIVERIES_AGE: Final = Gauge(
    "signalbox_deliveries_oldest_seconds",
    "Age of the oldest delivery on its way; 0 if there is none.",
    "channel",
    "account",
)
UNSETTLED_PARTS: Final = Gauge(
    "signalbox_parts_unsettled", "Parts that may be on screen and are being checked.", "channel", "account"
)
NODES: Final = Gauge("signalbox_nodes", "Live nodes.")
RESTING: Final = Gauge("signalbox_models_resting", "1 for each model that rests after failures.", "model", "cause")

BUDGET_USED: Final = Gauge(
    "signalbox_budget_used_ratio",
    "Largest share of a budget that anybody has used, or that is held for them.",
    "budget",
)
BUDGETS_SPENT: Final = Gauge("signalbox_budgets_spent", "People, rooms or agents that have spent a budget.", "budget")

SINK_BEHIND: Final = Gauge("signalbox_event_sink_behind", "Events that a sink has not taken yet.", "sink")
SINK_FAILING: Final = Gauge(
    "signalbox_event_sink_failing_seconds", "How long a sink has taken nothing; 0 while it takes events.", "sink"
)

OF_THE_STORE: Final[Sequence[Gauge]] = (
    SIGNALS,
    SIGNALS_AGE,
    LANES,
    RUNS,
    APPROVALS,
    APPROVALS_AGE,
    SCHEDULES,
    SCHEDULES_FAILING,
    SCHEDULES_LATE,
    DELIVERIES,
    DELIVERIES_AGE,
    UNSETTLED_PARTS,
    NODES,
    RESTING,
    BUDGET_USED,
    BUDGETS_SPENT,
    SINK_BEHIND,
    SINK_FAILING,
)
ALL_GAUGES: Final[Sequence[Gauge]] = (BUILD, CONNECTED, STATE, STORE_UP, *OF_THE_STORE)

OPEN_RUNS: Final = (RunState.RUNNING, RunState.PARKED, RunState.READY)
PLANNED: Final = (ScheduleState.ACTIVE, ScheduleState.PAUSED)
UNSHOWN: Final = (DeliveryState.QUEUED, DeliveryState.OPEN, DeliveryState.HELD, DeliveryState.DEAD)


def of_process(version: str, adapters: Iterable[ChannelAdapter]) -> Iterator[Reading]:
    yield BUILD, (version,), 1
    for adapter in adapters:
        standing = adapter.standing()
        yield CONNECTED, (adapter.channel, adapter.account), 1 if standing.trouble is None else 0
        for state in Connection:
            yield STATE, (adapter.channel, adapter.account, state), 1 if standing.connection is state else 0


@dataclass(frozen=True, slots=True)
class SinkState:
    """Gauges of sinks of events: `head` is the newest event."""

    head: int
    cursors: Sequence[Cursor]
    now: datetime


NO_SINKS: Final = SinkState(0, (), datetime.min.replace(tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class Found:
    """Findings of one look into the store."""

    depths: Depths
    rests: Sequence[Rest] = ()
    rules: BudgetRules = NO_BUDGETS
    budgets: Sequence[Counter] = ()
    sinks: SinkState = NO_SINKS


def of_store(found: Found | None, labels: Labels) -> Iterator[Reading]:
    """None: the store did not answer. Its gauges are then missing, which is not the same as 0."""
    yield STORE_UP, (), 0 if found is None else 1
    if found is not None:
        yield from _work(found.depths)
        yield from _outbox(found.depths, labels)
        yield from ((RESTING, (rest.model, rest.cause), 1) for rest in found.rests)
        yield from _budgets(found)
        yield from _sinks(found.sinks)


def _sinks(state: SinkState) -> Iterator[Reading]:
    for one in state.cursors:
        yield SINK_BEHIND, (one.sink,), max(state.head - one.number, 0)
        yield SINK_FAILING, (one.sink,), (state.now - one.failing_since).total_seconds() if one.failing_since else 0


def _budgets(found: Found) -> Iterator[Reading]:
    """Of each budget that is set, also where nobody has used any of it."""
    limit_of = found.rules.limit_of
    for scope in found.rules.scopes:
        counted = [
            (one, limit) for one in found.budgets if one.scope is scope and (limit := limit_of(scope, one.subject))
        ]
        yield BUDGET_USED, (scope,), max(((one.used + one.under_way) / limit for one, limit in counted), default=0)
        yield BUDGETS_SPENT, (scope,), sum(one.used >= limit for one, limit in counted)


def _work(depths: Depths) -> Iterator[Reading]:
    yield SIGNALS, (), depths.signals
    yield SIGNALS_AGE, (), _seconds(depths.signals_age)
    for state in LANE_STATES:
        yield LANES, (state,), depths.lanes.get(state, 0)
    for run in OPEN_RUNS:
        yield RUNS, (run,), depths.runs.get(run, 0)
    for kind in ApprovalKind:
        yield APPROVALS, (kind,), depths.approvals.get(kind, 0)
    yield APPROVALS_AGE, (), _seconds(depths.approvals_age)
    for planned in PLANNED:
        yield SCHEDULES, (planned,), depths.schedules.get(planned, 0)
    yield SCHEDULES_FAILING, (), depths.schedules_failing
    yield SCHEDULES_LATE, (), _seconds(depths.schedules_late)
    yield NODES, (), depths.nodes


def _outbox(depths: Depths, labels: Labels) -> Iterator[Reading]:
    for state in UNSHOWN:
        counts = {account: count for (account, other), count in depths.deliveries.items() if other is state}
        for account, count in _named(counts, labels).items():
            yield DELIVERIES, (*account, state), count
    ages = {account: age.total_seconds() for account, age in depths.deliveries_age.items()}
    for account, seconds in _named(ages, labels, join=max).items():
        yield DELIVERIES_AGE, account, seconds
    for account, count in _named(depths.unsettled, labels).items():
        yield UNSETTLED_PARTS, account, count


def _named(
    stored: Mapping[Account, float], labels: Labels, join: Callable[[float, float], float] = add
) -> Mapping[Account, float]:
    """By the names of accounts, each of the settings with at least 0; those that are gone from them share one."""
    found = dict.fromkeys(labels.accounts(), 0.0)
    for identity, value in stored.items():
        account = labels.account(*identity)
        found[account] = join(found.get(account, 0.0), value)
    return found


def _seconds(age: timedelta | None) -> float:
    return age.total_seconds() if age else 0
