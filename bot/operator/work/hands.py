"""Hands for operators: agents that work by the clock, as their schedules tell of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View
from bot.operator.work.schedules import SchedulesApi
from bot.settings.hands.folder import schedule_of_hand

HAND_SCHEDULE: Final = schedule_of_hand("")
"""How the name of a hand's schedule begins."""


def hand_of(schedule: View, history: Sequence[View]) -> View:
    """A hand by its schedule. `last_at` is when it worked last, and `last_state` how that ended."""
    last = history[0] if history else None
    return {
        **schedule,
        "hand": schedule["name"].removeprefix(HAND_SCHEDULE),
        "next_at": next(iter(schedule["next"]), None),
        "last_at": last["planned_at"] if last else None,
        "last_state": last["state"] if last else "",
    }


@by_role
class HandsApi(PartialApi):
    """Agents that work by the clock."""

    async def hands(self) -> list[View]:
        """Agents that work by the clock, one file each: their schedules, and when they worked last."""
        planned = SchedulesApi(self._context, self.actor)
        rows = [row for row in await planned.schedules() if row["name"].startswith(HAND_SCHEDULE)]
        return [hand_of(row, await planned.schedule_history(row["id"], 1)) for row in rows]
