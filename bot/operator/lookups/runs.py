"""Runs for operators: those of every room, and one with its steps."""

from __future__ import annotations

from adapters.web.adapter import CHANNEL
from bot.accounts.naming import Named
from bot.operator.lookups.posted import posted_view
from bot.operator.lookups.run_turns import OPEN_STATES, repeat_of
from bot.operator.lookups.spans import Span, spans_of
from bot.operator.partial_api import PartialApi, by_role, word_of
from bot.operator.views import View, at
from runtime.contract import Occurrence, RunId, TaskKind
from runtime.domain.runs import RunState
from runtime.domain.schedules import origin_of
from runtime.http.errors import Refusal
from runtime.store.protocol import RunRow, StepRow
from runtime.text.glyphs import in_full
from runtime.text.words import marked
from runtime.timeline.trail import Thing


@by_role
class RunsApi(PartialApi):
    """Runs, newest first, and one with its steps."""

    async def runs(self, state: str = "", limit: int = 100, room: str = "") -> list[View]:
        rows = await self._store.operations.runs(
            state=word_of(RunState, state), room=await self._room_meant(room), limit=limit
        )
        return await self._entitled([run_view(row, *self._names) for row in rows])

    async def run(self, run_id: str) -> View:
        run_id = await self._meant(run_id, Thing.RUN)
        found = await self._store.operations.run(RunId(run_id))
        if found is None:
            raise Refusal(404, marked("There is no run {run_id}.").format(run_id=run_id))
        row, steps = found
        view = await self._one_entitled(run_view(row, *self._names))
        took, spans = spans_of(row, steps, self._context.now())
        again = await repeat_of(self._context, row, self.actor.person.name)
        return {
            **view,
            "seconds": took,
            "steps": list(map(step_view, steps, spans)),
            "can_stop": row.state in OPEN_STATES,
            "can_repeat": again.occurrence is not None,
            "why_not_again": again.why,
            "then": again.then,
            "conversation": self._conversation(row),
            **await self._origin(row.id),
        }

    def _conversation(self, row: RunRow) -> str:
        """The place on the page, for whoever asked there; others can't open it."""
        is_theirs = row.address.channel == CHANNEL and row.requester == self.actor.person.name
        return f"/#{row.address.room}" if is_theirs else ""

    async def _origin(self, run: RunId) -> View:
        """The page of what began it; and the messages in which its answer stands."""
        one = await self._store.schedules.occurrence_of(run)
        schedule = await self._store.schedules.schedule(one.schedule) if one and not one.report else None
        kind = one.report.task.kind if one and one.report else ""
        return {
            "schedule": {"id": schedule.id, "name": schedule.name} if schedule else None,
            "workflow": one.id if one and kind == TaskKind.WORKFLOW else "",
            "goal": one.id if one and kind == TaskKind.GOAL else "",
            "posted": await self._posted(run, one),
        }

    async def _posted(self, run: RunId, one: Occurrence | None) -> list[View]:
        """Messages with its answer: one of a schedule has the origin of its instant."""
        origins = [f"run:{run}", *([origin_of(one.id)] if one else [])]
        rows = await self._store.operations.posted(origins)
        return await self._entitled([posted_view(self._context, row) for row in rows])


def run_view(row: RunRow, named: Named, called: Named) -> View:
    return {
        "id": row.id,
        "state": row.state,
        "agent": row.agent or row.session.partition("|")[0],
        "address": named(row.address),
        "room": called(row.address),
        "requester": row.requester,
        "started_at": at(row.started_at),
        "ended_at": at(row.ended_at),
        "iterations": row.iterations,
        "error": row.error,
        "signals": list(row.signals),
        "cost_micros": row.cost_micros,
        "trigger": row.trigger,
    }


def step_view(row: StepRow, span: Span) -> View:
    """A step of a run. Its `_after` are seconds after the run began."""
    return {
        "number": row.number,
        "kind": row.kind,
        "tool": row.tool,
        "arguments": row.arguments,
        "call": in_full(row.arguments)[0],
        "state": row.state,
        "result": row.result,
        "started_at": at(row.started_at),
        "ended_at": at(row.ended_at),
        "grant": row.allowed_by,
        "called_after": round(span.called, 3),
        "began_after": round(span.began, 3),
        "ended_after": round(span.ended, 3),
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cost_micros": row.cost_micros,
    }
