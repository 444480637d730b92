"""A run's own stop, and the same work once more where that can be done exactly once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from bot.operator.context import OperatorContext
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View
from bot.operator.work.ended import hearers_of
from runtime.cluster.topics import LANES
from runtime.contract import (
    QUESTIONS,
    Occurrence,
    OccurrenceId,
    OccurrenceState,
    RunId,
    ScheduleState,
    TaskKind,
    Trigger,
)
from runtime.domain.ids import digest
from runtime.domain.runs import RunState
from runtime.http.errors import Refusal
from runtime.store.protocol import RunRow
from runtime.text.words import marked
from runtime.timeline.trail import Thing

AGAIN: Final = "again"
OPEN_STATES: Final = (RunState.RUNNING, RunState.PARKED, RunState.READY)
RUN_OVER: Final = marked("This run is over already.")
STILL_AT_WORK: Final = marked("It isn't over yet. Stop it first, or wait for its end.")
ASKED_BY_A_PERSON: Final = marked(
    "{who} asked for it in a message. Only they can ask again: on the page with “Try again” beneath it."
)
ASKED_BY_YOU: Final = marked("You asked for it in a message. Ask again there, with “Try again” beneath it.")
FLOW_DONE: Final = marked("It is a workflow that came to its end. Start it anew in a conversation: `/workflow`.")
HANDED_ON: Final = marked("Another run handed this work on, and got its answer. Run that one again.")
WORKED_ON_A_TASK: Final = marked("It worked on a task. The page of tasks starts that again.")
CALLED_BY_A_PROGRAM: Final = marked("Another program asked for it. Only that can ask again.")
SCHEDULE_GONE: Final = marked("Its schedule was deleted, so there is nothing to run again.")
TRIED_AGAIN: Final = marked("It failed, and its schedule will try again.")
ASKER_GONE: Final = marked(
    "Whoever asked for it isn't here any more, so nobody knows whose rights it would have. Ask for it anew."
)
RAN_AGAIN: Final = marked("It was run again already.")
OWN_PAGES: Final = {
    TaskKind.WORKFLOW: marked("It is a workflow: its own page resumes it where it stopped."),
    TaskKind.GOAL: marked("It works towards a goal. Set the goal again in its conversation."),
}
REASONS: Final = {
    Trigger.CHILD: HANDED_ON,
    Trigger.CHILD_ENDED: HANDED_ON,
    Trigger.TASK: WORKED_ON_A_TASK,
    Trigger.HOOK: CALLED_BY_A_PROGRAM,
}


@dataclass(frozen=True, slots=True)
class Repeat:
    """Occurrence by which a run's work can be done once more; else the reason it can't, and the run that did it already."""

    occurrence: Occurrence | None = None
    why: str = ""
    then: str = ""


def next_of(run: RunId) -> OccurrenceId:
    """The id of the occurrence that does the work of a run once more: one for each run, so that two presses are one."""
    return OccurrenceId(digest(f"{AGAIN}:{run}")[:26])


async def repeat_of(has: OperatorContext, row: RunRow, me: str = "") -> Repeat:
    """Look whether a run can be done once more. It never is by itself, nor twice. `me` is who asks."""
    if row.state in OPEN_STATES:
        return Repeat(why=STILL_AT_WORK)
    one = await has.store.schedules.occurrence_of(row.id)
    if one is None:
        who = row.requester or marked("A person")
        by_hand = ASKED_BY_YOU if row.requester and row.requester == me else ASKED_BY_A_PERSON.format(who=who)
        return Repeat(why=REASONS.get(row.trigger, by_hand))
    if done := await has.store.schedules.occurrence(next_of(row.id)):
        return Repeat(why=RAN_AGAIN, then=done.run_id or "")
    if one.state is OccurrenceState.PLANNED:
        return Repeat(why=TRIED_AGAIN)
    if one.report and one.report.task.kind in OWN_PAGES:
        is_whole = row.state is RunState.DONE and one.report.task.kind is TaskKind.WORKFLOW
        return Repeat(why=FLOW_DONE if is_whole else OWN_PAGES[one.report.task.kind])
    if one.report is None:
        schedule = await has.store.schedules.schedule(one.schedule)
        if schedule is None or schedule.state is ScheduleState.REMOVED:
            return Repeat(why=SCHEDULE_GONE)
    return Repeat(one)


@by_role
class RunTurnsApi(PartialApi):
    """The stop of one run, and its work once more."""

    async def stop_run(self, run_id: str) -> View:
        """Stop this run with all below it, and nothing else: as `/stop` in its room would."""
        run = RunId(await self._meant(run_id, Thing.RUN))
        ended = await self._store.workflows.cancel(run, self.actor.person.name)
        if ended is None:
            raise Refusal(409, RUN_OVER)
        hearers_of(self._context).tell(ended)
        self._context.notifier.notify(QUESTIONS)
        row = await self._row(run)
        told = (
            marked("It stops as soon as what it does can be cut.")
            if row.state is RunState.RUNNING
            else marked("Stopped.")
        )
        return {"id": run, "state": row.state, "told": told}

    async def run_again(self, run_id: str) -> View:
        """Do the work of a schedule's or report's run once more. A second call begins nothing."""
        run = RunId(await self._meant(run_id, Thing.RUN))
        repeat = await repeat_of(self._context, await self._row(run), self.actor.person.name)
        if repeat.occurrence is None:
            raise Refusal(409, repeat.why)
        begun = await self._begin(repeat.occurrence, next_of(run))
        self._context.notifier.notify(LANES)
        return {"id": run, "state": OccurrenceState.STARTED, "then": begun, "told": marked("Started again.")}

    async def _begin(self, old: Occurrence, new: OccurrenceId) -> str:
        """The run of the new occurrence, whoever of two began it."""
        schedules, by = self._store.schedules, self.actor.person.name
        if old.report is None:
            await schedules.run_schedule(old.schedule, by, new)
        else:
            # What is kept of a report doesn't say who asked for it: without somebody it would have the rights of the settings.
            asked = replace(old.report, id=new, owner=self.actor.person, actor=self.actor.identity)
            await schedules.begin_report(asked, by)
        found = await schedules.occurrence(new)
        if found is None:
            raise Refusal(409, SCHEDULE_GONE)
        return found.run_id or ""

    async def _row(self, run: RunId) -> RunRow:
        found = await self._store.operations.run(run)
        if found is None:
            raise Refusal(404, marked("There is no run {run}.").format(run=run))
        return found[0]
