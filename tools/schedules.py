"""Tools that plan work for later. What they may do is decided by the timetable; whether they ask first, by the policy.

Each works for the person who asked, in the room where that was said. A room is an argument of `schedule_elsewhere` and
nothing else: what a task says of rooms has no power.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Final

from runtime.contract import (
    Address,
    Asker,
    CardContext,
    CardPart,
    CardText,
    CardValue,
    Carries,
    Effect,
    Flow,
    Identity,
    Json,
    Occurrence,
    OccurrenceState,
    Person,
    Reads,
    Role,
    Schedule,
    ScheduleRequest,
    ScheduleState,
    Task,
    TaskKind,
    Terms,
    Timetable,
    Tool,
    ToolContext,
)
from runtime.errors import ToolRetry
from runtime.text.glyphs import clip
from tools.kit.declare import tool
from tools.kit.rooms import AS_STORED, Rooms, known_room, room_at

NEXT: Final = 3
"""Instants that are told of one that was planned or changed."""
LISTED: Final = 50
OCCURRENCES_LISTED: Final = 10
"""Past instants of a history."""
TASK_MAX_CHARS: Final = 80
"""Characters of a task in a list."""
TIMEOUT: Final = timedelta(seconds=30)
UTC: Final = "UTC"
PLANNED: Final = "Planned"
ONCE: Final = "once, "
"""How the words of a time begin that comes but once."""

_ASIDE: Final = {"zone": Carries.DETAIL, "quiet": Carries.DETAIL, "name": Carries.WORDS}
PLANNING: Final = Flow(
    Reads.OURS,
    carries={**_ASIDE, "when": Carries.DETAIL, "new_name": Carries.WORDS, "room": Carries.RECIPIENT},
)
"""A plan works later, in a run that has read nothing: so its task, which this leaves out, is to be somebody's own words."""
TURNING: Final = Flow(Reads.OURS, carries={})
LOOKING: Final = Flow(Reads.OURS, carries={})
ZONING: Final = Flow(Reads.OURS, stays=True)

When = Annotated[
    str,
    "In the person's own words or as cron: 'every weekday at 9:30', 'tomorrow at 14:30', '30 9 * * 1-5'; "
    "a zone may follow: 'daily at 9 in Berlin'.",
]
What = Annotated[
    str,
    "A self-contained request, without the time. You won't see this conversation when it runs.",
]
Name = Annotated[str, "Its name or id."]
NewName = Annotated[str, "Short name; else made from the task."]
Zone = Annotated[str, "Such as Europe/Berlin; else the person's or the room's."]
Quiet = Annotated[bool, "Post nothing when nothing is new."]
AsSet = Annotated[str, "See schedule_set."]  # said once: every word is sent, and paid for, with each model call


def schedule_tools(
    timetable: Timetable, *, rooms: Rooms = AS_STORED, named: Callable[[Address], str] = str
) -> list[Tool]:
    """All of them. `rooms` and `named` translate between addresses and what people call them."""
    words = Words(timetable, named)
    return [*_making(timetable, words, rooms), *_turning(timetable, words), *_looking(timetable, words)]


# ----------------------------------------------------------------------------------------------------------- the tools


