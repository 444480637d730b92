"""Reports without a model, for this process: who makes them, and how an operator has one made at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bot.accounts.naming import RoomAt
from bot.operator.actor import Actor
from bot.operator.views import View
from bot.wiring.scheduling import Reach, anywhere
from runtime.agent.run_state import Maker
from runtime.contract import (
    Address,
    Figures,
    Job,
    Json,
    NewId,
    Now,
    Occurrence,
    OccurrenceId,
    OccurrenceState,
    Probe,
    Report,
    Role,
    RunId,
    ScheduleId,
    SessionKey,
    Task,
    TaskKind,
    Tool,
    ToolContext,
    no_probe,
)
from runtime.domain.deliveries import DeliveryState
from runtime.domain.goals.contract import GoalBounds
from runtime.domain.runs import RunState
from runtime.domain.workflows.asking import Flows
from runtime.errors import Retryable, ToolError
from runtime.http.errors import Refusal
from runtime.markup.moments import in_words
from runtime.store.protocol import BackgroundTask, DeliveryRow
from runtime.store.store import Store
from runtime.text.words import marked
from tools.reports import MayRead, Naming, report_tools

if TYPE_CHECKING:
    from runtime.reports.catalogue import Catalogue, Reporters
    from runtime.templating.renderer import Renderer
    from runtime.templating.sheet import Sheet

REPORTS_FOLDER: Final = Path(__file__).parents[2] / "config" / "reports"
STUCK: Final = (DeliveryState.DEAD, DeliveryState.HELD)


class LateReporters:
    """Makes what speaks in a model's place: `AgentLoop(reporter=…)`. What reads and renders templates, and what goes by
    workflows, is loaded for the first one."""

    def __init__(
        self,
        now: Now,
        folder: Path = REPORTS_FOLDER,
        flows: Callable[[], Flows] = dict,
        goals: Callable[[], GoalBounds] = GoalBounds,
        probe: Probe = no_probe,
    ) -> None:
        self._now = now
        self._folder = folder
        self._flows = flows
        self._goals = goals
        self._probe = probe

    def __call__(self, job: Job) -> Maker:
        if job.task.kind is TaskKind.WORKFLOW:
            from runtime.workflows.producer import WorkflowModel

            return WorkflowModel(job, self._flows)
        if job.task.kind is TaskKind.GOAL:
            from runtime.workflows.goals.producer import goal_of

            return goal_of(job, self._now, self._probe)
        return self._made(job)

    def sprints(self, model: str) -> Callable[[BackgroundTask], Maker]:
        """Makes what works on tasks in sprints, for agents of this model."""

        def made(task: BackgroundTask) -> Maker:
            from runtime.workflows.goals.producer import sprints_of

            return sprints_of(task, self._goals(), model, self._now, self._probe)

        return made

    @cached_property
    def catalogue(self) -> Catalogue:
        from runtime.reports.catalogue import Catalogue

        return Catalogue(self._folder)

    @cached_property
    def renderer(self) -> Renderer:
        from runtime.templating.renderer import Renderer

        return Renderer()

    @cached_property
    def _made(self) -> Reporters:
        from runtime.reports.catalogue import Reporters

        return Reporters(self.catalogue, renderer=self.renderer, now=self._now)


def figure_tools(figures: Figures, now: Now, naming: Naming, may_read: MayRead) -> dict[str, Tool]:
    made = report_tools(figures, now=now, naming=naming, may_read=may_read)
    return {tool.spec.name: tool for tool in made}


@dataclass(frozen=True, slots=True)
class ReportOperations:
    """Has reports made for operators. `runs`: a process is at work that makes them; else the next start does.

    `reach` tells why nothing can be posted in a room. `notify` wakes the lanes, `tools` are those by which a report is made that is only printed.
    `agent` is who makes them.
    """

    store: Store
    reporters: LateReporters
    room_at: RoomAt
    named: Callable[[Address], str]
    now: Now
    new_id: NewId
    agent: str
    notify: Callable[[], None] = lambda: None
    runs: bool = True
    tools: Mapping[str, Tool] = field(default_factory=dict)
    reach: Reach = anywhere

    async def listed(self) -> list[View]:
        return await asyncio.to_thread(self._listed)

    def _listed(self) -> list[View]:
        catalogue = self.reporters.catalogue
        sheets = [catalogue.sheet(name) for name in catalogue.names()]
        return [{"name": sheet.name, "about": sheet.about, "options": dict(sheet.options)} for sheet in sheets]

    async def begin(self, name: str, to: Sequence[str], options: Mapping[str, Json], actor: Actor) -> View:
        """Have the report `name` made for the rooms `to`, now: its id, by which it is asked how it goes."""
        actor.must_be(Role.OPERATOR)
        sheet = await self._sheet(name, options)
        rooms = tuple(dict.fromkeys([await self._room(room) for room in to]))
        if not rooms:
            raise Refusal(400, marked("A report needs a room: write it as `--to slack:work/C1`.")).of_field("to")
        for room in rooms:
            if why := await self.reach(room):
                raise Refusal(409, f"{self.named(room)}: {why}").of_field("to")
        report = await self._report(sheet, rooms, options, actor)
        await self.store.schedules.begin_report(report, actor.person.name)
        self.notify()
        return await self.state(report.id)

    async def out_of_reach(self, room: str) -> str:
        """The reason nothing can be posted in `room`; empty where nothing is known against it."""
        return await self.reach(await self._room(room)) or ""

    async def state(self, report_id: str) -> View:
        """Progress of a report that was begun. Errors: Refusal (404) for an unknown id."""
        made = await self.store.schedules.occurrences(ScheduleId(report_id), limit=1)
        report = made[0].report if made else None
        if report is None:
            raise Refusal(404, marked("There is no report {report_id}.").format(report_id=report_id))
        rooms = [self.named(address) for address in report.to]
        state, why = await self._how(made[0])
        counts = {"shown": made[0].shown, "wanted": len(rooms)}
        return {
            "id": report_id,
            "name": report.name,
            "to": rooms,
            "state": state,
            "reason": why,
            "runs": self.runs,
            **counts,
        }

    async def text(self, name: str, options: Mapping[str, Json], actor: Actor) -> View:
        """The report `name` as a text, shown to nobody and stored nowhere. It has no charts."""
        actor.must_be(Role.OPERATOR)
        from runtime.reports.templates import piece_of
        from runtime.templating.order import Order
        from runtime.templating.sheet import TemplateError

        sheet = await self._sheet(name, options)
        results = {call.name: await self._called(call.tool, call.arguments, actor) for call in sheet.calls()}
        pieces = {call.name: piece_of(call, results[call.name]) for call in sheet.data}
        at = self.now().isoformat()
        zone = await self._zone(actor, "")
        order = Order(sheet.body, sheet.above, pieces, {}, sheet.options, name=name, now=at, planned_at=at, zone=zone)
        try:
            made = await self.reporters.renderer.text(sheet, order)
        except TemplateError as error:
            raise Refusal(422, str(error)) from error
        return {"name": name, "text": in_words(made.strip())}

    # ------------------------------------------------------------------------------------------------------ the parts

    async def _sheet(self, name: str, options: Mapping[str, Json]) -> Sheet:
        from runtime.templating.sheet import TemplateError

        try:
            return await asyncio.to_thread(self.reporters.catalogue.sheet, name, options)
        except TemplateError as error:
            raise Refusal(400, str(error)[:1].upper() + str(error)[1:]) from error

    async def _room(self, text: str) -> Address:
        try:
            found = await self.room_at(text)
        except ValueError as error:
            raise Refusal(400, f"--to: {error}.").of_field("to") from error
        except Retryable as error:
            raise Refusal(409, f"--to: {error}").of_field("to") from error
        if found is None:
            words = marked('--to: "{text}": no account here is called that, or it has not been connected yet.').format(
                text=text
            )
            raise Refusal(400, words).of_field("to")
        return found

    async def _report(
        self, sheet: Sheet, rooms: tuple[Address, ...], options: Mapping[str, Json], actor: Actor
    ) -> Report:
        return Report(
            id=OccurrenceId(self.new_id()),
            name=sheet.name,
            task=Task(TaskKind.REPORT, sheet.name, options={key: sheet.options[key] for key in options}),
            to=rooms,
            zone=await self._zone(actor, str(rooms[0])),
            actor=actor.identity,
            agent=self.agent,
            owner=actor.person,
        )

    async def _zone(self, actor: Actor, room: str) -> str:
        return await self.store.schedules.zone_of(actor.person.id, room) or "UTC"

    async def _how(self, made: Occurrence) -> tuple[str, str]:
        """A word and a reason: shown, failed, waiting (for an approval), stuck (could not be shown), or working."""
        if made.state is OccurrenceState.FAILED:
            return "failed", made.reason
        if made.state is OccurrenceState.DONE:
            if made.shown >= made.wanted:
                return "shown", ""
            stuck = await self._stuck(made)
            return (
                ("stuck", "; ".join(f"{self.named(row.address)}: {row.reason}" for row in stuck))
                if stuck
                else ("working", "")
            )
        found = await self.store.operations.run(RunId(made.run_id)) if made.run_id else None
        return ("waiting", "") if found and found[0].state is RunState.PARKED else ("working", "")

    async def _stuck(self, made: Occurrence) -> list[DeliveryRow]:
        origin = f"occurrence:{made.id}"
        rows = [row for state in STUCK for row in await self.store.operations.deliveries(state=state, limit=500)]
        return [row for row in rows if row.origin == origin]

    async def _called(self, tool: str, arguments: Mapping[str, Any], actor: Actor) -> str:
        if tool not in self.tools:
            raise Refusal(
                422,
                marked("This report calls {tool}, so it can't only be printed. Show it in a room with --to.").format(
                    tool=tool
                ),
            )
        nowhere = ToolContext(Path(), SessionKey(""), RunId(""), "", requester=actor.person)
        try:
            return await self.tools[tool].call(arguments, nowhere)
        except ToolError as error:
            raise Refusal(422, f"{tool}: {error}") from error
