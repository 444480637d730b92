"""The installation as a whole: its figures, its settings read again, its database saved."""

from __future__ import annotations

from bot.accounts.status import State
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
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
