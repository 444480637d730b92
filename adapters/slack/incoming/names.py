"""Names of people and channels: Slack tells only ids with a message."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from adapters.slack.settings import Pace
from adapters.slack.web import Web
from runtime.errors import ChannelError

NAMES_REMEMBERED: Final = 5_000  # remembered of each
NO_NAMES: Final = frozenset({"directmessage", "privategroup"})
"""Said in the place of a channel's name, where Slack would not tell it."""

Profile = Mapping[str, Any]
V = TypeVar("V")


class Names:
    """Looked up once. Who cannot be looked up in time goes by their id, and is looked up again after a while."""

    def __init__(self, web: Web, pace: Pace) -> None:
        self._web = web
        self._people = Told(self._person, pace)
        self._rooms = Told(self._channel, pace)

    async def of(self, user: str) -> str:
        """The name of a person; their id where Slack does not tell. A bot's id has no name there."""
        return await self._people.of(user, is_there=user.startswith(("U", "W"))) or user

    async def of_room(self, room: str) -> str:
        """ "#general"; empty for a private conversation, and where Slack does not tell."""
        return await self._rooms.of(room, is_there=room.startswith(("C", "G")))

    def note(self, user: str, name: str) -> None:
        """Some events tell the name."""
        self._people.note(user, name)

    def note_room(self, room: str, name: str) -> None:
        if name and name not in NO_NAMES:
            self._rooms.note(room, f"#{name}")

    async def _person(self, user: str) -> str:
        told: Profile = (await self._web.call("users.info", user=user)).get("user") or {}
        profile = told.get("profile") or {}
        return str(profile.get("display_name") or profile.get("real_name") or told.get("name") or "")

    async def _channel(self, room: str) -> str:
        told: Profile = (await self._web.call("conversations.info", channel=room)).get("channel") or {}
        return f"#{told['name']}" if told.get("name") else ""


class Told:
    """Names by id as they were told, asked for where they were not."""

    def __init__(self, ask: Callable[[str], Awaitable[str]], pace: Pace) -> None:
        self._ask = ask
        self._patience = pace.name.total_seconds()
        self._again = pace.name_again.total_seconds()
        self._known: OrderedDict[str, str] = OrderedDict()
        self._failed: OrderedDict[str, float] = OrderedDict()

    async def of(self, ident: str, *, is_there: bool) -> str:
        """`is_there`: Slack has a name for such an id."""
        if is_there and ident not in self._known and self._is_worth_asking(ident):
            await self._learn(ident)
        return self._known.get(ident, "")

    def note(self, ident: str, name: str) -> None:
        if name and ident not in self._known:
            _keep(self._known, ident, name)

    def _is_worth_asking(self, ident: str) -> bool:
        return time.monotonic() - self._failed.get(ident, -self._again) >= self._again

    async def _learn(self, ident: str) -> None:
        """Best effort: an event waits for its acknowledgement meanwhile."""
        try:
            async with asyncio.timeout(self._patience):
                name = await self._ask(ident)
        except (ChannelError, TimeoutError):
            name = ""
        if name:
            _keep(self._known, ident, name)
        else:
            _keep(self._failed, ident, time.monotonic())


def _keep(into: OrderedDict[str, V], ident: str, value: V) -> None:
    into[ident] = value
    while len(into) > NAMES_REMEMBERED:
        into.popitem(last=False)
