"""The installation as a whole: its figures, its settings read again, its database saved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, timedelta

from bot.accounts.naming import Named
from bot.accounts.status import State
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from runtime.contract import Activity, DayCost
from runtime.errors import ConfigError
from runtime.http.errors import Refusal


@by_role
class OverviewApi(PartialApi):
    """The installation as a whole, its settings and its database."""

    async def overview(self) -> View:
        counts = dict(await self._store.operations.counts())
        told = {"guard": self._context.guarded(), "interceptors": self._context.intercepted()}
        return {
            "info": {**self._context.info, **{name: words for name, words in told.items() if words}},
            "counts": counts,
            "accounts": [*map(account_view, self._context.states())],
        }

    async def today(self) -> View:
        """Count what happened since midnight (UTC), list runs that failed then, and sum the cost of each of seven days."""
        midnight = self._context.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        figures = self._store.figures
        happened = await figures.activity(midnight)
        week = await figures.cost_by_day(midnight - timedelta(days=6), days=7)
        await self._context.refresh()
        view = today_view(happened, week, *self._names)
        return {**view, "failures": await self._entitled(view["failures"])}

    async def reload(self) -> View:
        """Read the settings again: what changed, what needs a restart, and notes."""
        try:
            return await self._context.reload(self.actor.name)
        except ConfigError as error:
            raise Refusal(422, str(error)) from error

    async def save(self) -> View:
        """Save a copy of a lost database, and tell where it is; null while the database is in its place."""
        saved = await self._context.save()
        return {"file": str(saved) if saved else None}


def account_view(state: State) -> View:
    standing = state.standing
    return {
        "account": state.account,
        "state": standing.connection,
        "since": at(state.since),
        "reason": standing.reason,
    }


def today_view(happened: Activity, week: Sequence[DayCost], named: Named, called: Named) -> View:
    """Counts by outcome, and lists. A day of the week is 24 hours from its `day` on."""
    return {
        "messages": dict(happened.messages),
        "runs": dict(happened.runs),
        "approvals": dict(happened.approvals),
        "schedules": dict(happened.occurrences),
        "failures": [
            {
                "run": one.run,
                "address": named(one.address),
                "room": called(one.address),
                "reason": one.reason,
                "at": at(one.at),
            }
            for one in happened.failures
        ],
        "week": [{"day": at(one.day), "cost_micros": one.cost_micros, "tokens": one.tokens} for one in week],
    }
