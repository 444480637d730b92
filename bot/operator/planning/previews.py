"""Schedules and reports as they would be, before anybody saves them; and the rooms that they may go to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from adapters.web.adapter import CHANNEL
from bot.accounts.naming import of_page
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.planning.report_preview import PREVIEWS_AT_ONCE, ReportPreview
from bot.operator.reports import ReportOperations
from bot.operator.schedules import FIELDS, ScheduleOperations, asker, task_in, terms_in
from bot.operator.views import View, at
from runtime.contract import (
    Address,
    Foreseen,
    Job,
    OccurrenceId,
    OccurrenceState,
    Schedule,
    ScheduleId,
    ScheduleRequest,
    Task,
    TaskKind,
    Terms,
)
from runtime.errors import ToolRetry
from runtime.http.errors import Refusal
from runtime.text.dates import whole_date
from runtime.text.naming import folded
from runtime.text.words import marked, say_to_reader

OF_SCHEDULE: Final = "schedule"
"""Field that names the schedule which is to be changed; empty for a new one."""
REPORTED: Final = (TaskKind.TEMPLATE, TaskKind.REPORT)
NO_REPORT: Final = marked(
    "An agent writes this when it's due, so nobody can show it before. A template or a "
    "built-in report can be previewed."
)
PREVIEW_ID: Final = OccurrenceId("preview")

_places = asyncio.Semaphore(PREVIEWS_AT_ONCE)


@by_role
class PreviewsApi(PartialApi):
    """Looks at schedules and reports before they are kept."""

    async def preview_schedule(self, fields: Mapping[str, Any]) -> View:
        """A schedule as it would be: its times in words, the next five of them, and faults by field. Nothing is kept.

        `fields` are those of a schedule; `schedule` names the one that is to be changed, of which empty ones stay.
        """
        seen = await self._foreseen(fields)
        return {
            "when": seen.when,
            "zone": seen.zone,
            "next": [at(instant) for instant in seen.instants],
            "there": [_there(instant, seen.zone) for instant in seen.instants],
            "faults": dict(seen.faults),
        }

    async def preview_report(self, fields: Mapping[str, Any]) -> View:
        """The text and charts of a report as they would be now, shown to nobody else and kept nowhere."""
        old = await self._changed(fields)
        given = {name: value for name, value in fields.items() if name != OF_SCHEDULE}
        _check_known(given)
        task = task_in(given, old.task if old else None) or (old.task if old else None)
        if task is None or task.kind not in REPORTED:
            raise Refusal(422, NO_REPORT).of_field("prompt")
        preview = ReportPreview(
            self._reports.reporters, self._reports.tools, self._chart(), self._context.mask, _places
        )
        terms = terms_in(given, old.terms if old else Terms()) or (old.terms if old else Terms())
        return await preview.made(await self._job(given, task, terms, old), self.actor)

    async def destinations(self, query: str = "", limit: int = 100) -> list[View]:
        """Rooms that reports may go to, by name: those that are served, of every channel."""
        await self._context.refresh()
        words, rooms = folded(query), await self._rooms_known()
        rows = [
            (room, {"name": name, "address": self._context.named(room), "channel": room.channel})
            for room, name in sorted(rooms.items(), key=lambda one: (one[1].casefold(), str(one[0])))
        ]
        found = [(room, row) for room, row in rows if words in folded(row["name"]) or words in folded(row["address"])]
        return [row for room, row in found if self._schedules.serves(room)][:limit]

    # ----------------------------------------------------------------------------------------------- the pieces of it

    async def _foreseen(self, fields: Mapping[str, Any]) -> Foreseen:
        old = await self._changed(fields)
        given = {name: value for name, value in fields.items() if name != OF_SCHEDULE}
        _check_known(given)
        faults: dict[str, str] = {}
        words = self._schedules.words_in(given)
        wish = ScheduleRequest(words["name"], words["when"], words["zone"], starts=words["starts"], ends=words["ends"])
        for piece in ("to", "task", "terms"):
            try:
                wish = await self._with(piece, wish, given, old)
            except Refusal as refusal:
                faults[refusal.field or piece] = refusal.sentence
        try:
            seen = await self._schedules.timetable.foresee(
                wish, asker(self.actor), old.id if old else None, say=say_to_reader
            )
        except ToolRetry as error:
            raise Refusal(409, str(error)) from error
        return replace(seen, faults={**_as_in_form(seen.faults, given), **faults})

    async def _with(
        self, piece: str, wish: ScheduleRequest, given: Mapping[str, Any], old: Schedule | None
    ) -> ScheduleRequest:
        match piece:
            case "to":
                return replace(wish, to=await self._rooms_in(given))
            case "task":
                return replace(wish, task=task_in(given, old.task if old else None))
            case _:
                return replace(wish, terms=terms_in(given, old.terms if old else Terms()))

    async def _rooms_in(self, given: Mapping[str, Any]) -> Sequence[Address]:
        try:
            return await self._schedules.rooms_in((await self._with_rooms(given)).get("to"))
        except Refusal as refusal:
            raise refusal.of_field("to") from None

    async def _changed(self, fields: Mapping[str, Any]) -> Schedule | None:
        name = fields.get(OF_SCHEDULE) or ""
        if not isinstance(name, str):
            raise Refusal(400, marked("`schedule` must be text."))
        return await self._schedules.found(name, self.actor) if name.strip() else None

    async def _job(self, given: Mapping[str, Any], task: Task, terms: Terms, old: Schedule | None) -> Job:
        now = self._context.now()
        last = await self._schedules.timetable.history(old.id, most=5) if old else []
        told = next((one for one in last if one.state is OccurrenceState.DONE and one.result), None)
        return Job(
            occurrence=PREVIEW_ID,
            schedule=old.id if old else ScheduleId(PREVIEW_ID),
            name=str(given.get("name") or (old.name if old else "preview")),
            task=task,
            to=old.to if old else (),
            terms=terms,
            planned_at=now,
            previous=told.result if told else "",
            previous_at=told.planned_at if told else None,
            zone=await self._zone(given, old),
        )

    async def _zone(self, given: Mapping[str, Any], old: Schedule | None) -> str:
        wish = ScheduleRequest(when="daily", zone=str(given.get("zone") or ""))
        seen = await self._schedules.timetable.foresee(wish, asker(self.actor))
        return str(self._schedules.timetable.clocks(old)) if old and not wish.zone else seen.zone or "UTC"

    async def _rooms_known(self) -> Mapping[Address, str]:
        """Every room that has a name, with it: those of platforms as they tell it, conversations of the page by their title."""
        has = self._context
        named = {room: has.called(room) for room in (has.rooms.all() if has.rooms else {})}
        titles = await self._store.traces.conversations(CHANNEL, has.web_account, owner=self.actor.identity)
        planned = [room for one in await self._schedules.timetable.listed() for room in one.to]
        return {
            **{room: has.called(room) for room in planned},
            **{room: of_page(title) for room, title in titles.items()},
            **named,
        }

    def _chart(self) -> Any:
        return (self._context.tools() or {}).get("chart")

    @property
    def _schedules(self) -> ScheduleOperations:
        if self._context.schedules is None:
            raise Refusal(404, marked("Scheduling isn't available here."))
        return self._context.schedules

    @property
    def _reports(self) -> ReportOperations:
        if self._context.reports is None:
            raise Refusal(404, marked("Reports aren't available here."))
        return self._context.reports


def _check_known(given: Mapping[str, Any]) -> None:
    if unknown := next((name for name in given if name not in FIELDS), None):
        raise Refusal(
            400,
            marked("There is no field `{unknown}`. The fields are: {fields}.").format(
                unknown=unknown, fields=", ".join(sorted(FIELDS))
            ),
        )


def _as_in_form(faults: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, str]:
    """Faults by the names of the fields: the task stands in that of its kind."""
    kind = next((name for name in ("template", "report") if given.get(name)), "prompt")
    return {kind if name == "task" else name: words for name, words in faults.items()}


def _there(instant: datetime, zone: str) -> str:
    """By the clocks of the schedule."""
    return whole_date(instant.astimezone(ZoneInfo(zone)), say_to_reader)
