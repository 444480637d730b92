"""Runs for operators: those of every room, and one with its steps."""

from __future__ import annotations

from bot.operator import views
from bot.operator.partial_api import PartialApi, by_role, word_of
from bot.operator.views import View
from runtime.contract import RunId
from runtime.domain.runs import RunState
from runtime.http.errors import Refusal
from runtime.timeline.trail import Thing


@by_role
class RunsApi(PartialApi):
    """Runs, newest first, and one with its steps."""

    async def runs(self, state: str = "", limit: int = 100, room: str = "") -> list[View]:
        rows = await self._store.operations.runs(
            state=word_of(RunState, state), room=await self._room_meant(room), limit=limit
        )
        return await self._entitled([views.run(row, *self._names) for row in rows])

    async def run(self, run_id: str) -> View:
        run_id = await self._meant(run_id, Thing.RUN)
        found = await self._store.operations.run(RunId(run_id))
        if found is None:
            raise Refusal(404, f"There is no run {run_id}.")
        row, steps = found
        view = await self._one_entitled(views.run(row, *self._names))
        return {**view, "steps": [views.step(step) for step in steps]}
