"""Scheduled work in this process: who fires it, who books it, and where its reports go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, tzinfo

from bot.accounts.naming import Accounts
from bot.accounts.supervisor import AccountSupervisor
from bot.settings.schedules import Planning
from runtime.contract import (
    Address,
    Asker,
    Foreseen,
    NewId,
    Occurrence,
    Schedule,
    ScheduleId,
    ScheduleRequest,
    Timetable,
    Tool,
)
from runtime.guard.door import OPEN_DOOR, Door
from runtime.guard.findings import Gate
from runtime.store.store import Store
from runtime.text.words import Say, plainly
from tools.kit.rooms import Rooms
from tools.schedules import schedule_tools

Reach = Callable[[Address], Awaitable[str | None]]
"""Why nothing can be posted in a room; None where it can."""


async def anywhere(address: Address) -> str | None:
    """No objection: for a process that cannot tell whether a room can be posted to."""
    return None


class LateTimetable:
    """Implements `contract.Timetable`. What understands times takes 1 MB, so it is made for the first wish.

    Wishes and reasons pass the leak guard on their way, whoever has them.
    """

    def __init__(self, make: Callable[[], Timetable], door: Callable[[], Door]) -> None:
        self._make = make
        self._door = door
        self._made: Timetable | None = None

    @property
    def _own(self) -> Timetable:
        if self._made is None:
            self._made = self._make()
        return self._made

    def _cleaned(self, wanted: ScheduleRequest, asker: Asker) -> ScheduleRequest:
        from runtime.schedules.requests import cleaned

        door = self._door()
        return cleaned(wanted, door, door.room(asker.address))

    async def add(self, wanted: ScheduleRequest, asker: Asker) -> Schedule:
        return await self._own.add(self._cleaned(wanted, asker), asker)

    async def change(self, schedule: ScheduleId, wanted: ScheduleRequest, asker: Asker) -> Schedule:
        return await self._own.change(schedule, self._cleaned(wanted, asker), asker)

    async def foresee(
        self,
        wanted: ScheduleRequest,
        asker: Asker,
        schedule: ScheduleId | None = None,
        count: int = 5,
        say: Say = plainly,
    ) -> Foreseen:
        return await self._own.foresee(self._cleaned(wanted, asker), asker, schedule, count, say)

    async def find(self, name: str, asker: Asker) -> Schedule:
        return await self._own.find(name, asker)

    async def listed(self, asker: Asker | None = None) -> list[Schedule]:
        return await self._own.listed(asker)

    async def pause(self, schedule: ScheduleId, asker: Asker, reason: str = "") -> Schedule:
        door = self._door()
        return await self._own.pause(schedule, asker, door.clean(reason, Gate.MESSAGE_IN, door.room(asker.address)))

    async def resume(self, schedule: ScheduleId, asker: Asker) -> Schedule:
        return await self._own.resume(schedule, asker)

    async def remove(self, schedule: ScheduleId, asker: Asker) -> None:
        await self._own.remove(schedule, asker)

    async def run_now(self, schedule: ScheduleId, asker: Asker) -> Occurrence:
        return await self._own.run_now(schedule, asker)

    async def history(self, schedule: ScheduleId, *, most: int = 20) -> list[Occurrence]:
        return await self._own.history(schedule, most=most)

    def upcoming(self, schedule: Schedule, count: int = 5) -> list[datetime]:
        return self._own.upcoming(schedule, count)

    def words(self, schedule: Schedule, say: Say = plainly) -> str:
        return self._own.words(schedule, say)

    def clocks(self, schedule: Schedule) -> tzinfo:
        return self._own.clocks(schedule)

    async def set_zone(self, zone: str, asker: Asker, *, whole_room: bool = False) -> str:
        return await self._own.set_zone(zone, asker, whole_room=whole_room)


def timetable_of(
    store: Store,
    reach: Reach,
    *,
    new_id: NewId,
    agent: str,
    serves: Callable[[Address], bool],
    named: Callable[[Address], str],
    started: Callable[[], None],
    planning: Callable[[], Planning] = Planning,
    door: Callable[[], Door] = lambda: OPEN_DOOR,
) -> Timetable:
    """`planning` are the settings of this moment: a reload brings others."""

    def make() -> Timetable:
        from runtime.schedules.service import Quotas, ScheduleService

        def quotas_of(limits: Planning) -> Quotas:
            return Quotas(limits.per_person, limits.per_room, limits.least_interval)

        return ScheduleService(
            book=store.schedules,
            agent=agent,
            now=store.now,
            new_id=new_id,
            serves=serves,
            reach=reach,
            quotas=lambda: quotas_of(planning()),
            zone=lambda: planning().zone,
            named=named,
            started=started,
        )

    return LateTimetable(make, door)


def planning_tools(timetable: Timetable, rooms: Rooms, named: Callable[[Address], str]) -> dict[str, Tool]:
    every = schedule_tools(timetable, rooms=rooms, named=named)
    return {tool.spec.name: tool for tool in every}


def reach_of(accounts: Accounts[AccountSupervisor]) -> Reach:
    """Asks the account of an address whether it can post there. One that isn't connected can't tell."""

    async def reach(address: Address) -> str | None:
        found = accounts.at(address)
        ask = found.features().reach if found and found.identity else None
        return await ask(address) if ask else None

    return reach
