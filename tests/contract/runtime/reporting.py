"""A desk for tests of reports: a process, schedules fired by hand, and what rooms show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from bot.operator.reports import LateReporters
from bot.testing.scripted import Scripted
from runtime.contract import (
    Address,
    Asker,
    DataCall,
    Effect,
    Flow,
    Identity,
    Json,
    Occurrence,
    Schedule,
    ScheduleRequest,
    Task,
    TaskKind,
    Terms,
    ToolContext,
    ToolSpec,
)
from tests.contract.runtime.planning import HOME, HOUR
from tests.contract.runtime.stage import ADA, OUR_WORDS, Process, Stage

QUIET: Final = Terms(quiet=True)


@dataclass
class Gauge:
    """A tool that gives listed answers, a failure among them as an error."""

    answers: Sequence[str | Exception]
    name: str = "gauge"
    effect: Effect = Effect.READ
    flow: Flow = OUR_WORDS
    calls: list[Mapping[str, Json]] = field(default_factory=list)
    contexts: list[ToolContext] = field(default_factory=list)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "A gauge.", {"type": "object"}, self.effect, flow=self.flow)

    async def call(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        answer = self.answers[min(len(self.calls), len(self.answers) - 1)]
        self.calls.append(arguments)
        self.contexts.append(context)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def caution(self) -> str:
        return ""


@dataclass
class Desk:
    """A process without a word from any model, and a person who plans reports."""

    stage: Stage
    process: Process

    async def plan(
        self,
        task: Task,
        *,
        terms: Terms | None = None,
        to: Sequence[Address] = (),
        who: Identity = ADA,
        zone: str = "",
        name: str = "Morning",
    ) -> Schedule:
        asker = Asker(await self.stage.store.people.identified(who), who, HOME)
        wanted = ScheduleRequest(name=name, when="every hour", task=task, terms=terms, to=to, zone=zone)
        return await self.process.booking.add(wanted, asker)

    async def fire(self, after: timedelta = HOUR) -> None:
        self.stage.clock.advance(after)
        await self.process.timer.look()
        await self.process.answer_all()

    async def newest(self, schedule: Schedule) -> Occurrence:
        return (await self.process.booking.history(schedule.id, most=1))[0]

    async def shown(self, room: str = "r1") -> list[str]:
        return await self.stage.screen(room)


async def desk(stage: Stage, *tools: Any, **more: Any) -> Desk:
    reporter = LateReporters(stage.clock)
    return Desk(stage, await stage.process(Scripted([]), tools, reporter=reporter, **more))


def template(text: str, *data: DataCall, **options: Json) -> Task:
    return Task(TaskKind.TEMPLATE, text, data, options)


LOOK: Final = DataCall("seen", "gauge", {"deep": 1})
