"""Answers to `/schedules` and `/timezone`: plans of a room, and the clocks that are read there. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from runtime.contract import Address, Schedule, ScheduleState
from runtime.text.retold import retold
from runtime.text.words import count, marked, moment, say

SCHEDULES_LISTED: Final = 20
HOW_TO: Final = marked("Tell me what to do and when, such as *every weekday at 9, summarise what is new in the files*.")
ZONE_COMMAND_EXAMPLE: Final = "`/timezone Europe/Berlin`"
UNKNOWN: Final = marked(
    "I don't know your time zone. Set it with {command}, and I'll use it for the times you mention."
)


def planned(schedules: Sequence[Schedule], watches: Sequence[str] = ()) -> str:
    """Answer to `/schedules`: what is planned here, and lines about what people want to be told of."""
    watched = "\n".join([say("Watched here:"), "", *(f"- {line}" for line in watches)]) if watches else ""
    if not schedules:
        return watched or say("Nothing is planned here. {how_to}", how_to=say(HOW_TO))
    lines = [f"- {_line(one)}" for one in schedules[:SCHEDULES_LISTED]]
    if len(schedules) > SCHEDULES_LISTED:
        lines.append(say("- and {schedules} more", schedules=count(len(schedules) - SCHEDULES_LISTED)))
    return "\n".join([say("Planned here:"), "", *lines, *(["", watched] if watched else [])])


def _line(one: Schedule) -> str:
    from runtime.calendar import in_words, read, zone_named  # not loaded where nothing is planned

    rule = read(one.when)
    parts = [f"**{_plain(one.name)}**: {in_words(rule, say)}"]
    if one.next_at:
        parts.append(say("next {next_at}", next_at=moment(one.next_at, zone_named(rule.zone))))
    if one.state is not ScheduleState.ACTIVE:
        parts.append(f"{say(one.state)}: {_plain(retold(one.reason))}" if one.reason else say(one.state))
    if one.owner:
        parts.append(say("by {name}", name=_plain(one.owner.name)))
    return ", ".join(parts)


def _plain(text: str) -> str:
    """On one line, without what Markdown would take for its own."""
    return " ".join(text.translate(str.maketrans("", "", "*_`[]<>|~\\")).split())


def zone_or_trouble(name: str) -> tuple[str, str]:
    """The full name of a zone, or else what is wrong with the one that was written. Reads files."""
    from runtime.calendar import WhenError, zone_named

    try:
        return (zone_named(name).key if name.strip() else ""), ""
    except WhenError as error:
        return "", retold(str(error))


def zone_set(zone: str) -> str:
    """Answer to `/timezone ZONE`."""
    return say("From now on, I'll use {zone} for the times you mention. Existing schedules keep their zone.", zone=zone)


def zone_known(zones: Mapping[str, str], person: str, room: str) -> str:
    """Answer to `/timezone`: `zones` are those of the person and the room."""
    if own := zones.get(person):
        return say(
            "Your time zone is {own}. Change it with {command}.",
            own=own,
            command=ZONE_COMMAND_EXAMPLE,
        )
    if of_room := zones.get(room):
        return say(
            "This room uses {of_room}. Set your own time zone with {command}.",
            of_room=of_room,
            command=ZONE_COMMAND_EXAMPLE,
        )
    return say(UNKNOWN, command=ZONE_COMMAND_EXAMPLE)


def room_of(address: Address) -> str:
    """Under which the zone of a room is kept: one for all of its threads."""
    return str(address.whole_room)
