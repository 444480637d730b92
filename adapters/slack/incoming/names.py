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
        self._people = Told(self._person, pace, kinds=("U", "W"))
        self._rooms = Told(self._channel, pace, kinds=("C", "G"))

    async def of(self, user: str, room: str) -> tuple[str, str]:
        """The name of a person and of a room, such as "#general".

        Shape:  the person's id where Slack does not tell their name; empty for a private conversation, and an untold room.
        """
        both = (self._people, user), (self._rooms, room)
        if asked := [told.learn(ident) for told, ident in both if told.is_wanted(ident)]:
            await asyncio.gather(*asked)
        return self._people.known(user) or user, self._rooms.known(room)

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
    """Names by id as they were told, asked for where they were not. Slack has names for ids that begin with one of `kinds`."""

    def __init__(self, ask: Callable[[str], Awaitable[str]], pace: Pace, *, kinds: tuple[str, ...]) -> None:
        self._ask = ask
        self._kinds = kinds
        self._patience = pace.name.total_seconds()
        self._again = pace.name_again.total_seconds()
        self._known: OrderedDict[str, str] = OrderedDict()
        self._failed: OrderedDict[str, float] = OrderedDict()

    def known(self, ident: str) -> str:
        return self._known.get(ident, "")

    def is_wanted(self, ident: str) -> bool:
        """True if it is worth asking for."""
        if ident in self._known or not ident.startswith(self._kinds):
            return False
        return time.monotonic() - self._failed.get(ident, -self._again) >= self._again

    def note(self, ident: str, name: str) -> None:
        if name and ident not in self._known:
            _keep(self._known, ident, name)

    async def learn(self, ident: str) -> None:
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
