"""The rule for clocks that are set, a second time and in the plainest way: minute by minute.

Which walls an expression names is told by another library. Whether they are there once, twice or never is seen by
walking over the minutes and looking at the clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

from cronsim import CronSim

MINUTE: Final = timedelta(minutes=1)
HOURS: Final = timedelta(hours=8)
"""On either side of a change of clocks."""


@dataclass(frozen=True)
class Window:
    """The minutes around a change of clocks: what they show, which of those a second time, and what is not shown."""

    begins: datetime
    ends: datetime
    shown: dict[datetime, datetime]
    again: dict[datetime, datetime]
    skipped: dict[datetime, datetime]


def changes(zone: ZoneInfo, year: int) -> Iterator[datetime]:
    """The minutes at which the clocks are set."""
    step = timedelta(hours=6)
    at = datetime(year, 1, 1, tzinfo=UTC)
    while at.year == year:
        if _ahead(zone, at) != _ahead(zone, at + step):
            yield next(m for m in _minutes(at, at + step) if _ahead(zone, m - MINUTE) != _ahead(zone, m))
        at += step


@cache
def window(zone: ZoneInfo, change: datetime) -> Window:
    made = Window(change - HOURS, change + HOURS, {}, {}, {})
    for at in _minutes(made.begins, made.ends):
        wall = at.astimezone(zone)
        (made.again if wall.fold else made.shown)[wall.replace(tzinfo=None, fold=0)] = at
    gap = _ahead(zone, change) - _ahead(zone, change - MINUTE)
    first = (change - MINUTE).astimezone(zone).replace(tzinfo=None, fold=0) + MINUTE
    for number in range(max(int(gap / MINUTE), 0)):
        made.skipped[first + number * MINUTE] = change + number * MINUTE  # the minutes that follow stand in for them
    return made


def due(text: str, around: Window, *, pattern: bool) -> list[datetime]:
    """By the rule; `pattern` says whether its hours are one."""
    places = [around.shown, around.skipped, *([around.again] if pattern else [])]
    walls = named(text, min(around.shown), max(around.shown))
    return sorted({place[wall] for wall in walls for place in places if wall in place})


def named(text: str, begins: datetime, ends: datetime) -> list[datetime]:
    """The walls that an expression names, without any zone."""
    found = []
    for wall in CronSim(text, begins - MINUTE):
        if wall > ends:
            break
        found.append(wall)
    return found


def _minutes(begins: datetime, ends: datetime) -> Iterator[datetime]:
    while begins <= ends:
        yield begins
        begins += MINUTE


def _ahead(zone: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(zone).replace(tzinfo=None) - at.replace(tzinfo=None)
