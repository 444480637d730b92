"""Due times. The rule for clocks that are set forward or back, in full:

- A time on the wall that is skipped is later by what was skipped; if something is due there anyway, it is due once.
- Of a time that comes twice, hours that somebody chose (`30 2 * * *`, "daily at 2:30") are due the first time only,
  hours that are a pattern (`*`, `*/2`, `0-23`) both times.
- Minutes and hours of an interval are time that passes, and know of no clocks. Days and weeks keep the time on the wall.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import Final
from zoneinfo import ZoneInfo

from runtime.calendar.cron import Cron, values_of
from runtime.calendar.plans import At, Every, Planned
from runtime.calendar.wall_clock import next_wall
from runtime.calendar.zones import (
    DAY,
    FIRST_INSTANT,
    LAST_INSTANT,
    WIDEST,
    Stretch,
    instant_of,
    stretch,
    wall_of,
    zone_named,
)

SMALLEST_STEP: Final = timedelta(microseconds=1)


def next_after(planned: Planned, after: datetime, *, anchor: datetime) -> datetime | None:
    """The first instant strictly after `after`; None: never again.

    Shape:  aware, in UTC. `anchor` is where intervals count from, and is an instant of theirs itself.
    Errors: WhenError when `planned` names no zone, which `plan` and `read` have seen to.
    """
    start = max(after.astimezone(UTC) + SMALLEST_STEP, FIRST_INSTANT)
    if start >= LAST_INSTANT:
        return None
    match planned.when:
        case Cron() as cron:
            return _of_cron(cron, zone_named(planned.zone), start)
        case Every() as every if every.on_the_wall:
            return _of_days(every, zone_named(planned.zone), start, anchor.astimezone(UTC))
        case Every() as every:
            return _of_hours(every, start, anchor.astimezone(UTC))
        case At(instant):
            return instant if instant >= start else None


def instants(
    planned: Planned, after: datetime, *, anchor: datetime, most: int, until: datetime | None = None
) -> Iterator[datetime]:
    """The instants strictly after `after`, oldest first: at most `most` of them, and none later than `until`."""
    return islice(takewhile(lambda at: until is None or at <= until, _all(planned, after, anchor)), most)


def _all(planned: Planned, after: datetime, anchor: datetime) -> Iterator[datetime]:
    at: datetime | None = after
    while at is not None and (at := next_after(planned, at, anchor=anchor)) is not None:
        yield at


def _of_hours(every: Every, start: datetime, anchor: datetime) -> datetime:
    return anchor + max(-((anchor - start) // every.step), 0) * every.step


def _of_days(every: Every, zone: ZoneInfo, start: datetime, anchor: datetime) -> datetime:
    """Walls a whole number of steps after the first. No clock is set by more than a step, so two or three are tried."""
    if every.at is None and start <= anchor:
        return anchor
    base = _base(every, zone, anchor)
    number = max((wall_of(start, zone) - base) // every.step, 0)
    while (found := instant_of(base + number * every.step, zone)) < max(start, anchor):
        number += 1
    return found


def _base(every: Every, zone: ZoneInfo, anchor: datetime) -> datetime:
    """The first wall: that of the anchor, or the first with the wanted time and weekday that is not before it."""
    wall = wall_of(anchor, zone)
    if every.at is None:
        return wall
    base = datetime.combine(wall.date(), every.at)
    while instant_of(base, zone) < anchor or every.weekday not in (None, base.weekday()):
        base += DAY
    return base


def _of_cron(cron: Cron, zone: ZoneInfo, start: datetime) -> datetime | None:
    """Go from stretch to stretch, leaping over those in which no wall can be named.

    A leap ends `WIDEST` before the next named wall, so what is looked for is in that stretch or the next two: 29 February
    over a century takes no more looks than tomorrow. There is no leap over a change of clocks that is near, since walls
    that were seen may be shown again after it.
    """
    while start < LAST_INSTANT:
        here = stretch(zone, start)
        wall = next_wall(cron, (start + here.offset).replace(tzinfo=None))
        found = [at for at in _within(cron, here, start, wall) if here.begins <= at < here.ends]
        if found:
            return min(found)
        far = wall.replace(tzinfo=UTC) - here.offset - WIDEST if wall else LAST_INSTANT
        start = max(here.ends, far) if here.ends - start > WIDEST else here.ends
    return None


def _within(cron: Cron, here: Stretch, start: datetime, wall: datetime | None) -> Iterator[datetime]:
    """Instants that may be due in a stretch, not before `start`, where `wall` is the next one named."""
    if start < here.begins + here.set_by and (skipped := _skipped(cron, here, start)):
        yield skipped
    fresh = here.begins - here.set_by  # until then the clocks, set back, show again what they had shown
    if start < fresh and not values_of(cron).every_hour:
        wall = next_wall(cron, (fresh + here.offset).replace(tzinfo=None))
    if wall is not None:
        yield wall.replace(tzinfo=UTC) - here.offset


def _skipped(cron: Cron, here: Stretch, start: datetime) -> datetime | None:
    """The next of the walls that were skipped when the clocks were set forward. As instants they follow the change."""
    wall = next_wall(cron, (start + here.before).replace(tzinfo=None))
    at = wall.replace(tzinfo=UTC) - here.before if wall else None
    return at if at and at < here.begins + here.set_by else None
