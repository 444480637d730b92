"""Homes that people opened lately: published anew as what waits for them changes.

Best effort: a view has no receipt, and nothing rests on it. A press there is a signal like any other.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from adapters.slack.envelope import CHANNEL
from adapters.slack.outgoing.home_view import home_view
from adapters.slack.settings import Pace
from adapters.slack.web import Web
from runtime.contract import QUESTIONS, Identity, Notifier, Now, ReadInbox
from runtime.errors import ChannelError, StoreError

OPENED_LATELY: Final = timedelta(hours=12)
NOTE_LASTS: Final = timedelta(seconds=20)
"""What came of a press is read for so long; the next look takes it away."""
HOMES_MOST: Final = 50
"""Homes that are kept fresh by one process."""
REST: Final = timedelta(seconds=0.5)
"""Between two looks at the least: what happens within it is shown at once."""
PUBLISH_EVERY: Final = timedelta(seconds=0.6)
"""For each home that was published. Slack takes 100 calls of views.publish a minute and more (docs.slack.dev, Tier 4)."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Home:
    """A home as it was published last."""

    team: str
    user: str
    room: str
    opened_at: datetime
    shown: Any = None
    note: str = ""
    noted_at: datetime | None = None


class Homes:
    """Of one account. `run` keeps them fresh as questions change; a home that nobody opened costs nothing."""

    def __init__(self, web: Web, inbox: ReadInbox, now: Now, pace: Pace, notifier: Notifier) -> None:
        self._web = web
        self._inbox = inbox
        self._now = now
        self._pace = pace
        self._notifier = notifier
        self._homes: OrderedDict[tuple[str, str], Home] = OrderedDict()
        self._something = asyncio.Event()

    async def opened(self, team: str, user: str, room: str) -> None:
        """Somebody opened their home. Errors: ChannelError, StoreError."""
        await self._publish(self._at(team, user, room), anew=True)

    async def pressed(self, team: str, user: str, room: str, note: str) -> None:
        """Something was pressed in a home, perhaps one that another process published. `note` is for them alone."""
        home = self._at(team, user, room)
        home.note, home.noted_at = note, self._now()
        await self._publish(home, anew=True)

    def _at(self, team: str, user: str, room: str) -> Home:
        """The home somebody looks at just now."""
        home = self._homes.pop((team, user), None) or Home(team, user, room, self._now())
        home.room, home.opened_at = room, self._now()
        self._homes[team, user] = home
        if len(self._homes) > HOMES_MOST:
            self._homes.popitem(last=False)
        return home

    def changed(self) -> None:
        """Something was decided here: every home may have to follow."""
        self._something.set()

    async def run(self) -> None:
        """Until cancelled. What no event tells is seen with the next look."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._hear())
            group.create_task(self._follow())

    async def _hear(self) -> None:
        async for _ in self._notifier.listen(QUESTIONS):
            self._something.set()

    async def _follow(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self._pace.home.total_seconds()):
                    await self._something.wait()
            except TimeoutError:
                pass
            self._something.clear()
            published = await self._look()
            await asyncio.sleep(max(REST, published * PUBLISH_EVERY).total_seconds())

    async def _look(self) -> int:
        """Publish the homes in which something changed; how many."""
        now, published = self._now(), 0
        for key, home in list(self._homes.items()):
            if now - home.opened_at > OPENED_LATELY:
                self._homes.pop(key, None)
                continue
            try:
                published += await self._publish(home)
            except (ChannelError, StoreError) as error:
                log.info("a home is not fresh: %s", error)
        return published

    async def _publish(self, home: Home, *, anew: bool = False) -> bool:
        """Show what waits, unless that is on screen already; whether it was shown."""
        waiting = await self._inbox(Identity(f"{CHANNEL}:{home.team}/{home.user}"))
        is_fresh = home.noted_at is not None and self._now() - home.noted_at < NOTE_LASTS
        view = home_view(waiting, home.room, home.note if is_fresh else "")
        if not anew and view == home.shown:
            return False
        home.shown = view
        await self._web.call("views.publish", user_id=home.user, view=view)
        return True
