"""The store as schedules see it: whole transactions again, see `protocol`."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from runtime.contract import Address, Occurrence, OccurrenceId, Report, RunId, Schedule, ScheduleId
from runtime.domain.schedules import Firing, ScheduleEvent


class Schedules(Protocol):
    """Schedules and their instants. `by` is who did it, for the audit."""

    async def add_schedule(self, schedule: Schedule, due_at: datetime | None, by: str) -> bool:
        """False when there is one with its id, or its home has one of its name."""

    async def change_schedule(self, schedule: Schedule, due_at: datetime | None, by: str, *, retimed: bool) -> bool:
        """Write it as it is given; False when it was removed, or its home has another of its name.

        Unless it is `retimed` its state, its next instant and when that fires stay as the store has them.
        """

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
        """Pause, resume (with its next instant; failures are forgotten), end or remove. False where it is no move."""

    async def schedule(self, schedule: ScheduleId) -> Schedule | None: ...

    async def schedules(self) -> list[Schedule]:
        """All but removed ones, by their next instant; at most 1,000."""

    async def schedules_of_file(self) -> list[Schedule]:
        """Schedules of the settings file, but for removed ones."""

    async def due_schedules(self, now: datetime, *, limit: int = 100) -> list[Schedule]:
        """Active ones whose time has come, the longest due first."""

    async def next_due(self) -> datetime | None:
        """Time of the next instant or retry, in UTC; None if nothing is planned."""

    async def schedule_counts(self, owner: str | None, home: Address) -> tuple[int, int]:
        """Numbers of active or paused schedules: of this person, and with this home."""

    async def zone_of(self, person: str, room: str) -> str:
        """The zone in which a person reads clocks, else that of the room; empty where neither is known."""

    async def set_zone(self, subject: str, zone: str, by: str) -> None: ...

    async def fire(self, firing: Firing) -> bool | None:
        """Write what has come and start it; whether a lane became ready. None: another was faster, nothing happened."""

    async def fire_again(self, occurrence: OccurrenceId) -> bool:
        """One more try; whether a lane became ready."""

    async def run_schedule(
        self, schedule: ScheduleId, by: str, occurrence: OccurrenceId | None = None
    ) -> Occurrence | None:
        """A manual occurrence, started; None where there is no such schedule, or there is an `occurrence` of this id already."""

    async def occurrence_of(self, run: RunId) -> Occurrence | None:
        """The occurrence that a run works for; None for other work."""

    async def occurrence(self, occurrence: OccurrenceId) -> Occurrence | None: ...

    async def begin_report(self, report: Report, by: str) -> None:
        """Start it. It is asked for as the only occurrence of what has its id."""

    async def occurrences(self, schedule: ScheduleId, *, limit: int = 20) -> list[Occurrence]:
        """Newest first, with the number of reports on screen."""

    async def report_root(self, schedule: ScheduleId, room: Address) -> str:
        """The wire's id of the message under which a running thread of its reports goes on there; empty: there is none."""

    async def due_again(self, now: datetime, *, limit: int = 100) -> list[OccurrenceId]:
        """Occurrences whose next try is due."""