def _elsewhere(words: Words, rooms: Rooms, arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    """The room by its name, and the work as it was worded."""
    room = known_room(str(arguments.get("room")), rooms)
    name = words.named(room) if room else ""
    also = name if name != arguments.get("room") else ""
    return [CardValue("when"), CardValue("room", also), CardText("task")]


def _making(timetable: Timetable, words: Words, rooms: Rooms) -> list[Tool]:
    card = partial(_elsewhere, words, rooms)

    @tool(effect=Effect.WRITE, idempotent=True, timeout=TIMEOUT, flow=PLANNING)
    async def schedule_set(
        when: When, task: What, context: ToolContext, name: NewName = "", zone: Zone = "", quiet: Quiet = False
    ) -> str:
        """Plan work or a reminder, once or repeated; its report is posted here."""
        wanted = ScheduleRequest(name, when, zone, Task(TaskKind.PROMPT, task), terms=Terms(quiet=quiet))
        made = await timetable.add(wanted, planner(context, wanted))
        return words.planned(made, context) + hint(zone, str(timetable.clocks(made)))

    @tool(effect=Effect.WRITE, idempotent=True, timeout=TIMEOUT, card=card, seldom=True, flow=PLANNING)
    async def schedule_elsewhere(
        when: AsSet,
        task: AsSet,
        room: Annotated[str, "Its address: slack:work/C024BE91L."],
        context: ToolContext,
        name: AsSet = "",
        zone: AsSet = "",
        quiet: Quiet = False,
    ) -> str:
        """Plan work whose report is posted in another room; only if a person names it."""
        to = (await room_at(room, rooms),)
        wanted = ScheduleRequest(name, when, zone, Task(TaskKind.PROMPT, task), to, Terms(quiet=quiet))
        made = await timetable.add(wanted, planner(context, wanted))
        return words.planned(made, context) + hint(zone, str(timetable.clocks(made)))

    @tool(effect=Effect.WRITE, timeout=TIMEOUT, flow=PLANNING)
    async def schedule_change(
        name: Name,
        context: ToolContext,
        when: AsSet = "",
        task: AsSet = "",
        zone: AsSet = "",
        quiet: Annotated[bool | None, "See schedule_set; null leaves it."] = None,
        new_name: Annotated[str, "Its new name."] = "",
    ) -> str:
        """Change a schedule; omitted fields stay as they are."""
        asker = planner(context)
        found = await timetable.find(name, asker)
        needs_no_word(found, context)
        wanted = ScheduleRequest(new_name, when, zone, Task(TaskKind.PROMPT, task) if task else None)
        terms = None if quiet is None else replace(found.terms, quiet=quiet)
        changed = await timetable.change(found.id, replace(wanted, terms=terms), asker)
        return words.planned(changed, context, verb="Changed")

    return [schedule_set, schedule_elsewhere, schedule_change]


def _turning(timetable: Timetable, words: Words) -> list[Tool]:
    @tool(effect=Effect.WRITE, idempotent=True, timeout=TIMEOUT, seldom=True, flow=TURNING)
    async def schedule_pause(name: Name, context: ToolContext) -> str:
        """Pause a schedule until it is resumed."""
        asker = actor(context)
        found = await timetable.find(name, asker)
        paused = await timetable.pause(found.id, asker)
        return f'"{paused.name}" is {paused.state}{because(paused)}. It won\'t run until you resume it.'

    @tool(effect=Effect.WRITE, idempotent=True, timeout=TIMEOUT, seldom=True, flow=TURNING)
    async def schedule_resume(name: Name, context: ToolContext) -> str:
        """Resume a paused schedule; missed runs are skipped."""
        asker = actor(context)
        found = await timetable.find(name, asker)
        return words.planned(await timetable.resume(found.id, asker), context, verb="Resumed")

    @tool(effect=Effect.WRITE, timeout=TIMEOUT, flow=TURNING)
    async def schedule_delete(name: Name, context: ToolContext) -> str:
        """Delete a schedule; work that has begun goes on."""
        asker = actor(context)
        found = await timetable.find(name, asker)
        await timetable.remove(found.id, asker)
        return f'"{found.name}" is deleted. It won\'t run again.'

    @tool(effect=Effect.WRITE, timeout=TIMEOUT, seldom=True, flow=TURNING)
    async def schedule_run(name: Name, context: ToolContext) -> str:
        """Run a schedule once now; its report is posted as usual."""
        asker = planner(context)
        found = await timetable.find(name, asker)
        needs_no_word(found, context)
        await timetable.run_now(found.id, asker)
        return f'I\'ve started "{found.name}". Its report will be posted {words.where(found, context)}.'

    return [schedule_pause, schedule_resume, schedule_delete, schedule_run]


def _looking(timetable: Timetable, words: Words) -> list[Tool]:
    @tool(effect=Effect.READ, timeout=TIMEOUT, flow=LOOKING)
    async def schedule_list(
        context: ToolContext,
        everywhere: Annotated[bool, "Other rooms too; only if asked."] = False,
    ) -> str:
        """List the schedules of this room with their next runs."""
        every = await timetable.listed(asker_of(context))
        seen = [one for one in every if one.state is not ScheduleState.ENDED]
        here = [one for one in seen if is_here(one.home, context)]
        lines = [words.line(one, context) for one in (seen if everywhere else here)]
        others = 0 if everywhere else len(seen) - len(here)
        return listing(lines, others)

    @tool(effect=Effect.READ, timeout=TIMEOUT, seldom=True, flow=LOOKING)
    async def schedule_history(name: Name, context: ToolContext) -> str:
        """Show a schedule's last results, newest first, and next run."""
        found = await timetable.find(name, asker_of(context))
        past = await timetable.history(found.id, most=OCCURRENCES_LISTED)
        clocks = timetable.clocks(found)
        lines = [f"- {shown(one.planned_at.astimezone(clocks))}: {outcome(one)}" for one in past]
        return "\n".join([words.line(found, context), "", *(lines or ["It hasn't been due yet."])])

    @tool(effect=Effect.WRITE, idempotent=True, timeout=TIMEOUT, seldom=True, flow=ZONING)
    async def set_zone(
        zone: Annotated[str, "IANA name or city: Europe/Berlin, Tokyo, UTC."],
        context: ToolContext,
        whole_room: Annotated[bool, "For everyone here who hasn't set a zone."] = False,
    ) -> str:
        """Set the person's time zone for later plans; existing schedules stay."""
        asker = actor(context)
        if whole_room and not leads(context.requester):
            raise ToolRetry("Only an operator or owner can set a whole room's time zone. Anyone can set their own.")
        known = await timetable.set_zone(zone, asker, whole_room=whole_room)
        name = context.requester.name if context.requester else ""
        whose = "in this room" if whole_room else f"that {name} mentions" if name else "mentioned here"
        return f"From now on, I'll use {known} for times {whose}. Existing schedules keep their zone."

    return [schedule_list, schedule_history, set_zone]


# ------------------------------------------------------------------------------------------------------- who, and where


def asker_of(context: ToolContext, key: str = "") -> Asker:
    """Person the run works for, in its room. Errors: ToolRetry where it has none."""
    if context.address is None:
        raise ToolRetry("This conversation has no room, so nothing can be planned for it.")
    who = context.requester
    identity = Identity(f"web:{who.id}" if who else "")  # each person has that identity
    return Asker(who, identity, context.address, key, agent=context.agent, above=context.above)


def actor(context: ToolContext, key: str = "") -> Asker:
    """Asker of a change. Errors: ToolRetry for viewers, and if nobody asked."""
    asker = asker_of(context, key)
    if asker.person is None or asker.person.role < Role.USER:
        raise ToolRetry("Only people with the role user or higher can plan work.")
    return asker


def planner(context: ToolContext, wanted: ScheduleRequest | None = None) -> Asker:
    """Asker of new work, with the key by which a repeat of this call is known.

    The wish is part of the key: some vendors count the ids of their calls anew with each reply.
    """
    if context.scheduled:
        raise ToolRetry("Scheduled work can't schedule more work. Say in the report what you would plan.")
    return actor(context, f"{context.run_id}:{context.call_id}:{wanted}" if wanted else "")


def needs_no_word(schedule: Schedule, context: ToolContext) -> None:
    """Refuse a change of what is posted in other rooms, which was approved as it stands: more or other work there needs a person's word again.

    Errors: ToolRetry where that is so.
    """
    elsewhere = [room for room in schedule.to if not is_here(room, context)]
    if elsewhere and not leads(context.requester):
        raise ToolRetry(
            f'"{schedule.name}" is posted in another room. Change it there, or '
            "delete it and plan it again for that room."
        )


def leads(person: Person | None) -> bool:
    return person is not None and person.role >= Role.OPERATOR


def is_here(room: Address, context: ToolContext) -> bool:
    """True if it is this room, in whatever thread."""
    return context.address is not None and room.whole_room == context.address.whole_room


# ------------------------------------------------------------------------------------------------------------ the words


@dataclass(frozen=True, slots=True)
class Words:
    """Schedules in words that a model can pass on."""

    timetable: Timetable
    named: Callable[[Address], str]

    def planned(self, schedule: Schedule, context: ToolContext, verb: str = PLANNED) -> str:
        """Plan as it was understood, and the next instants."""
        when, where = self.timetable.words(schedule), self.where(schedule, context)
        head = f'{verb}: "{schedule.name}", {when.removeprefix(ONCE)}, {where}.'
        if schedule.state is not ScheduleState.ACTIVE:
            return f"{head} It's {schedule.state}{because(schedule)}."
        coming = self.timetable.upcoming(schedule, NEXT)
        if when.startswith(ONCE):
            return head if verb != PLANNED else promised(schedule.name, when.removeprefix(ONCE), where)
        return f"{head} Next{' and last' if len(coming) == 1 else ''}: {self._instants(schedule, coming)}."

    def _instants(self, schedule: Schedule, instants: Sequence[datetime]) -> str:
        """By the clocks of the schedule, which are named unless its words name them."""
        clocks = self.timetable.clocks(schedule)
        zone = "" if f"({clocks})" in self.timetable.words(schedule) else f" ({clocks})"
        return ", ".join(shown(at.astimezone(clocks)) for at in instants) + zone

    def where(self, schedule: Schedule, context: ToolContext) -> str:
        """Here, or the rooms by their names."""
        others = [self.named(room) for room in schedule.to if not is_here(room, context)]
        here = ["here"] if len(others) < len(schedule.to) else []
        return " and ".join([*here, *(f"in {name}" for name in others)])

    def line(self, schedule: Schedule, context: ToolContext) -> str:
        """One of a list."""
        when = self.timetable.words(schedule)
        parts = [f'- "{schedule.name}": {when.removeprefix(ONCE)}, {self.where(schedule, context)}']
        if schedule.next_at and not when.startswith(ONCE):  # else the words name the instant
            parts.append(f"next {self._instants(schedule, [schedule.next_at])}")
        if schedule.state is not ScheduleState.ACTIVE:
            parts.append(f"{schedule.state}{because(schedule)}")
        if schedule.owner and schedule.owner != context.requester:
            parts.append(f"by {schedule.owner.name}")
        return "; ".join([*parts, f"task: {brief(schedule.task.text)}"])


def promised(name: str, when: str, where: str) -> str:
    """Said of what is done once."""
    return f"I'll do that {when}, {where}. It's called \"{name}\", in case you want to change or cancel it."


def because(schedule: Schedule) -> str:
    return f" ({schedule.reason})" if schedule.reason else ""


def hint(given: str, zone: str) -> str:
    """Hint for somebody without a known time zone."""
    return "" if given or zone != UTC else " I read times as UTC until I know your time zone."


def shown(wall: datetime) -> str:
    return f"{wall:%A %Y-%m-%d %H:%M}"


def listing(lines: Sequence[str], others: int) -> str:
    said = list(lines[:LISTED]) or ["Nothing is planned here."]
    if len(lines) > LISTED:
        said.append(f"… and {len(lines) - LISTED:,} more")
    if others:
        said.append(f"{others:,} more in other rooms that the person can see.")
    return "\n".join(said)


def outcome(one: Occurrence) -> str:
    """Outcome of an instant."""
    asked = ", run by hand" if one.manual else ""
    tries = f" after {one.attempts} tries" if one.attempts > 1 else ""
    match one.state:
        case OccurrenceState.STARTED:
            return f"running{asked}"
        case OccurrenceState.PLANNED:
            return f"failed{tries}, will try again: {brief(one.reason)}"
        case OccurrenceState.DONE:
            return f"done{tries}{asked}, {'nothing new, so nothing was posted' if one.silent else reached(one)}"
        case OccurrenceState.SKIPPED:
            return f"skipped: {brief(one.reason)}"
        case OccurrenceState.FAILED:
            return f"failed{tries}{asked}: {brief(one.reason)}"


def reached(one: Occurrence) -> str:
    return "posted" if one.shown >= one.wanted else f"posted in {one.shown} of {one.wanted} rooms so far"


def brief(text: str) -> str:
    return clip(" ".join(text.split()), TASK_MAX_CHARS)
