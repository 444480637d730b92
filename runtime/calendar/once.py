"""Phrases for one instant: "tomorrow at 14:30", "in 2 hours", "2026-12-24 at 18:00", and what programs write."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from runtime.calendar.errors import WhenError, quoted
from runtime.calendar.plans import At, Unit, When
from runtime.calendar.scene import Scene, bounded, count_of, unit_of
from runtime.calendar.zones import LAST_INSTANT, instant_of, wall_of
from runtime.text.words import marked

DATE: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"


def instant_said(words: str, zone: ZoneInfo, now: datetime) -> At | None:
    """An instant as programs write it, with or without what it is ahead of UTC."""
    found = re.fullmatch(rf"(?:at |on )?({DATE}[t ][0-9]{{2}}:[0-9]{{2}}.*)", words)
    if not found:
        return None
    try:
        said = datetime.fromisoformat(found[1].upper())
        at = said.astimezone(UTC) if said.tzinfo else instant_of(said, zone)
    except (ValueError, OverflowError) as error:
        raise WhenError(
            marked("{words} is not a date and time").format(words=quoted(words)), '"2026-12-24T18:00"'
        ) from error
    return _ahead(at, words, zone, now)


def _ahead(at: datetime, words: str, zone: ZoneInfo, now: datetime) -> At:
    if at >= LAST_INSTANT:
        raise WhenError(
            marked("{words} doesn't exist in the calendar").format(words=quoted(words)), '"2026-12-24 at 18:00"'
        )
    if at <= now:
        shown = f"{wall_of(now, zone):%Y-%m-%d %H:%M} in {zone.key}"
        raise WhenError(
            marked("{words} is in the past: it's now {time}").format(words=quoted(words), time=shown),
            '"tomorrow at 14:30"',
        )
    return At(at)


def next_time(_: re.Match[str], scene: Scene) -> When:
    today = datetime.combine(scene.wall, scene.time())
    at = instant_of(today, scene.zone)
    return At(at if at > scene.now else instant_of(today + timedelta(days=1), scene.zone))


def today_or_tomorrow(found: re.Match[str], scene: Scene) -> When:
    day = scene.wall.date() + timedelta(days=1 if found[1] == "tomorrow" else 0)
    return _once(day, scene)


def on_date(found: re.Match[str], scene: Scene) -> When:
    try:
        day = date.fromisoformat(found[1])
    except ValueError as error:
        raise WhenError(
            marked("{words} is not a date").format(words=quoted(found[1])), '"2026-12-24 at 18:00"'
        ) from error
    return _once(day, scene)


def _once(day: date, scene: Scene) -> When:
    try:
        at = instant_of(datetime.combine(day, scene.time()), scene.zone)
    except OverflowError as error:
        raise WhenError(
            marked("{words} doesn't exist in the calendar").format(words=quoted(scene.words)), '"2026-12-24 at 18:00"'
        ) from error
    return _ahead(at, scene.words, scene.zone, scene.now)


def in_a_while(found: re.Match[str], scene: Scene) -> When:
    """In so and so long. Days and weeks keep the time on the wall, or are given one."""
    unit, count = unit_of(found["unit"], scene), count_of(found["count"], scene)
    length = bounded(count, unit, scene)
    if unit in (Unit.DAY, Unit.WEEK):
        wall = scene.wall.replace(microsecond=0) + length
        wall = datetime.combine(wall, scene.time()) if scene.times else wall
        return _ahead(instant_of(wall, scene.zone), scene.words, scene.zone, scene.now)
    scene.untimed('"in 20 minutes" or "at 14:30"')
    return At(scene.now.astimezone(UTC).replace(microsecond=0) + length)
