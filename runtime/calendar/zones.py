"""Zones of the IANA data: their names, when their clocks are changed, and which instant a time on the wall is.

The rule for times on the wall: one that is skipped by a clock set forward is later by what was skipped; one that comes
twice is the first of the two. Python's `fold=0` is that rule, so it stands here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo

from runtime.calendar.errors import WhenError, quoted
from runtime.text.words import marked

LONGEST_NAME: Final = 64
"""Characters; the longest name of the data has 32."""
WIDEST: Final = timedelta(hours=26)
"""No clock was ever set by more: two islands of the Pacific left out a whole day."""
FIRST_INSTANT: Final = datetime(1970, 1, 1, tzinfo=UTC)
LAST_INSTANT: Final = datetime(9900, 1, 1, tzinfo=UTC)
"""Between them dates can be reckoned with, and none falls off a calendar: APScheduler's begins in 1970."""
DAY: Final = timedelta(days=1)
SECOND: Final = timedelta(seconds=1)
ZONE_EXAMPLES: Final = "Europe/Berlin, America/New_York or UTC"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Time in which the clocks of a zone are not changed: from `begins` until before `ends`.

    `offset` is what the clocks are ahead of UTC, `before` what they were ahead until then.
    """

    begins: datetime
    ends: datetime
    offset: timedelta
    before: timedelta

    @property
    def set_by(self) -> timedelta:
        """The distance by which the clocks were set forward when it began; negative: back."""
        return self.offset - self.before


def zone_named(name: str) -> ZoneInfo:
    """The zone `name`: a name of the IANA data, or a city in it, in any case, with blanks or underscores.

    Errors: WhenError with the nearest names; for a city that is several zones, with all of them.
    """
    wanted = "_".join(name.split()).casefold()
    found = _names().get(wanted, ()) if len(name) <= LONGEST_NAME else ()
    if len(found) == 1 or len({_data(key) for key in found}) == 1:
        return ZoneInfo(found[0])
    if found:
        raise WhenError(
            marked("{name} is {number} time zones: {zones}").format(
                name=quoted(name), number=len(found), zones=", ".join(found)
            ),
            found[0],
        )
    near = _nearest(wanted[:LONGEST_NAME])
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    raise WhenError(
        marked("There is no time zone called {name}{meant}").format(name=quoted(name), meant=meant),
        near[0] if near else ZONE_EXAMPLES,
    )


def instant_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """The instant, in UTC, at which the clocks of `zone` show `wall`: the first of two, by the rule above."""
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC)


def wall_of(at: datetime, zone: ZoneInfo) -> datetime:
    """Time that the clocks of `zone` show at an instant, without the zone."""
    return at.astimezone(zone).replace(tzinfo=None, fold=0)


def stretch(zone: ZoneInfo, at: datetime) -> Stretch:
    """The stretch that `at` is in, cut at the end of its year: then asking never means to look at more than two."""
    moments = [*changes(zone, at.year - 1), *changes(zone, at.year), datetime(at.year + 1, 1, 1, tzinfo=UTC)]
    begins = max((moment for moment in moments if moment <= at), default=datetime(at.year - 1, 1, 1, tzinfo=UTC))
    ends = min(moment for moment in moments if moment > at)
    return Stretch(begins, ends, _offset(zone, at), _offset(zone, begins - SECOND))


@lru_cache(maxsize=4096)
def changes(zone: ZoneInfo, year: int) -> tuple[datetime, ...]:
    """The instants of `year` at which the clocks of `zone` are changed. No zone ever changed them twice in a day."""
    return tuple(_changes(zone, datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)))


def _changes(zone: ZoneInfo, begins: datetime, ends: datetime) -> Iterator[datetime]:
    ahead = _offset(zone, begins)
    while begins < ends:
        later = _offset(zone, begins + DAY)
        if later != ahead:
            yield _change(zone, begins, begins + DAY)
        begins, ahead = begins + DAY, later


def _change(zone: ZoneInfo, before: datetime, after: datetime) -> datetime:
    """The second at which the clocks are changed, by halves."""
    ahead = _offset(zone, before)
    low, high = 0, int((after - before) / SECOND)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _offset(zone, before + middle * SECOND) == ahead else (low, middle)
    return before + high * SECOND


def _offset(zone: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta()


@cache
def _names() -> Mapping[str, tuple[str, ...]]:
    """Zones by what they may be called, without case. A whole name is before any city."""
    keys = [key for key in files("tzdata").joinpath("zones").read_text("utf-8").split() if key != "Factory"]
    named: dict[str, tuple[str, ...]] = {}
    for key in keys:
        city = key.rpartition("/")[2].casefold()
        named[city] = (*named.get(city, ()), key)
    return named | {key.casefold(): (key,) for key in keys}


def _data(key: str) -> bytes:
    """The rules of a zone: two names with the same are one zone."""
    return files("tzdata").joinpath("zoneinfo", *key.split("/")).read_bytes()


def _nearest(wanted: str) -> list[str]:
    """Up to three zones whose names, or whose cities' names, are written much like that."""
    near = get_close_matches(wanted, _names(), n=3, cutoff=0.75)
    return list(dict.fromkeys(key for name in near for key in _names()[name]))[:3]
