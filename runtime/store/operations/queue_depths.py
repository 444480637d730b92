"""Depth and age of the queues right now, for gauges that are read now and then, however long the history is.

Every statement walks a partial index of what is unfinished, so its cost follows the queues and not the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, literal_column, select

from runtime.contract import ApprovalKind, ScheduleState
from runtime.domain.deliveries import DeliveryState
from runtime.domain.runs import RunState
from runtime.store.schema import approvals, deliveries, nodes, parts, runs, schedules, sessions, signals
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op, is_word, moment

LANE_STATES: Final = ("ready", "running", "suspect")

SIGNALS_WAITING = select(func.count(), func.min(signals.c.accepted_at)).where(is_word(signals.c.state, "waiting"))
LANES = {
    state: select(func.count()).select_from(sessions).where(is_word(sessions.c.state, state)) for state in LANE_STATES
}
OPEN_RUNS = (
    select(runs.c.state, func.count()).where(is_word(runs.c.state, "running", "parked", "ready")).group_by(runs.c.state)
)
PENDING_COUNTS = (
    select(approvals.c.kind, func.count(), func.min(approvals.c.asked_at))
    .where(is_word(approvals.c.state, "pending"))
    .group_by(approvals.c.kind)
)
BY_ACCOUNT = (deliveries.c.channel, deliveries.c.account)
LEAVING = (
    select(*BY_ACCOUNT, deliveries.c.state, func.count(), func.min(deliveries.c.created_at))
    .where(is_word(deliveries.c.state, "queued", "open"))
    .group_by(*BY_ACCOUNT, deliveries.c.state)
)
STUCK = (
    select(*BY_ACCOUNT, deliveries.c.state, func.count())
    .where(is_word(deliveries.c.state, "held", "dead"))
    .group_by(*BY_ACCOUNT, deliveries.c.state)
)
UNSETTLED_COUNTS = (
    select(*BY_ACCOUNT, func.count())
    .join(parts, parts.c.delivery_id == deliveries.c.id)
    .where(is_word(deliveries.c.state, "queued", "open"), is_word(parts.c.state, "unsettled"))
    .group_by(*BY_ACCOUNT)
)
PLANNED = (
    select(schedules.c.state, func.count(), func.count().filter(schedules.c.failures > literal_column("0")))
    .where(is_word(schedules.c.state, "active", "paused"))
    .group_by(schedules.c.state)
)
DUE = select(func.min(schedules.c.due_at)).where(is_word(schedules.c.state, "active"))
LIVE_NODES = select(func.count()).select_from(nodes).where(is_word(nodes.c.state, "live"))

Account = tuple[str, str]
"""A channel, and the account's own identity there."""


@dataclass(frozen=True, slots=True)
class Depths:
    """Queues at one moment. Ages are of the oldest, and absent where nothing waits."""

    signals: int = 0
    signals_age: timedelta | None = None
    lanes: Mapping[str, int] = field(default_factory=dict)
    runs: Mapping[RunState, int] = field(default_factory=dict)
    approvals: Mapping[ApprovalKind, int] = field(default_factory=dict)
    approvals_age: timedelta | None = None
    deliveries: Mapping[tuple[Account, DeliveryState], int] = field(default_factory=dict)
    deliveries_age: Mapping[Account, timedelta] = field(default_factory=dict)
    unsettled: Mapping[Account, int] = field(default_factory=dict)
    schedules: Mapping[ScheduleState, int] = field(default_factory=dict)
    schedules_failing: int = 0
    schedules_late: timedelta | None = None
    nodes: int = 0


def depths(now: datetime) -> Op[Depths]:
    waiting, oldest = (yield SIGNALS_WAITING, {})[0]
    lanes = {}
    for state, statement in LANES.items():
        lanes[state] = int((yield statement, {})[0][0])
    open_runs = yield OPEN_RUNS, {}
    pending = yield PENDING_COUNTS, {}
    leaving = yield LEAVING, {}
    stuck = yield STUCK, {}
    unsettled = yield UNSETTLED_COUNTS, {}
    planned = yield PLANNED, {}
    due = (yield DUE, {})[0][0]
    live = yield LIVE_NODES, {}
    return Depths(
        signals=int(waiting),
        signals_age=_age(now, oldest),
        lanes=lanes,
        runs={RunState(state): int(count) for state, count in open_runs},
        approvals={ApprovalKind(kind): int(count) for kind, count, _ in pending},
        approvals_age=_age(now, *(asked for _, _, asked in pending)),
        deliveries={((c, a), DeliveryState(s)): int(count) for c, a, s, count, *_ in (*leaving, *stuck)},
        deliveries_age=_ages(now, [((c, a), since) for c, a, _, _, since in leaving]),
        unsettled={(c, a): int(count) for c, a, count in unsettled},
        schedules={ScheduleState(state): int(count) for state, count, _ in planned},
        schedules_failing=sum(int(failing) for _, _, failing in planned),
        schedules_late=_age(now, due),
        nodes=int(live[0][0]),
    )


def _age(now: datetime, *since: int | None) -> timedelta | None:
    known = [at for at in since if at is not None]
    return max(now - moment(min(known)), timedelta()) if known else None


def _ages(now: datetime, since: Sequence[tuple[Account, int]]) -> Mapping[Account, timedelta]:
    oldest: dict[Account, int] = {}
    for account, at in since:
        oldest[account] = min(at, oldest.get(account, at))
    return {account: max(now - moment(at), timedelta()) for account, at in oldest.items()}


class QueueStore(Base):
    """Store for the gauges."""

    async def depths(self) -> Depths:
        now = self.now()
        return await self._driver.read(lambda: depths(now))
