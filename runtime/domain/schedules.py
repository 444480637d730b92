"""Schedules and their instants as state machines, and what is decided when an instant has come. No I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from runtime.contract import (
    Misfire,
    OccurrenceId,
    OccurrenceState,
    Report,
    Schedule,
    ScheduleId,
    ScheduleState,
    SessionKey,
    TaskKind,
    Terms,
)

LATE: Final = timedelta(minutes=1)
"""An instant that is older was missed: nobody was there to fire it."""
SKIPPED_ROWS_MAX: Final = 100
"""Skipped instants that get a row of their own; the oldest of them tells how many came before it."""
WAITS: Final = (timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=20), timedelta(hours=1))
"""Between the tries of one occurrence."""
PAUSED_AFTER: Final = 5
"""Failures in a row, tries of one occurrence among them."""
RESULT_MAX_CHARS: Final = 8_000
"""Characters of a report that are kept for the next one to know."""

NO_NEWS: Final = "NO NEWS"
NO_MODEL: Final = "template"
"""What stands as the model in the usage of a report that asked none."""
MISSED: Final = "missed: nothing was running then"
MADE_UP: Final = "missed: one run makes up for them all"
OVERLAPS: Final = "the previous run was still working"
SPENT: Final = "its daily limit was reached"


class ScheduleEvent(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    END = "end"
    REMOVE = "remove"


# All moves are here and nowhere else. A state without a row is final.
SCHEDULE_MOVES: Final[Mapping[tuple[ScheduleState, ScheduleEvent], ScheduleState]] = {
    (ScheduleState.ACTIVE, ScheduleEvent.PAUSE): ScheduleState.PAUSED,
    (ScheduleState.ACTIVE, ScheduleEvent.END): ScheduleState.ENDED,
    (ScheduleState.ACTIVE, ScheduleEvent.REMOVE): ScheduleState.REMOVED,
    (ScheduleState.PAUSED, ScheduleEvent.RESUME): ScheduleState.ACTIVE,
    (ScheduleState.PAUSED, ScheduleEvent.END): ScheduleState.ENDED,
    (ScheduleState.PAUSED, ScheduleEvent.REMOVE): ScheduleState.REMOVED,
    (ScheduleState.ENDED, ScheduleEvent.RESUME): ScheduleState.ACTIVE,  # it was changed, and has instants again
    (ScheduleState.ENDED, ScheduleEvent.REMOVE): ScheduleState.REMOVED,
}


class OccurrenceEvent(StrEnum):
    START = "start"
    FINISH = "finish"
    FAIL = "fail"
    AGAIN = "again"


# One that is skipped is written down as such, and never moves.
OCCURRENCE_MOVES: Final[Mapping[tuple[OccurrenceState, OccurrenceEvent], OccurrenceState]] = {
    (OccurrenceState.PLANNED, OccurrenceEvent.START): OccurrenceState.STARTED,
    (OccurrenceState.PLANNED, OccurrenceEvent.FAIL): OccurrenceState.FAILED,  # the next one came first
    (OccurrenceState.STARTED, OccurrenceEvent.FINISH): OccurrenceState.DONE,
    (OccurrenceState.STARTED, OccurrenceEvent.FAIL): OccurrenceState.FAILED,
    (OccurrenceState.STARTED, OccurrenceEvent.AGAIN): OccurrenceState.PLANNED,
}


@dataclass(frozen=True, slots=True)
class Instant:
    """A planned instant that has come. `skip` says why it is not fired; empty: it is."""

    planned_at: datetime
    skip: str = ""


@dataclass(frozen=True, slots=True)
class Firing:
    """Changes that the timer wants written for one schedule.

    `expected` is the instant it saw as the next one: where the store has another by then, nothing is written. `next_at`
    and `due_at` are what comes after; None: the schedule has ended.
    """

    schedule: ScheduleId
    expected: datetime
    instants: Sequence[Instant]
    next_at: datetime | None
    due_at: datetime | None


def sorted_out(terms: Terms, instants: Sequence[datetime], now: datetime) -> list[Instant]:
    """Sort the instants that have come, oldest first, into fired and skipped."""
    missed = [at for at in instants if at < now - LATE - terms.jitter]
    fresh = [Instant(at) for at in instants[len(missed) :]]
    made_up = set(_made_up(terms, missed, now)) if not fresh or terms.misfire is not Misfire.ONCE else set()
    why = MADE_UP if terms.misfire is Misfire.ONCE else MISSED
    told = [Instant(at, "" if at in made_up else why) for at in missed]
    return _shortened(told) + fresh


def _made_up(terms: Terms, missed: Sequence[datetime], now: datetime) -> Sequence[datetime]:
    match terms.misfire:
        case Misfire.SKIP:
            return []
        case Misfire.ONCE:
            return missed[-1:]
        case Misfire.ALL:
            return missed[-terms.catch_up :] if terms.catch_up else []
        case Misfire.WINDOW:
            return [at for at in missed if at >= now - terms.window][-SKIPPED_ROWS_MAX:]


def _shortened(told: Sequence[Instant]) -> list[Instant]:
    """At most `SKIPPED_ROWS_MAX` skipped ones, the newest; the oldest of them speaks for all before it."""
    skipped = [one for one in told if one.skip]
    if len(skipped) <= SKIPPED_ROWS_MAX:
        return list(told)
    first = skipped[-SKIPPED_ROWS_MAX]
    spoken = Instant(first.planned_at, f"{first.skip}, and {len(skipped) - SKIPPED_ROWS_MAX:,} before this")
    return [spoken, *(one for one in told if not one.skip or one.planned_at > first.planned_at)]


@dataclass(frozen=True, slots=True)
class AfterFailure:
    """`again` is when it is tried once more; None: it is given up. `pause`: its schedule stops, and that is told."""

    again: datetime | None
    pause: bool


def after_failure(
    *, attempts: int, failures: int, now: datetime, next_at: datetime | None, manual: bool
) -> AfterFailure:
    """Consequence of a failed try: `attempts` of its occurrence and `failures` in a row, both with this one."""
    if failures >= PAUSED_AFTER:
        return AfterFailure(None, pause=True)
    if manual or attempts > len(WAITS):
        return AfterFailure(None, pause=False)
    again = now + WAITS[attempts - 1]
    return AfterFailure(None if next_at and next_at <= again else again, pause=False)


def put_off(until: datetime, next_at: datetime | None, *, manual: bool) -> datetime | None:
    """The next try of an occurrence for which nothing can be done before `until`; None where its next instant comes first, or
    a person asked for it and can ask again."""
    return None if manual or (next_at and next_at <= until) else until


BEGUN_BY_HAND: Final = {TaskKind.WORKFLOW: "Workflow", TaskKind.GOAL: "Goal"}
"""Work that a person begins; a workflow may be a schedule's, too."""


