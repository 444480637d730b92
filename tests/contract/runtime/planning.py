"""A desk for tests of schedules: a process, a timer by hand, and what rooms show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from runtime.contract import (
    Address,
    Asker,
    Content,
    Identity,
    Model,
    Occurrence,
    Schedule,
    ScheduleRequest,
    Task,
    TaskKind,
    Terms,
)
from tests.contract.runtime.stage import ADA, Process, Stage, address

HOUR: Final = timedelta(hours=1)
HOME: Final = address("r1")
ELSEWHERE: Final = address("r2")
PROMPT: Final = Task(TaskKind.PROMPT, "What changed?")


@dataclass
class Desk:
    """Who plans: a person in a room of the stage."""

    stage: Stage
    process: Process

    async def asker(self, who: Identity = ADA, at: Address = HOME, key: str = "") -> Asker:
        return Asker(await self.stage.store.people.identified(who), who, at, key)

    async def plan(
        self,
        when: str = "every hour",
        *,
        who: Identity = ADA,
        at: Address = HOME,
        to: Sequence[Address] = (),
        terms: Terms | None = None,
        task: Task = PROMPT,
        name: str = "news",
        key: str = "",
        zone: str = "",
        **more: str,
    ) -> Schedule:
        wanted = ScheduleRequest(name=name, when=when, zone=zone, task=task, to=to, terms=terms, **more)
        return await self.process.booking.add(wanted, await self.asker(who, at, key))

    async def fire(self, after: timedelta = HOUR) -> None:
        """Time passes; what is due is fired and worked on until nothing is left to do."""
        self.stage.clock.advance(after)
        await self.process.timer.look()
        await self.process.answer_all()

    async def history(self, schedule: Schedule) -> list[Occurrence]:
        """Oldest first."""
        return (await self.process.booking.history(schedule.id, most=1_000))[::-1]

    async def states(self, schedule: Schedule) -> list[str]:
        return [one.state.value for one in await self.history(schedule)]

    async def now(self, schedule: Schedule) -> Schedule:
        found = await self.stage.store.schedules.schedule(schedule.id)
        assert found
        return found


async def desk(stage: Stage, model: Model, *tools: Any, **more: Any) -> Desk:
    return Desk(stage, await stage.process(model, tools, **more))


async def contents(stage: Stage) -> list[Content]:
    rows = await stage.rows("SELECT content FROM deliveries WHERE kind IN ('final', 'report') ORDER BY number")
    return [Content.from_json(row[0]) for row in rows]
