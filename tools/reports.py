"""Tools that tell what went on here: for reports, and for whoever asks.

Operators, and schedules of the settings file, are told of all rooms; anybody else of the room in which they ask.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from runtime.contract import (
    Activity,
    Address,
    Cost,
    Costs,
    Effect,
    Figures,
    Flow,
    Json,
    Now,
    Reads,
    Role,
    Tool,
    ToolContext,
)
from runtime.errors import ToolFailed, ToolRetry
from tools.kit.declare import tool

LOOK_BACK_MAX_HOURS: Final = 24 * 366
"""Hours that one report looks back."""
LINES_LISTED: Final = 50
"""Lines of a list; how many there are in all is told beside."""
DRAWN: Final = 15
"""Rooms in a chart; the others are one bar."""
MICROS: Final = 1_000_000
FIGURES_FLOW: Final = Flow(Reads.PEOPLE, carries={})
OTHER_ROOMS: Final = "other rooms"
NOT_FOR_THEM: Final = "Feedback is for the people in feedback.readers of the settings, else for operators and owners."

Named = Callable[[Address], str]
Naming = Callable[[Collection[Address], ToolContext], Awaitable[Named]]
"""Names of these rooms, as far as those who read the answer to a call may know them."""

Hours = Annotated[int, f"Hours back, 1 to {LOOK_BACK_MAX_HOURS}."]


async def by_address(rooms: Collection[Address], context: ToolContext) -> Named:
    """Write rooms as addresses, for want of names."""
    return str


MayRead = Callable[[ToolContext], Awaitable[bool]]
"""Tells whether feedback is for whoever asks."""


async def operators_read(context: ToolContext) -> bool:
    """Answer where the settings name nobody: operators and owners, and schedules of the settings file."""
    return scope_of_all(context)


def report_tools(
    figures: Figures, *, now: Now, naming: Naming = by_address, may_read: MayRead = operators_read
) -> list[Tool]:
    """`activity`, `costs`, `pending_approvals`, `dead_letters` and `feedback`. `naming` tells what people call rooms."""

    @tool(effect=Effect.READ, seldom=True, flow=FIGURES_FLOW)
    async def activity(context: ToolContext, hours: Hours = 24) -> str:
        """Count recent messages, runs, approvals, deliveries, scheduled work and failures."""
        since = _since(now(), hours)
        room = scope(context)
        found = await figures.activity(since, room=room)
        rooms = [*(address for address, _ in found.rooms), *(one.address for one in found.failures)]
        named = await naming(_of(room, rooms), context)
        return _told(_about(room, named) | _span(since, hours) | activity_of(found, named))

    @tool(effect=Effect.READ, seldom=True, flow=FIGURES_FLOW)
    async def costs(context: ToolContext, hours: Hours = 24) -> str:
        """Show model costs by agent and room, in millionths of a US dollar."""
        since = _since(now(), hours)
        room = scope(context)
        found = await figures.costs(since, room=room)
        rows = by_room(found.rows)
        named = await naming(_of(room, (row["room"] for row in rows[:LINES_LISTED])), context)
        return _told(_about(room, named) | _span(since, hours) | costs_of(found, with_names(rows, named)))

    @tool(effect=Effect.READ, seldom=True, flow=FIGURES_FLOW)
    async def pending_approvals(context: ToolContext) -> str:
        """List risky calls that wait for a person, soonest expiry first."""
        room = scope(context)
        count, rows = await figures.pending_approvals(room=room, most=LINES_LISTED)
        named = await naming(_of(room, (row.address for row in rows)), context)
        return _told(_about(room, named) | {"count": count, "approvals": _listed(rows, named)})

    @tool(effect=Effect.READ, seldom=True, flow=FIGURES_FLOW)
    async def dead_letters(context: ToolContext) -> str:
        """List messages that couldn't be delivered (dead) or may have been (held)."""
        room = scope(context)
        count, rows = await figures.dead_letters(room=room, most=LINES_LISTED)
        named = await naming(_of(room, (row.address for row in rows)), context)
        return _told(_about(room, named) | {"count": count, "letters": _listed(rows, named)})

    return [activity, costs, pending_approvals, dead_letters, feedback_tool(figures, now, naming, may_read)]


def feedback_tool(figures: Figures, now: Now, naming: Naming, may_read: MayRead) -> Tool:
    """`feedback`, for its readers alone."""

    @tool(effect=Effect.READ, seldom=True, flow=FIGURES_FLOW)
    async def feedback(context: ToolContext, hours: Hours = 168) -> str:
        """Show how people rated the agents' messages, newest first."""
        if not await may_read(context):
            raise ToolFailed(NOT_FOR_THEM)
        since = _since(now(), hours)
        room = scope(context)
        found = await figures.feedback(since, room=room, most=LINES_LISTED)
        named = await naming(_of(room, (row.address for row in found.rows)), context)
        counts = {"up": found.up, "down": found.down, "count": found.up + found.down}
        return _told(_about(room, named) | _span(since, hours) | counts | {"ratings": _listed(found.rows, named)})

    return feedback