def said(work: Schedule | Report, planned: str, previous: str) -> str:
    """Words that the agent reads. The task stands in it as it was written; `planned` is the instant in words."""
    if work.task.kind in BEGUN_BY_HAND and isinstance(work, Report):
        return f"[{BEGUN_BY_HAND[work.task.kind]} {work.name!r}, begun on {planned}]"
    if work.task.kind is not TaskKind.PROMPT:
        return f"[Scheduled report {work.name!r}, planned for {planned}]"
    quiet = f" If there is nothing new, answer {NO_NEWS} and nothing else." if work.terms.quiet else ""
    begun = f"Scheduled work {work.name!r}, planned for {planned}"
    if isinstance(work, Report) and work.because:
        begun = f"The trigger {work.name!r} fired on {planned}, because {work.because}"
    opening = (
        f"[{begun}. Nobody in this room is waiting for your questions: your answer is posted there as a report.{quiet}]"
    )
    parts = [opening, work.task.text]
    if previous:
        parts.append(f"[Your report before this one said:]\n{previous}")
    return "\n\n".join(parts)


def is_silent(terms: Terms, text: str) -> bool:
    """True if a report has no news, and its schedule wants those not shown."""
    told = text.strip().strip("*_`.").strip()
    return terms.quiet and (not told or told.upper() == NO_NEWS)


def session_of(work: Schedule | Report, occurrence: OccurrenceId, attempt: int) -> SessionKey:
    """The session that a try of an occurrence has to itself.

    Nodes of older versions read the occurrence behind `timer|`, and then its schedule, which a report has not.
    """
    return SessionKey(f"{'timer' if isinstance(work, Schedule) else 'report'}|{occurrence}|{attempt}")


def origin_of(occurrence: OccurrenceId) -> str:
    """The origin of its reports, one a destination."""
    return f"occurrence:{occurrence}"
