"""Names of people: Slack tells only ids with a message."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import Final, TypeVar

from adapters.slack.settings import Pace
from adapters.slack.web import Web
from runtime.errors import ChannelError

V = TypeVar("V")

MOST: Final = 5_000  # people remembered


class Names:
    """Looked up once. Who cannot be looked up in time goes by their id, and is looked up again after a while."""

    def __init__(self, web: Web, pace: Pace) -> None:
        self._web = web
        self._patience = pace.name.total_seconds()
        self._again = pace.name_again.total_seconds()
        self._known: OrderedDict[str, str] = OrderedDict()
        self._failed: OrderedDict[str, float] = OrderedDict()

    async def of(self, user: str) -> str:
        if user not in self._known and self._is_worth_asking(user):
            await self._ask(user)
        return self._known.get(user, user)

    def note(self, user: str, name: str) -> None:
        """Some events tell the name."""
        if name and user not in self._known:
            _keep(self._known, user, name)

    def _is_worth_asking(self, user: str) -> bool:
        """A bot's id has no name there."""
        return user.startswith(("U", "W")) and time.monotonic() - self._failed.get(user, -self._again) >= self._again

    async def _ask(self, user: str) -> None:
        """Best effort: an event waits for its acknowledgement meanwhile."""
        try:
            async with asyncio.timeout(self._patience):
                told = (await self._web.call("users.info", user=user)).get("user") or {}
        except (ChannelError, TimeoutError):
            told = {}
        profile = told.get("profile") or {}
        name = profile.get("display_name") or profile.get("real_name") or told.get("name")
        if name:
            _keep(self._known, user, str(name))
        else:
            _keep(self._failed, user, time.monotonic())


def _keep(into: OrderedDict[str, V], user: str, value: V) -> None:
    into[user] = value
    while len(into) > MOST:
        into.popitem(last=False)
