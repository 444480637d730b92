"""The schedules of the settings file in the store: added, changed and removed as they are there.

Each is known by its name, so that a changed one keeps its history, its failures and whether somebody paused it. A
schedule that was taken out is removed; one that comes again under its name is a new one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import structlog

from bot.accounts.naming import Account, Accounts, Known, accounts_of
from bot.settings.schedules import TICK, ScheduleTable
from bot.settings.settings import Settings
from runtime.contract import Address, Identity, Now, Schedule, ScheduleId, ScheduleState
from runtime.domain.agents.manifest import MAIN
from runtime.domain.schedules import ScheduleEvent
from runtime.errors import ConfigError
from runtime.store.protocol.schedules import Schedules

log = structlog.get_logger("schedules")

BY: Final = "settings"
"""Who it is, for the audit."""
OVER: Final = "none of its times are still to come"
LIVES: Final = 10_000
"""How often one name may be taken out and come again."""


@dataclass(frozen=True, slots=True)
class Synced:
    """Changes in the store, as words, and those that could not be made."""

    changed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class FileSchedules:
    """Brings the store in line with the settings. `before` are accounts as they were known in earlier lives."""

    def __init__(
        self, *, book: Schedules, now: Now, accounts: Collection[Account], before: Sequence[Known] = ()
    ) -> None:
        self._book = book
        self._now = now
        self._accounts: Accounts[Account] = Accounts([*accounts, *accounts_of(before)])

    async def sync(self, settings: Settings) -> Synced:
        """Bring the store in line with the settings; a repeat changes nothing.

        Errors: StoreError; ConfigError when the file of a template cannot be read. A repeat goes on from there.
        """
        planned_now = settings.planned
        kept = {one.name: one for one in await self._book.schedules_of_file()}
        gone = [one for name, one in kept.items() if name not in {table.name for table in planned_now}]
        removed = [f"schedule {one.name!r} removed" for one in gone if await self._remove(one)]
        told = [await self._put(table, kept.get(table.name), settings.planning.zone) for table in planned_now]
        return Synced(
            (*removed, *(change for one in told for change in one.changed)), tuple(n for one in told for n in one.notes)
        )

    async def _remove(self, schedule: Schedule) -> bool:
        return await self._book.turn_schedule(schedule.id, ScheduleEvent.REMOVE, by=BY)

    async def _put(self, table: ScheduleTable, old: Schedule | None, zone: str) -> Synced:
        to = [self._accounts.address(room) for room in table.to]
        here = [address for address in to if address]
        if len(here) < len(to):
            return self._waits(table, table.to[to.index(None)])
        if old is not None:
            return await self._change(table, old, schedule_of(table, old.id, here, zone, self._now()))
        return await self._add(table, schedule_of(table, await self._free(table.name), here, zone, self._now()))

    async def _change(self, table: ScheduleTable, old: Schedule, wanted: Schedule) -> Synced:
        new = merged(old, wanted, self._now())
        if new == old:
            return Synced()
        retimed = rule_of(new) != rule_of(old)
        done = await self._book.change_schedule(new, new.next_at, BY, retimed=retimed)
        return Synced((f"schedule {table.name!r} changed",)) if done else self._taken(table)

    async def _add(self, table: ScheduleTable, wanted: Schedule) -> Synced:
        if await self._book.add_schedule(wanted, wanted.next_at, BY):
            return Synced((f"schedule {table.name!r} added",))
        # Another process with these settings may have been faster.
        return Synced() if await self._book.schedule(wanted.id) else self._taken(table)

    async def _free(self, name: str) -> ScheduleId:
        """An id for a new one. What was removed stays so: another life has another id."""
        for life in range(LIVES):
            found = await self._book.schedule(ident := id_of(name, life))
            if found is None or found.state is not ScheduleState.REMOVED:
                return ident
        raise ConfigError(f"schedule {name!r}: it was removed {LIVES:,} times; give it another name.")

    def _waits(self, table: ScheduleTable, room: str) -> Synced:
        note = f"schedule {table.name!r} waits until the account of {room} has connected"
        log.info("a schedule of the settings waits", name=table.name, room=room)
        return Synced(notes=(note,))

    def _taken(self, table: ScheduleTable) -> Synced:
        note = (
            f"schedule {table.name!r} isn't planned: {table.to[0]} already has a schedule with that name, made in chat or by a "
            "command. Rename this one or remove that one, then reload"
        )
        log.warning("a schedule of the settings is not planned", reason=note)
        return Synced(notes=(note,))


async def nothing_planned(settings: Settings) -> Synced:
    """Answer where no store keeps schedules."""
    return Synced()


def id_of(name: str, life: int = 0) -> ScheduleId:
    return ScheduleId(hashlib.sha256(f"file:{life}:{name}".encode()).hexdigest()[:20])


def schedule_of(table: ScheduleTable, ident: ScheduleId, to: Sequence[Address], zone: str, now: datetime) -> Schedule:
    """A table as a schedule that begins now. Errors: ConfigError when the file of its template cannot be read."""
    from runtime.calendar import written  # not loaded where nothing is planned

    rule = table.rule(zone)
    starts, ends = table.span(rule.zone)
    anchor = starts or now
    try:
        task = table.task()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"schedule {table.name!r}: {table.template_file} cannot be read ({error}).") from error
    fresh = Schedule(
        id=ident,
        name=table.name,
        when=written(rule),
        when_text=table.when,
        task=task,
        to=tuple(dict.fromkeys(to)),
        terms=table.terms,
        state=ScheduleState.ACTIVE,
        created_at=now,
        anchor_at=anchor,
        actor=Identity(""),
        agent=table.agent or MAIN,
        by_file=True,
        starts_at=starts,
        ends_at=ends,
    )
    return planned(fresh, now)


def planned(schedule: Schedule, now: datetime) -> Schedule:
    """With its next instant; ended where there is none."""
    from runtime.calendar import next_after, read

    start = max(now, schedule.starts_at - TICK) if schedule.starts_at else now
    found = next_after(read(schedule.when), start, anchor=schedule.anchor_at)
    if found is None or (schedule.ends_at and found > schedule.ends_at):
        return replace(schedule, state=ScheduleState.ENDED, reason=OVER, next_at=None)
    return replace(schedule, state=ScheduleState.ACTIVE, reason="", next_at=found)


def merged(old: Schedule, wanted: Schedule, now: datetime) -> Schedule:
    """Schedule as the settings say now, with the run state that there was. The next instant is another where the rule is."""
    same = replace(old, task=wanted.task, to=wanted.to, terms=wanted.terms, agent=wanted.agent)
    if rule_of(old) == rule_of(wanted):
        return same
    is_counted_anew = (old.when, old.starts_at) != (wanted.when, wanted.starts_at)
    then = replace(
        same,
        when=wanted.when,
        when_text=wanted.when_text,
        anchor_at=wanted.anchor_at if is_counted_anew else old.anchor_at,
        starts_at=wanted.starts_at,
        ends_at=wanted.ends_at,
    )
    if old.state is ScheduleState.PAUSED:  # by a person or after failures: that is not undone by another rule
        return then
    return planned(then, now)


def rule_of(schedule: Schedule) -> tuple[object, ...]:
    """Facts from which its instants follow."""
    return schedule.when, schedule.starts_at, schedule.ends_at
