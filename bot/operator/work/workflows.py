"""Workflows for operators: those that there are, those that were begun, and how far each is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bot.accounts.naming import Named
from bot.operator.actor import Actor
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from bot.operator.work.ended import Hearers, hearers_of
from runtime.chat.views.workflows import Begun
from runtime.cluster.topics import LANES
from runtime.contract import Address, OccurrenceId, Report, Role, RunId, Task, TaskKind
from runtime.domain.agents.manifest import MAIN
from runtime.domain.agents.tasks import short_id
from runtime.domain.ids import derived
from runtime.domain.runs import WaitKind
from runtime.domain.workflows.asking import Flows, found
from runtime.domain.workflows.definition import Step, Workflow
from runtime.domain.workflows.progress import OVER, StepNow, StepState
from runtime.domain.workflows.reading import WorkflowError, inputs_of
from runtime.domain.workflows.record import INPUTS, frozen_in, to_resume
from runtime.http.errors import Refusal
from runtime.store.store import Store
from runtime.text.words import marked

UNKNOWN_FLOW_RUN: Final = marked(
    "No workflow that was begun is called {name!r}. The end of its id is enough, four characters or more."
)
RESUMED_TOLD: Final = marked("This goes on where {name} ({id}) stopped.")
STOPPED_FLOW: Final = "stopped"
UTC_ZONE: Final = "UTC"
NO_WAITS: Final[Mapping[str, WaitKind]] = {}


def id_resumed(begun: str) -> str:
    """Id of the one that goes on with it."""
    return derived(begun, "resumed")


@dataclass(frozen=True, slots=True)
class WorkflowOperations:
    """Workflows as operators call things. `flows` are those of the settings, `agent` the main one."""

    store: Store
    flows: Callable[[], Flows]
    agent: str
    hearers: Hearers
    named: Named
    called: Named
    mask: Callable[[str], str]
    new_id: Callable[[], str]

    def listed(self) -> list[View]:
        return [_flow(flow) for _, flow in sorted(self.flows().items())]

    def one(self, name: str) -> View:
        try:
            return _flow(found(name, self.flows()))
        except WorkflowError as error:
            raise _refusal(404, error) from error

    async def begun(self, name: str, state: str) -> list[View]:
        every = await self.store.workflows.begun()
        ids = {one.id for one in every}
        rows = [self._view(one, resumed=id_resumed(one.id) in ids) for one in every if name in ("", one.name)]
        return [row for row in rows if state in ("", row["state"])]

    async def shown(self, name: str) -> View:
        """One that was begun, with its steps and its inputs."""
        one = await self._meant(name)
        frozen = frozen_in(await self.store.workflows.record(RunId(one.run))) if one.run else None
        waits = await self.store.workflows.waiting_calls(RunId(one.run)) if one.run and not one.ended_at else {}
        resumed = bool(one.ended_at and await self.store.workflows.begun_called(id_resumed(one.id)))
        return {**self._view(one, waits, resumed=resumed), INPUTS: dict(frozen.inputs) if frozen else {}}

    async def start(self, name: str, room: Address, inputs: Mapping[str, Any], actor: Actor) -> View:
        actor.must_be(Role.OPERATOR)
        try:
            flow = found(name, self.flows())
            values = inputs_of(flow, inputs)
        except WorkflowError as error:
            raise _refusal(400, error) from error
        task = Task(TaskKind.WORKFLOW, flow.name, options=values)
        return await self._begin(task, flow.agent, room, actor, self.new_id())

    async def resume(self, name: str, actor: Actor) -> View:
        """Go on with one that failed or was stopped, from the step that it stopped at."""
        actor.must_be(Role.OPERATOR)
        one = await self._meant(name)
        if one.ended_at is None:
            raise Refusal(409, marked("This workflow is not over, so there is nothing to resume."))
        calls = await self.store.workflows.record(RunId(one.run)) if one.run else []
        session = await self.store.workflows.session_of(RunId(one.run)) if one.run else None
        kept, frozen = to_resume(calls, RunId(one.run), session) if session else None, frozen_in(calls)
        if kept is None or frozen is None or one.room is None:
            raise Refusal(409, marked("This workflow stopped before it began. Start it anew."))
        if one.now and all(step.state in OVER for step in one.now.steps) and one.now.failed is None:
            raise Refusal(409, marked("All steps of this workflow are done."))
        # One is resumed once, however often somebody presses: twice would do the steps that are left twice.
        resumed = id_resumed(one.id)
        if await self.store.workflows.begun_called(resumed):
            raise Refusal(
                409,
                marked("This workflow was resumed already: {resumed}. Resume that one, if it failed too.").format(
                    resumed=short_id(resumed)
                ),
            )
        task = Task(TaskKind.WORKFLOW, one.name, options=dict(frozen.inputs), resumes=kept)
        begun = await self._begin(task, frozen.flow.agent or one.agent, one.room, actor, resumed)
        return {**begun, "told": RESUMED_TOLD.format(name=one.name, id=short_id(one.id))}

    async def cancel(self, name: str, actor: Actor) -> View:
        """End one that is at work or waits; what its steps did stays done."""
        one = await self._meant(name)
        if one.ended_at is not None or not one.run:
            raise Refusal(409, marked("This workflow is over already."))
        ended = await self.store.workflows.cancel(RunId(one.run), actor.person.name)
        if ended is None:
            raise Refusal(409, marked("This workflow is over, or has not begun yet."))
        self.hearers.tell(ended)
        return await self.shown(one.id)

    async def _begin(self, task: Task, agent: str, room: Address, actor: Actor, begun: str) -> View:
        report = Report(
            id=OccurrenceId(begun),
            name=task.text,
            task=task,
            to=(room,),
            zone=await self.store.schedules.zone_of(actor.person.id, str(room)) or UTC_ZONE,
            agent=agent or self.agent,
            actor=actor.identity,
            owner=actor.person,
        )
        await self.store.schedules.begin_report(report, actor.person.name)
        self.hearers.notifier.notify(LANES)
        return await self.shown(report.id)

    async def _meant(self, name: str) -> Begun:
        one = await self.store.workflows.begun_called(name.strip()) if len(name.strip()) >= LEAST_CHARS else None
        if one is None:
            raise Refusal(404, UNKNOWN_FLOW_RUN.format(name=name))
        return one

    def _view(self, one: Begun, waits: Mapping[str, WaitKind] = NO_WAITS, *, resumed: bool = False) -> View:
        steps = [_step_now(now, self.mask, waits) for now in one.now.steps] if one.now else []
        if one.state == STOPPED_FLOW:  # the step that was cut didn't fail
            steps = [{**step, "state": STOPPED_FLOW} if step["state"] == StepState.FAILED else step for step in steps]
        return {
            "id": one.id,
            "short": short_id(one.id),
            "name": one.name,
            "state": one.state,
            "run": one.run,
            "by": one.asked_by,
            "schedule": one.schedule,
            "room": self.called(one.room) if one.room else "",
            "address": self.named(one.room) if one.room else "",
            "started_at": at(one.started_at),
            "ended_at": at(one.ended_at),
            "reason": self.mask(one.reason),
            "done": sum(now.state in OVER for now in one.now.steps) if one.now else 0,
            "steps": steps,
            "sha256": one.now.flow.sha256 if one.now else "",
            "resumed_as": id_resumed(one.id) if resumed else "",
        }


LEAST_CHARS: Final = 4
WAITING_STEP: Final = "waiting"
"""The state of a step at work whose calls wait for somebody, or for a time."""
WAITS_FOR: Final[Mapping[WaitKind, str]] = {
    WaitKind.APPROVAL: marked("waits for a person"),
    WaitKind.TIMER: marked("waits for its time"),
    WaitKind.CHILD: marked("waits for an agent"),
}


def _flow(flow: Workflow) -> View:
    inputs = [
        {"name": one.name, "type": one.kind, "default": one.default, "required": one.required, "about": one.about}
        for one in flow.inputs
    ]
    return {
        "name": flow.name,
        "about": flow.about,
        "agent": flow.agent,
        "sha256": flow.sha256,
        INPUTS: inputs,
        "steps": [_step(step) for step in flow.steps],
    }


def _step(step: Step) -> View:
    return {
        "name": step.name,
        "kind": step.kind.value,
        "does": step.text,
        "after": list(step.after),
        "when": step.when,
        "each": step.each,
        "until": step.until,
    }


def _step_now(now: StepNow, mask: Callable[[str], str], waits: Mapping[str, WaitKind]) -> View:
    """A step whose calls all wait for a person or a time is waiting, and not at work."""
    kinds = {waits.get(one.id) for one in now.wanted}
    is_waiting = now.state is StepState.RUNNING and bool(kinds) and None not in kinds
    why = " and ".join(sorted(WAITS_FOR[kind] for kind in kinds if kind)) if is_waiting else now.why
    count = {"done": now.done, "pieces": now.pieces}
    state = WAITING_STEP if is_waiting else now.state.value
    return {**_step(now.step), "state": state, "why": mask(why), "result": mask(now.text), **count}


def _refusal(status: int, error: WorkflowError) -> Refusal:
    return Refusal(status, f"{str(error)[:1].upper()}{str(error)[1:]}")


@by_role
class WorkflowsApi(PartialApi):
    """Workflows of the settings, and those that were begun."""

    async def workflows(self) -> list[View]:
        """Workflows of the settings, by name."""
        return self._workflows.listed()

    async def workflow(self, name: str) -> View:
        return self._workflows.one(name)

    async def start_workflow(self, name: str, to: str, inputs: Mapping[str, Any]) -> View:
        """Begin one now. Its report and its questions come into the room `to`."""
        room = await self._room_meant(to)
        if room is None:
            raise Refusal(400, marked("A workflow needs a room: write it as `--to slack:work/C1`."))
        return await self._one_entitled(await self._workflows.start(name, room, inputs, self.actor))

    async def workflow_runs(self, name: str = "", state: str = "") -> list[View]:
        """Workflows that were begun, newest first: of one name, or in one state."""
        return await self._entitled(await self._workflows.begun(name, state))

    async def workflow_run(self, which: str) -> View:
        """One that was begun, by its id or the end of that."""
        await self._context.refresh()
        return await self._one_entitled(await self._workflows.shown(which))

    async def cancel_workflow(self, which: str) -> View:
        return await self._one_entitled(await self._workflows.cancel(which, self.actor))

    async def resume_workflow(self, which: str) -> View:
        return await self._one_entitled(await self._workflows.resume(which, self.actor))

    @property
    def _workflows(self) -> WorkflowOperations:
        has = self._context
        return WorkflowOperations(
            store=has.store,
            flows=has.workflows,
            agent=MAIN,
            hearers=hearers_of(has),
            named=has.named,
            called=has.called,
            mask=has.mask,
            new_id=has.new_id,
        )
