"""Begins goals for tools: each is work with a session of its own, whose result comes into a room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from runtime.chat.views.goals import SetGoal, goal_busy
from runtime.contract import Identity, OccurrenceId, Report, TaskActor
from runtime.domain.goals.contract import GoalBounds, GoalError, contract_of
from runtime.domain.goals.setting import report_of
from runtime.domain.ids import derived
from runtime.errors import ToolRetry
from runtime.guard.door import OPEN_DOOR, Door
from runtime.guard.findings import Gate


class GoalBook(Protocol):
    """The store, as a goal needs it."""

    async def begin_goal(self, report: Report, by: str) -> SetGoal | None: ...

    async def zone_of_goal(self, person: str, room: str) -> str: ...


class StartedGoals:
    """Implements `tools.goals.SetsGoals`. `begun` wakes whoever works on lanes. Words pass the leak guard."""

    def __init__(
        self,
        *,
        book: GoalBook,
        bounds: Callable[[], GoalBounds],
        begun: Callable[[], None],
        door: Callable[[], Door] = lambda: OPEN_DOOR,
    ) -> None:
        self._book = book
        self._bounds = bounds
        self._begun = begun
        self._door = door

    async def begin(self, text: str, by: TaskActor, agent: str) -> str:
        door, person = self._door(), by.person
        clean = str(door.clean(text, Gate.TOOL_ARGUMENTS, door.room(by.room)))
        try:
            contract = contract_of(clean, self._bounds())
        except GoalError as error:
            raise ToolRetry(f"{str(error).replace('{mark}', '/')} Nothing was begun.") from error
        zone = await self._book.zone_of_goal(person.id if person else "", str(by.room))
        actor = Identity(f"web:{person.id}" if person else "")
        goal = OccurrenceId(derived(by.run_id, by.key))
        report = report_of(goal, contract, by.room, agent, actor, person, zone)
        if busy := await self._book.begin_goal(report, person.name if person else agent):
            raise ToolRetry(f"{goal_busy(busy, '/')} Nothing was begun.")
        self._begun()
        return goal
