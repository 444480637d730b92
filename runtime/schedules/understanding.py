"""Wishes for schedules, understood and checked: pure functions over the calendar.

What is refused is a ToolRetry that names the field: its words are for whoever asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from runtime.calendar import Planned, WhenError, in_words, instants, next_after, plan, zone_named
from runtime.chat.views.schedules import room_of
from runtime.contract import Asker, Role, Schedule, ScheduleRequest, Task, TaskKind
from runtime.errors import ToolRetry
from runtime.text.words import marked

SCHEDULE_NAME_MAX_CHARS: Final = 60  # characters
TASK: Final = 20_000  # characters
LOOKED_AT: Final = 60
"""Instants between which the least distance is measured: an hour of every minute."""
NAME_MAX_WORDS: Final = 4
"""Words of a task that become its name."""
REMINDER: Final = re.compile(r"\s*remind me\b(?: (?:to|that)\b)?", re.IGNORECASE)
"""How the task of a reminder begins, which tells nothing of it."""


def understood(words: str, zone: str, now: datetime) -> Planned:
    """The rule that `words` stand for by the clocks of `zone`, unless they name others. Errors: ToolRetry."""
    there = zone_of(zone)
    try:
        return plan(words, zone=there, now=now)
    except WhenError as error:
        raise ToolRetry(str(error), "when") from error


def zone_of(zone: str) -> str:
    """The full name of a zone. Errors: ToolRetry."""
    try:
        return zone_named(zone).key
    except WhenError as error:
        raise ToolRetry(str(error), "zone") from error


def is_retimed(wanted: ScheduleRequest) -> bool:
    """True if a change moves the instants: all else leaves them, also one that is due at this moment."""
    return any(text.strip() for text in (wanted.when, wanted.zone, wanted.starts, wanted.ends))


def who(asker: Asker) -> str:
    """For the audit."""
    return asker.hand or asker_name(asker)


def asker_name(asker: Asker) -> str:
    return asker.person.name if asker.person else asker.identity


def is_here(schedule: Schedule, asker: Asker) -> bool:
    """True if its home is the asker's room, in whatever thread."""
    return room_of(schedule.home) == room_of(asker.address)


def is_theirs(schedule: Schedule, asker: Asker) -> bool:
    if asker.person is None:
        return False
    own = schedule.owner is not None and schedule.owner.id == asker.person.id
    return own or asker.person.role >= Role.OPERATOR


def first_instant(
    rule: Planned, now: datetime, anchor: datetime, starts: datetime | None, ends: datetime | None
) -> datetime:
    """The first instant to come. Errors: ToolRetry where there is none."""
    tick = timedelta(microseconds=1)
    found = next_after(rule, max(now, starts - tick) if starts else now, anchor=anchor)
    if found is None or (ends and found > ends):
        raise ToolRetry(marked("{when}: it would never run.").format(when=in_words(rule)), "when")
    return found


def least_interval(rule: Planned, now: datetime, anchor: datetime, least: timedelta) -> None:
    """Errors: ToolRetry where two of the next instants are closer than may be."""
    coming = list(instants(rule, now, anchor=anchor, most=LOOKED_AT))
    closest = min((b - a for a, b in pairwise(coming)), default=least)
    if closest < least:
        raise ToolRetry(
            marked("{when} is too often: runs must be at least {least} apart.").format(
                when=in_words(rule), least=least
            ),
            "when",
        )


def coming(schedule: Schedule, rule: Planned, now: datetime, count: int) -> list[datetime]:
    """Its next instants as if it began to count now. Errors: ToolRetry where there is none."""
    anchor, ends = schedule.anchor_at, schedule.ends_at
    first = first_instant(rule, now, anchor, schedule.starts_at, ends)
    return [first, *instants(rule, first, anchor=anchor, most=count - 1, until=ends)]


def field_faults(wanted: ScheduleRequest) -> dict[str, str]:
    """Faults that a field shows by itself, by the names of the fields."""
    faults: dict[str, str] = {}
    checks: tuple[Callable[[], object], ...] = (
        lambda: checked_name(wanted.name),
        lambda: wanted.task and checked_task(wanted.task),
        lambda: wanted.zone.strip() and zone_of(wanted.zone),
    )
    for check in checks:
        try:
            check()
        except ToolRetry as error:
            faults[error.field] = str(error)
    return faults


def checked_task(task: Task | None) -> Task:
    if task is None or not task.text.strip():
        raise ToolRetry(marked("Say what the agent should do then."), "task")
    if len(task.text) > TASK:
        raise ToolRetry(
            marked("The task has {number} characters; {most} is the most.").format(
                number=f"{len(task.text):,}", most=f"{TASK:,}"
            ),
            "task",
        )
    return task


def changed_task(old: Task, wanted: Task | None, asker: Asker) -> Task:
    """The work as it is from now on. What an agent changes stays within all agents above it; what people write is theirs."""
    chain = tuple(dict.fromkeys((*old.chain, *asker.above))) if wanted is None or asker.agent else ()
    return replace(checked_task(wanted) if wanted else old, chain=chain)


def checked_name(name: str) -> str:
    clean = " ".join(name.split())
    if len(clean) > SCHEDULE_NAME_MAX_CHARS:
        raise ToolRetry(
            marked("A name has at most {most} characters; this has {number}.").format(
                most=SCHEDULE_NAME_MAX_CHARS, number=len(clean)
            ),
            "name",
        )
    return clean


def name_of(task: Task) -> str:
    """A name made of the first words of a task."""
    words = re.findall(r"[^\W_]+(?:['-][^\W_]+)*", REMINDER.sub("", task.text))
    return " ".join(words[:NAME_MAX_WORDS]).lower()[:SCHEDULE_NAME_MAX_CHARS] or TaskKind(task.kind).value
