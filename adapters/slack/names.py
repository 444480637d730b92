"""Names of people: Slack tells only ids with a message."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from datetime import timedelta
from typing import Final

from adapters.slack.web import Web
from runtime.errors import ChannelError

MOST: Final = 5_000  # people remembered
UNKNOWN: Final = ""


class Names:
    """Looked up once. Who cannot be looked up in time goes by their id, until the next message."""

    def __init__(self, web: Web, patience: timedelta) -> None:
        self._web = web
        self._patience = patience.total_seconds()
        self._known: OrderedDict[str, str] = OrderedDict()

    async def of(self, user: str) -> str:
        if user not in self._known:
            self._keep(user, await self._asked(user))
        return self._known.get(user) or user

    def note(self, user: str, name: str) -> None:
        """Some events tell the name."""
        if name and user not in self._known:
            self._keep(user, name)

    async def _asked(self, user: str) -> str:
        """Best effort: an event waits for its acknowledgement meanwhile."""
        if not user.startswith(("U", "W")):
            return UNKNOWN  # a bot's id
        try:
            async with asyncio.timeout(self._patience):
                told = (await self._web.call("users.info", user=user))["user"]
        except (ChannelError, TimeoutError):
            return UNKNOWN
        profile = told.get("profile") or {}
        return str(profile.get("display_name") or profile.get("real_name") or told.get("name") or UNKNOWN)

    def _keep(self, user: str, name: str) -> None:
        self._known[user] = name
        while len(self._known) > MOST:
            self._known.popitem(last=False)
