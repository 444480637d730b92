"""Reports in the operators' API; `bot.operator.reports` makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.operator.partial_api import PartialApi, by_role
from bot.operator.reports import ReportOperations
from bot.operator.views import View
from runtime.http.errors import Refusal
from runtime.text.words import marked


@by_role
class ReportsApi(PartialApi):
    """Reports that are made without a model."""

    async def reports(self) -> list[View]:
        """Reports that are made without a model, with their options."""
        return await self._reports.listed()

    async def report(self, report_id: str) -> View:
        """Progress of a report that was begun."""
        return await self._reports.state(report_id)

    async def make_report(self, name: str, to: Sequence[str], options: Mapping[str, Any]) -> View:
        """Have one made for the rooms `to`, now."""
        rooms = await self._with_rooms({"to": list(to)})
        begun = await self._reports.begin(name, rooms["to"], options, self.actor)
        return {**begun, "told": marked("Started: {name}. It's posted as soon as it's made.").format(name=name)}

    async def print_report(self, name: str, options: Mapping[str, Any]) -> View:
        """Its text, shown to nobody else."""
        await self._context.refresh()
        return await self._reports.text(name, options, self.actor)

    async def reach(self, room: str) -> View:
        """The reason nothing can be posted in a room; empty where nothing is known against it."""
        return {"room": room, "why": await self._reports.out_of_reach(room)}

    @property
    def _reports(self) -> ReportOperations:
        if self._context.reports is None:
            raise Refusal(404, marked("Reports aren't available here."))
        return self._context.reports
