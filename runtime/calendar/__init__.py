"""Due times: the words of people and settings, understood, and the instants that follow from them.

    text -plan-> Planned (Cron | Every | At, zone) -next_after, instants-> instants in UTC
                    `- written, read: for the store     `- in_words: for people

Nothing here knows the time, asks a store or keeps a clock.
"""

from runtime.calendar.cron import Cron
from runtime.calendar.due import instants, next_after
from runtime.calendar.errors import WhenError
from runtime.calendar.plans import At, Every, Planned, Unit, read, written
from runtime.calendar.reading import plan
from runtime.calendar.until import until
from runtime.calendar.words import in_words
from runtime.calendar.zones import zone_named

__all__ = [
    "At",
    "Cron",
    "Every",
    "Planned",
    "Unit",
    "WhenError",
    "in_words",
    "instants",
    "next_after",
    "plan",
    "read",
    "until",
    "written",
    "zone_named",
]
