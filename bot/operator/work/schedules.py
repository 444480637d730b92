"""Schedules in the operators' API; `bot.operator.schedules` does what is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from bot.operator.lookups.posted import posted_view
from bot.operator.partial_api import PartialApi, by_role, word_of
from bot.operator.planning.settings_line import line_of
from bot.operator.schedules import ScheduleOperations
from bot.operator.views import View
from runtime.contract import OccurrenceId, ScheduleState
from runtime.domain.schedules import origin_of
from runtime.http.errors import Refusal
from runtime.text.words import marked


@by_role
class SchedulesApi(PartialApi):
    """Schedules, whose rooms and titles are told by name."""

    async def schedules(self, state: str = "", room: str = "") -> list[View]:
        """All that is planned, by what is due next; or what reports to one room."""
        rows = await self._schedules.listed(word_of(ScheduleState, state), await self._room_meant(room))
        return await self._entitled(rows)

    async def schedule(self, name: str) -> View:
        """One, by its name or id: its next five instants and its last twenty."""
        row = await self._one_entitled(await self._schedules.shown(name, self.actor))
        source = await asyncio.to_thread(line_of, self._context.settings_file, row["name"]) if row["by_file"] else ""
        return {**row, "source": source, "history": await self._with_posts(row["history"])}

    async def _with_posts(self, rows: Sequence[View]) -> list[View]:
        """Each instant with the messages in which its report stands."""
        origins = {origin_of(OccurrenceId(row["id"])): row["id"] for row in rows}
        posts = await self._store.operations.posted(origins)
        views = await self._entitled([posted_view(self._context, one) for one in posts])
        told: dict[str, list[View]] = {}
        for one, view in zip(posts, views, strict=True):
            told.setdefault(origins[one.origin], []).append(view)
        return [{**row, "posted": told.get(row["id"], [])} for row in rows]

    async def schedule_history(self, name: str, limit: int = 20) -> list[View]:
        return await self._schedules.history(name, self.actor, limit)

    async def add_schedule(self, fields: Mapping[str, Any]) -> View:
        return await self._one_entitled(await self._schedules.add(await self._with_rooms(fields), self.actor))

    async def change_schedule(self, name: str, fields: Mapping[str, Any]) -> View:
        return await self._one_entitled(await self._schedules.change(name, await self._with_rooms(fields), self.actor))

    async def pause_schedule(self, name: str, reason: str = "") -> View:
        return await self._one_entitled(await self._schedules.pause(name, self.actor, reason))

    async def resume_schedule(self, name: str) -> View:
        return await self._one_entitled(await self._schedules.resume(name, self.actor))

    async def remove_schedule(self, name: str) -> View:
        return await self._schedules.remove(name, self.actor)

    async def run_schedule(self, name: str) -> View:
        """Begin one occurrence now, whatever the clock says."""
        return await self._schedules.run(name, self.actor)

    @property
    def _schedules(self) -> ScheduleOperations:
        if self._context.schedules is None:
            raise Refusal(404, marked("Scheduling isn't available here."))
        return self._context.schedules