def scope(context: ToolContext) -> Address | None:
    """The room that a caller is told of; None: all.

    What nobody asked for is a schedule of the file, which operators wrote, or a hook, whose words come from outside.
    """
    if scope_of_all(context):
        return None
    if context.address is None:
        raise ToolRetry("This reports on the room it's asked in, and there is none here.")
    return context.address.whole_room


def scope_of_all(context: ToolContext) -> bool:
    """True for operators, and for what nobody asked for."""
    return context.requester.role >= Role.OPERATOR if context.requester else context.scheduled


def activity_of(found: Activity, named: Named) -> dict[str, Json]:
    """The counts as JSON; each with its sum."""
    return {
        "messages": _counts(found.messages),
        "runs": _counts(found.runs),
        "approvals": _counts(found.approvals),
        "deliveries": _counts(found.deliveries),
        "occurrences": _counts(found.occurrences),
        "rooms": [{"room": named(address), "runs": count} for address, count in found.rooms],
        "failures": _listed(found.failures, named),
    }


def costs_of(found: Costs, rows: list[dict[str, Json]]) -> dict[str, Json]:
    """Sums, a line for each agent in each room (threads belong to theirs), and the same as a chart's labels and series."""
    total = {key: value for key, value in asdict(found).items() if key != "rows"}
    return {
        "total": total,
        "rows": rows[:LINES_LISTED],
        "more": max(len(rows) - LINES_LISTED, 0),
        "chart": chart_of(rows),
    }


def by_room(rows: Iterable[Cost]) -> list[dict[str, Any]]:
    """Sums by agent and room, the dearest first; `room` is an address."""
    sums: dict[tuple[str, Address], dict[str, Any]] = {}
    for row in rows:
        key = row.agent, row.address.whole_room
        line = sums.setdefault(key, {"agent": key[0], "room": key[1]})
        for name in ("runs", "calls", "input_tokens", "output_tokens", "cost_micros", "cached_tokens", "fallbacks"):
            line[name] = line.get(name, 0) + getattr(row, name)
    return sorted(sums.values(), key=lambda line: (-line["cost_micros"], -line["output_tokens"], str(line["room"])))


def with_names(rows: Iterable[Mapping[str, Any]], named: Named) -> list[dict[str, Json]]:
    """Lines with their rooms' names. Rooms with one name have their ids too, so that no two become one bar of a chart."""
    rows = list(rows)
    names = {room: named(room) for room in dict.fromkeys(row["room"] for row in rows)}
    times = Counter(names.values())
    told = {room: name if times[name] == 1 else f"{name} {room.room}" for room, name in names.items()}
    return [{**row, "room": told[row["room"]]} for row in rows]


def chart_of(rows: list[dict[str, Json]]) -> dict[str, Json]:
    """US dollars by room, a series an agent. No labels where nothing was spent: there is nothing to draw."""
    spent: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in rows:
        spent[row["room"]][row["agent"]] += row["cost_micros"]
    dearest = sorted((room for room in spent if sum(spent[room].values())), key=lambda room: -sum(spent[room].values()))
    for room in dearest[DRAWN:]:
        for agent, micros in spent[room].items():
            spent[OTHER_ROOMS][agent] += micros
    drawn = dearest[:DRAWN] + ([OTHER_ROOMS] if len(dearest) > DRAWN else [])
    agents = sorted({agent for room in drawn for agent in spent[room]})
    return {
        "labels": drawn,
        "series": [{"name": one, "values": [spent[room][one] / MICROS for room in drawn]} for one in agents],
    }


def _counts(found: Mapping[str, int]) -> dict[str, int]:
    return {"total": sum(found.values()), **dict(sorted(found.items()))}


def _listed(rows: Iterable[Any], named: Named) -> list[dict[str, Json]]:
    """Rows as JSON: a room as people write it, times in UTC."""
    return [{_key(name): _plain(value, named) for name, value in asdict(row).items()} for row in rows]


def _key(name: str) -> str:
    return "room" if name == "address" else name


def _plain(value: Any, named: Named) -> Json:
    match value:
        case datetime():
            return _utc(value)
        case {"channel": _}:
            return named(Address(**value))
        case _:
            return value


def _since(now: datetime, hours: int) -> datetime:
    if not 1 <= hours <= LOOK_BACK_MAX_HOURS:
        raise ToolRetry(f"hours: {hours} is not from 1 to {LOOK_BACK_MAX_HOURS:,}. A day is 24, a week 168.")
    return now - timedelta(hours=hours)


def _span(since: datetime, hours: int) -> dict[str, Json]:
    return {"hours": hours, "since": _utc(since)}


def _of(room: Address | None, rooms: Iterable[Address]) -> set[Address]:
    """All rooms that an answer names."""
    return {*rooms, *([room] if room else ())}


def _about(room: Address | None, named: Named) -> dict[str, Json]:
    return {"about": named(room) if room else "all rooms"}


def _utc(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _told(value: Mapping[str, Json]) -> str:
    return json.dumps(value, ensure_ascii=False)
