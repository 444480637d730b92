"""Schedules as people want them: their words are understood, bounded and checked, and then written into the book.

What is refused is a ToolRetry: its words are for whoever asked, be it a model on a person's behalf, a page or a command.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import Final

from runtime.calendar import At, Planned, WhenError, in_words, instants, next_after, plan, read, written, zone_named
from runtime.chat.views.schedules import room_of
from runtime.contract import (
    Address,
    Asker,
    Foreseen,
    NewId,
    Now,
    Occurrence,
    Role,
    Schedule,
    ScheduleId,
    ScheduleRequest,
    ScheduleState,
    Task,
    TaskKind,
    Terms,
)
from runtime.domain.schedules import ScheduleEvent
from runtime.errors import ToolRetry
from runtime.schedules.understanding import (
    SCHEDULE_NAME_MAX_CHARS,
    asker_name,
    changed_task,
    checked_name,
    checked_task,
    coming,
    field_faults,
    first_instant,
    is_here,
    is_retimed,
    is_theirs,
    least_interval,
    name_of,
    understood,
    who,
    zone_of,
)
from runtime.store.protocol.schedules import Schedules
from runtime.text.naming import meant
from runtime.text.words import Say, marked, plainly

DESTINATIONS: Final = 20
NAMED_STATES: Final = (ScheduleState.ACTIVE, ScheduleState.PAUSED)
"""States in which nothing else in its room may have its name."""
NAME_TAKEN: Final = marked("That room already has a schedule called {name!r}. Choose another name.")
NO_TASK: Final = Task(TaskKind.PROMPT, "-")
"""Of a schedule that is only looked ahead at: its times don't depend on what is done then."""


@dataclass(frozen=True, slots=True)
class Quotas:
    """Limits on the schedules that people make; schedules of the settings file have none."""

    per_person: int = 50
    per_room: int = 100
    least_interval: timedelta = timedelta(minutes=1)


async def anywhere(address: Address) -> str | None:
    """For tests: every room can be posted to."""
    return None


