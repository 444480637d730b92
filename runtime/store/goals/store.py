"""Goals that were set, for whoever sets them in a conversation."""

from __future__ import annotations

from runtime.chat.views.goals import SetGoal
from runtime.contract import Report, RunId
from runtime.store.delegation.costs import cost_of
from runtime.store.goals.standing import goal_called, goals_set, open_goal
from runtime.store.intake.occurrences import begin_report
from runtime.store.schedules.book import zones_of
from runtime.store.sql.base import Base
from runtime.store.sql.driver import Op


class GoalStore(Base):
    """Goals of this database; what they are stands in the calls of their runs."""

    async def begin_goal(self, report: Report, by: str) -> SetGoal | None:
        """Begin one, unless another is at work in its room: that one then."""
        now = self.now()

        def begun() -> Op[SetGoal | None]:
            busy = yield from open_goal(report.home, now)
            if busy is None or busy.id == report.id:
                yield from begin_report(report, by, now, self._new_id)
            return busy if busy and busy.id != report.id else None

        found = await self._driver.write(begun)
        self._observer.tried()
        return found

    async def goals_set(self) -> list[SetGoal]:
        """Goals of all rooms, newest first. At most 50."""
        now = self.now()
        return await self._driver.read(lambda: goals_set(now))

    async def goal_called(self, name: str) -> SetGoal | None:
        """The newest one with that id, or whose id ends so."""
        now = self.now()
        return await self._driver.read(lambda: goal_called(name, now))

    async def cost_of(self, run: RunId) -> int:
        """Money that a run has cost, with all below it, in millionths of a dollar."""
        return await self._driver.read(lambda: cost_of(run))

    async def zone_of_goal(self, person: str, room: str) -> str:
        """The zone of a person, else of a room; empty where none is known."""

        def zone() -> Op[str]:
            known = yield from zones_of(person, room)
            return known.get(person) or known.get(room) or ""

        return await self._driver.read(zone)
