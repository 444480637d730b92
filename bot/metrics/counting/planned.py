"""Instants of schedules, counted by what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.metrics.counting.base import NOTHING, Counting
from runtime.contract import ModelReply, Occurrence, OccurrenceId, Report, RunId, ScheduleId
from runtime.domain.runs import RunState
from runtime.domain.schedules import Firing
from runtime.store.intake.occurrences import OccurrenceStore
from runtime.store.protocol import Lane, NewDelivery, Released
from runtime.store.runs.lanes import LaneStore

ENDS: Final = {RunState.DONE: "done", RunState.FAILED: "failed", RunState.STOPPED: "stopped"}


class CountedInstants(Counting, LaneStore, OccurrenceStore):
    """Each try of an occurrence counts, since each may fail."""

    async def fire(self, firing: Firing) -> bool | None:
        started = await super().fire(firing)
        if started is not None:
            self._fired(firing, started=started)
        return started

    def _fired(self, firing: Firing, *, started: bool) -> None:
        """What was to be started is skipped where the one before is at work still, or the money is spent."""
        begun = [one.planned_at for one in firing.instants if not one.skip] if started else []
        now = self.now()
        for planned_at in begun:
            self._meters.instants.add("started")
            self._meters.schedule_lag.observe(max(now - planned_at, NOTHING).total_seconds())
        if skipped := len(firing.instants) - len(begun):
            self._meters.instants.add("skipped", by=skipped)

    async def fire_again(self, occurrence: OccurrenceId) -> bool:
        started = await super().fire_again(occurrence)
        if started:
            self._meters.instants.add("started")
        return started

    async def run_schedule(self, schedule: ScheduleId, by: str) -> Occurrence | None:
        started = await super().run_schedule(schedule, by)
        if started:
            self._meters.instants.add("started")
        return started

    async def begin_report(self, report: Report, by: str) -> None:
        await super().begin_report(report, by)
        self._meters.instants.add("started")

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
        if released and released.planned:
            silent = state is RunState.DONE and not deliveries
            self._meters.instants.add("silent" if silent else ENDS[state])
        return released