class ScheduleService:
    """Implements `contract.Timetable`.

    `agent` works on what people book themselves; what an agent books, it works on itself. `serves` tells whether an account here has an address, `reach` why nothing can be posted there (None: it can). `zone`
    is where clocks are read unless a person or room has another; `named` shows an address; `started` hears that a lane
    has work.
    """

    def __init__(
        self,
        *,
        book: Schedules,
        agent: str,
        now: Now,
        new_id: NewId,
        serves: Callable[[Address], bool],
        reach: Callable[[Address], Awaitable[str | None]] = anywhere,
        quotas: Callable[[], Quotas] = Quotas,
        zone: Callable[[], str] = lambda: "UTC",
        named: Callable[[Address], str] = str,
        started: Callable[[], None] = lambda: None,
    ) -> None:
        self._book = book
        self._agent = agent
        self._now = now
        self._new_id = new_id
        self._serves = serves
        self._reach = reach
        self._quotas = quotas
        self._zone = zone
        self._named = named
        self._started = started

    # ------------------------------------------------------------------------------------------------------ making

    async def add(self, wanted: ScheduleRequest, asker: Asker) -> Schedule:
        self._may_plan(asker)
        ident = self._id(asker)
        if known := await self._book.schedule(ident):
            return known  # the same wish again, after a kill
        now = self._now()
        rule = await self._rule(wanted, asker, now)
        task, to = replace(checked_task(wanted.task), chain=asker.above), await self._rooms(wanted.to, asker)
        await self._within_quotas(asker, to[0], rule, now)
        schedule = self._drafted(wanted, asker, rule, task, to, now)
        return await self._written(replace(schedule, id=ident), asker, is_named=bool(wanted.name.strip()))

    def _drafted(
        self,
        wanted: ScheduleRequest,
        asker: Asker,
        rule: Planned,
        task: Task,
        to: tuple[Address, ...],
        now: datetime,
    ) -> Schedule:
        """A new schedule without its id. Errors: ToolRetry where it would never run."""
        starts, ends = self._moments(wanted, rule.zone, now)
        anchor = starts or now
        return Schedule(
            id=ScheduleId(""),
            name=checked_name(wanted.name) or name_of(task),
            when=written(rule),
            when_text=wanted.when.strip(),
            task=task,
            to=to,
            terms=wanted.terms or Terms(),
            state=ScheduleState.ACTIVE,
            created_at=now,
            anchor_at=anchor,
            actor=asker.identity,
            agent=asker.agent or self._agent,
            owner=asker.person,
            starts_at=starts,
            ends_at=ends,
            next_at=first_instant(rule, now, anchor, starts, ends),
        )

    async def _written(self, schedule: Schedule, asker: Asker, *, is_named: bool) -> Schedule:
        """Add it under its name; one that we made of its words gets a number where it is taken."""
        for number in range(1, 100):
            name = schedule.name if number == 1 else f"{schedule.name[: SCHEDULE_NAME_MAX_CHARS - 4]} {number}"
            made = replace(schedule, name=name)
            if await self._book.add_schedule(made, self._due(made), who(asker)):
                return made
            if known := await self._book.schedule(schedule.id):
                return known
            if is_named:
                break
        raise ToolRetry(NAME_TAKEN.format(name=schedule.name), "name")

    async def change(self, schedule: ScheduleId, wanted: ScheduleRequest, asker: Asker) -> Schedule:
        old = await self._theirs(schedule, asker)
        to = await self._rooms(wanted.to, asker) if wanted.to else old.to
        new = replace(
            old,
            name=checked_name(wanted.name) or old.name,
            task=changed_task(old.task, wanted.task, asker),
            to=to,
            terms=wanted.terms or old.terms,
        )
        if retimed := is_retimed(wanted):
            new = await self._retimed(new, wanted)
        if not await self._book.change_schedule(new, self._due(new), who(asker), retimed=retimed):
            raise ToolRetry(
                marked("That room already has a schedule called {name}, or this one was removed.").format(
                    name=repr(new.name)
                )
            )
        return await self._again(new)  # it may have been fired meanwhile

    async def _retimed(self, old: Schedule, wanted: ScheduleRequest) -> Schedule:
        """`old` with other instants. One that is paused stays so; one that was over begins anew."""
        now = self._now()
        rule = self._changed(old, wanted, now)
        if wanted.when.strip():
            least_interval(rule, now, old.anchor_at, self._quotas().least_interval)
        starts, ends = self._moments(wanted, rule.zone, now)
        starts, ends = starts or old.starts_at, ends or old.ends_at
        is_counted_anew = wanted.when.strip() or wanted.starts.strip()
        new = replace(
            old,
            when=written(rule),
            when_text=wanted.when.strip() or old.when_text,
            anchor_at=(starts or now) if is_counted_anew else old.anchor_at,
            starts_at=starts,
            ends_at=ends,
        )
        if old.state is ScheduleState.PAUSED:
            return new
        at = first_instant(rule, now, new.anchor_at, starts, ends)
        return replace(new, state=ScheduleState.ACTIVE, reason="", next_at=at)

    def _changed(self, old: Schedule, wanted: ScheduleRequest, now: datetime) -> Planned:
        """The rule after a change: new words are read by the clocks that the old ones had, unless others are named.

        Its old words may be read by other clocks, but not on another day than they were said.
        """
        before = read(old.when)
        if wanted.when.strip():
            return understood(wanted.when, wanted.zone or before.zone, now)
        if not wanted.zone.strip():
            return before
        if isinstance(before.when, At):
            raise ToolRetry(
                marked("{when}: say again when it should run, and in which zone.").format(when=in_words(before))
            )
        rule = understood(old.when_text, wanted.zone, now)
        if rule.zone != zone_named(wanted.zone).key:
            raise ToolRetry(
                marked("{words} names a zone itself: say again when it should run.").format(words=repr(old.when_text)),
                "when",
            )
        return rule

    async def _rule(self, wanted: ScheduleRequest, asker: Asker, now: datetime) -> Planned:
        person = asker.person.id if asker.person else ""
        known = wanted.zone or await self._book.zone_of(person, room_of(asker.address)) or self._zone()
        return understood(wanted.when, known, now)

    def _moments(self, wanted: ScheduleRequest, zone: str, now: datetime) -> tuple[datetime | None, datetime | None]:
        return self._moment("starts", wanted.starts, zone, now), self._moment("ends", wanted.ends, zone, now)

    def _moment(self, field: str, text: str, zone: str, now: datetime) -> datetime | None:
        """An instant that somebody wrote, such as "2026-12-01 at 9" or "tomorrow at 9"; None for nothing."""
        if not text.strip():
            return None
        try:
            found = next_after(plan(text, zone=zone, now=now), now, anchor=now)
        except WhenError as error:
            raise ToolRetry(str(error), field) from error
        if found is None:
            raise ToolRetry(marked("{words} is in the past. Give a later time.").format(words=repr(text)), field)
        return found

    def _due(self, schedule: Schedule) -> datetime | None:
        return schedule.next_at if schedule.state is ScheduleState.ACTIVE else None

    def _id(self, asker: Asker) -> ScheduleId:
        if not asker.key:
            return ScheduleId(self._new_id())
        return ScheduleId(hashlib.sha256(asker.key.encode()).hexdigest()[:20])

    # --------------------------------------------------------------------------------------------------- foreseeing

    async def foresee(
        self,
        wanted: ScheduleRequest,
        asker: Asker,
        schedule: ScheduleId | None = None,
        count: int = 5,
        say: Say = plainly,
    ) -> Foreseen:
        now = self._now()
        old = await self._theirs(schedule, asker) if schedule else None
        faults = {**field_faults(wanted), **await self._place_faults(wanted, asker, old)}
        if "zone" in faults or not (wanted.when.strip() or old):
            return Foreseen(faults=faults)
        try:
            timed = await self._timed(wanted, asker, old, now)
            rule = read(timed.when)
            found = self.upcoming(timed, count) if timed is old and timed.next_at else coming(timed, rule, now, count)
        except ToolRetry as error:
            return Foreseen(faults={error.field or "when": str(error), **faults})
        return Foreseen(in_words(rule, say), rule.zone, found, faults)

    async def _timed(self, wanted: ScheduleRequest, asker: Asker, old: Schedule | None, now: datetime) -> Schedule:
        """The schedule with the times that it would have; `old` itself where those stay. Errors: ToolRetry."""
        if old:
            return await self._retimed(old, wanted) if is_retimed(wanted) else old
        rule = await self._rule(wanted, asker, now)
        least_interval(rule, now, now, self._quotas().least_interval)
        return self._drafted(wanted, asker, rule, NO_TASK, (asker.address,), now)

    async def _place_faults(self, wanted: ScheduleRequest, asker: Asker, old: Schedule | None) -> dict[str, str]:
        """Faults of the rooms, and of a name that is taken in the first of them."""
        faults = {}
        try:
            to = await self._rooms(wanted.to, asker) if wanted.to else old.to if old else ()
        except ToolRetry as error:
            return {"to": str(error)}
        name = " ".join(wanted.name.split())
        if name and to and any(self._takes(one, name, to[0], old) for one in await self._book.schedules()):
            faults["name"] = NAME_TAKEN.format(name=name)
        return faults

    def _takes(self, one: Schedule, name: str, home: Address, old: Schedule | None) -> bool:
        is_other = old is None or one.id != old.id
        return is_other and one.name == name and one.home == home and one.state in NAMED_STATES

    # ---------------------------------------------------------------------------------------------------- checking

    def _may_plan(self, asker: Asker) -> None:
        if asker.person is None or asker.person.role < Role.USER:
            raise ToolRetry(marked("Only people with the role user or higher can plan work."))

    async def _rooms(self, to: Sequence[Address], asker: Asker) -> tuple[Address, ...]:
        rooms = tuple(dict.fromkeys(to or [asker.address]))
        if len(rooms) > DESTINATIONS:
            raise ToolRetry(
                marked("A report can go to at most {most} rooms; these are {number}.").format(
                    most=DESTINATIONS, number=len(rooms)
                ),
                "to",
            )
        for room in rooms:
            if trouble := await self._trouble(room):
                raise ToolRetry(
                    marked("Nothing can be posted to {room}: {trouble}").format(
                        room=self._named(room), trouble=trouble
                    ),
                    "to",
                )
        return rooms

    async def _trouble(self, room: Address) -> str | None:
        if not self._serves(room):
            return marked("no account here serves it.")
        return await self._reach(room)

    async def _within_quotas(self, asker: Asker, home: Address, rule: Planned, now: datetime) -> None:
        quotas = self._quotas()
        least_interval(rule, now, now, quotas.least_interval)
        own, here = await self._book.schedule_counts(asker.person.id if asker.person else None, home)
        if own >= quotas.per_person:
            raise ToolRetry(
                marked("One person may have {most} schedules, and you've reached that. Remove one first.").format(
                    most=quotas.per_person
                )
            )
        if here >= quotas.per_room:
            raise ToolRetry(
                marked("One room may have {most} schedules, and that room has reached that. Remove one first.").format(
                    most=quotas.per_room
                )
            )

    async def _theirs(self, schedule: ScheduleId, asker: Asker) -> Schedule:
        """The schedule, where `asker` may change it."""
        found = await self._book.schedule(schedule)
        if found is None or found.state is ScheduleState.REMOVED:
            raise ToolRetry(marked("This schedule no longer exists."))
        if found.by_file:
            raise ToolRetry(
                marked("{name} is in the settings file. Change it there, then reload.").format(name=repr(found.name))
            )
        if not is_theirs(found, asker):
            raise ToolRetry(
                marked("{name} was made by somebody else. They can change it, and so can an operator or owner.").format(
                    name=repr(found.name)
                )
            )
        self._is_own(found, asker)
        return found

    def _is_own(self, schedule: Schedule, asker: Asker) -> None:
        """Errors: ToolRetry where an agent would give its words or its timing to the work of another, which may do more."""
        if asker.agent not in ("", schedule.agent):
            raise ToolRetry(
                marked("{name} is work of the agent {agent}. Ask {agent} to change it.").format(
                    name=repr(schedule.name), agent=schedule.agent
                )
            )

    # ----------------------------------------------------------------------------------------------------- finding

    async def find(self, name: str, asker: Asker) -> Schedule:
        seen = await self.listed(asker)
        thread = [s for s in seen if s.home == asker.address]
        room = [s for s in seen if is_here(s, asker)]
        for among in (thread, room, seen):
            found = meant(name, among, ids=lambda one: one.id, names=lambda one: [one.name])
            if len(found) == 1:
                return found[0]
            if found:
                ids = ", ".join(f"{s.id} ({s.name}, in {self._named(s.home)})" for s in found)
                raise ToolRetry(
                    marked("Several schedules are called {name}: name one by its id: {ids}.").format(
                        name=repr(name), ids=ids
                    )
                )
        known = ", ".join(repr(s.name) for s in seen[:20]) or marked("none")
        raise ToolRetry(
            marked("There is no schedule called {name} that you may see. Known here: {known}.").format(
                name=repr(name), known=known
            )
        )

    async def listed(self, asker: Asker | None = None) -> list[Schedule]:
        every = await self._book.schedules()
        return every if asker is None else [s for s in every if is_here(s, asker) or is_theirs(s, asker)]

    async def history(self, schedule: ScheduleId, *, most: int = 20) -> list[Occurrence]:
        return await self._book.occurrences(schedule, limit=most)

    def upcoming(self, schedule: Schedule, count: int = 5) -> list[datetime]:
        if schedule.next_at is None:
            return []
        later = instants(
            read(schedule.when), schedule.next_at, anchor=schedule.anchor_at, most=count - 1, until=schedule.ends_at
        )
        return [schedule.next_at, *later]

    def words(self, schedule: Schedule, say: Say = plainly) -> str:
        return in_words(read(schedule.when), say)

    def clocks(self, schedule: Schedule) -> tzinfo:
        return zone_named(read(schedule.when).zone)

    # ---------------------------------------------------------------------------------------------------- turning

    async def pause(self, schedule: ScheduleId, asker: Asker, reason: str = "") -> Schedule:
        found = await self._may_turn(schedule, asker)
        why = reason or f"by {asker_name(asker)}"
        await self._book.turn_schedule(schedule, ScheduleEvent.PAUSE, reason=why, by=who(asker))
        return await self._again(found)

    async def resume(self, schedule: ScheduleId, asker: Asker) -> Schedule:
        found = await self._may_turn(schedule, asker)
        rule, now = read(found.when), self._now()
        at = first_instant(rule, now, found.anchor_at, found.starts_at, found.ends_at)
        await self._book.turn_schedule(schedule, ScheduleEvent.RESUME, by=who(asker), next_at=at, due_at=at)
        return await self._again(found)

    async def remove(self, schedule: ScheduleId, asker: Asker) -> None:
        await self._theirs(schedule, asker)
        await self._book.turn_schedule(schedule, ScheduleEvent.REMOVE, by=who(asker))

    async def run_now(self, schedule: ScheduleId, asker: Asker) -> Occurrence:
        await self._may_turn(schedule, asker)
        started = await self._book.run_schedule(schedule, who(asker))
        if started is None:
            raise ToolRetry(marked("Somebody else has just started it."))
        self._started()
        return started

    async def set_zone(self, zone: str, asker: Asker, *, whole_room: bool = False) -> str:
        self._may_plan(asker)
        name = zone_of(zone)
        subject = room_of(asker.address) if whole_room or asker.person is None else asker.person.id
        await self._book.set_zone(subject, name, who(asker))
        return name

    async def _may_turn(self, schedule: ScheduleId, asker: Asker) -> Schedule:
        """To pause, resume or run one of the settings file is no change of it: operators may."""
        found = await self._book.schedule(schedule)
        if found and found.by_file and asker.person and asker.person.role >= Role.OPERATOR:
            return found
        return await self._theirs(schedule, asker)

    async def _again(self, schedule: Schedule) -> Schedule:
        return await self._book.schedule(schedule.id) or schedule
