"""Schedules and their occurrences as the timer and the commands see them."""

from __future__ import annotations

from datetime import datetime

from runtime.contract import Address, Occurrence, OccurrenceId, Report, RunId, Schedule, ScheduleId
from runtime.domain.schedules import Firing, ScheduleEvent
from runtime.store.intake.occurrences import (
    again,
    begin_report,
    due_again,
    fire,
    history,
    occurrence_by_id,
    occurrence_by_run,
    report_root,
    run_now,
)
from runtime.store.schedules.book import (
    add_schedule,
    change,
    counts,
    due,
    keep_zone,
    listed,
    next_due,
    of_file,
    one,
    turn,
    zones_of,
)
from runtime.store.sql.base import Base


class ScheduleStore(Base):
    """Implements `protocol.Schedules`."""

    async def add_schedule(self, schedule: Schedule, due_at: datetime | None, by: str) -> bool:
        now = self.now()
        return await self._driver.write(lambda: add_schedule(schedule, due_at, by, now))

    async def change_schedule(self, schedule: Schedule, due_at: datetime | None, by: str, *, retimed: bool) -> bool:
        now = self.now()
        return await self._driver.write(lambda: change(schedule, due_at, by, now, retimed=retimed))

    async def turn_schedule(
        self,
        schedule: ScheduleId,
        event: ScheduleEvent,
        *,
        reason: str = "",
        by: str = "",
        next_at: datetime | None = None,
        due_at: datetime | None = None,
    ) -> bool:
        now = self.now()
        return await self._driver.write(lambda: turn(schedule, event, reason, by, next_at, due_at, now))

    async def schedule(self, schedule: ScheduleId) -> Schedule | None:
        return await self._driver.read(lambda: one(schedule))

    async def schedules(self) -> list[Schedule]:
        return await self._driver.read(listed)

    async def schedules_of_file(self) -> list[Schedule]:
        return await self._driver.read(of_file)

    async def due_schedules(self, now: datetime, *, limit: int = 100) -> list[Schedule]:
        return await self._driver.read(lambda: due(now, limit))

    async def next_due(self) -> datetime | None:
        return await self._driver.read(next_due)

    async def schedule_counts(self, owner: str | None, home: Address) -> tuple[int, int]:
        return await self._driver.read(lambda: counts(owner, home))

    async def zone_of(self, person: str, room: str) -> str:
        found = await self._driver.read(lambda: zones_of(person, room))
        return found.get(person) or found.get(room) or ""

    async def set_zone(self, subject: str, zone: str, by: str) -> None:
        now = self.now()
        await self._driver.write(lambda: keep_zone(subject, zone, by, now))

    async def fire(self, firing: Firing) -> bool | None:
        now = self.now()
        started = await self._driver.write(lambda: fire(firing, now, self._new_id))
        if started is not None:
            self._observer.fired(firing, self.now(), started=started)
        return started

    async def fire_again(self, occurrence: OccurrenceId) -> bool:
        now = self.now()
        started = await self._driver.write(lambda: again(occurrence, now, self._new_id))
        if started:
            self._observer.tried()
        return started

    async def run_schedule(
        self, schedule: ScheduleId, by: str, occurrence: OccurrenceId | None = None
    ) -> Occurrence | None:
        now = self.now()
        started = await self._driver.write(lambda: run_now(schedule, by, now, self._new_id, occurrence))
        if started:
            self._observer.tried()
        return started

    async def occurrence_of(self, run: RunId) -> Occurrence | None:
        return await self._driver.read(lambda: occurrence_by_run(run))

    async def occurrence(self, occurrence: OccurrenceId) -> Occurrence | None:
        return await self._driver.read(lambda: occurrence_by_id(occurrence))

    async def begin_report(self, report: Report, by: str) -> None:
        now = self.now()
        await self._driver.write(lambda: begin_report(report, by, now, self._new_id))
        self._observer.tried()

    async def occurrences(self, schedule: ScheduleId, *, limit: int = 20) -> list[Occurrence]:
        return await self._driver.read(lambda: history(schedule, limit))

    async def report_root(self, schedule: ScheduleId, room: Address) -> str:
        return await self._driver.read(lambda: report_root(schedule, room))

    async def due_again(self, now: datetime, *, limit: int = 100) -> list[OccurrenceId]:
        return await self._driver.read(lambda: due_again(now, limit))
