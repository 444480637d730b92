"""The way in: /sync by long polling. The position moves only after everything before it was taken in.

What one sync told is handed in until the store has it, room by room and each room in its order; only then comes the next.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final

import structlog

from signalbox.channels import CONNECTED, Connection, ConnectionStatus, Sink, StoreError
from signalbox_matrix.api import Api
from signalbox_matrix.errors import MatrixError, NotSent, Refused, token_refused
from signalbox_matrix.incoming.history import EVENT_KINDS, History
from signalbox_matrix.incoming.intake import Intake
from signalbox_matrix.incoming.position import Position
from signalbox_matrix.rooms import STATE_KINDS, Room, Rooms
from signalbox_matrix.settings import Waits

log = structlog.get_logger("matrix")

Raw = Mapping[str, Any]

FILTER: Final[Raw] = {
    "presence": {"types": []},
    "account_data": {"types": []},
    "room": {
        "timeline": {"limit": 50, "types": list(EVENT_KINDS), "lazy_load_members": True},
        "state": {"types": list(STATE_KINDS), "lazy_load_members": True},
        "ephemeral": {"types": []},
        "account_data": {"types": []},
    },
}
ROOMS_AT_ONCE: Final = 16
EVENT_TRIES: Final = 3
"""How often an event is handed in that makes our own code fail: then it is left out, for the sake of all others."""
REFUSALS_MOST: Final = 30
"""… for which a homeserver that is there refuses what we ask it; one that is away is waited for."""
INVITATION_REFUSALS_MOST: Final = 5
"""… of an invitation: nobody else should wait for it, and it can be made again."""


@dataclass
class News:
    """News of one room from one sync. What was taken in is taken off."""

    room: str
    state: Sequence[Raw] = ()
    timeline: Raw = field(default_factory=dict)
    summary: Raw = field(default_factory=dict)
    invitation: Raw | None = None
    left: deque[Raw] | None = None
    read: str = ""
    tries: int = 0
    refusals: int = 0
    error: StoreError | MatrixError | None = None

    @property
    def is_hopeless(self) -> bool:
        return self.refusals >= (REFUSALS_MOST if self.invitation is None else INVITATION_REFUSALS_MOST)

    def leave_out(self) -> bool:
        """Take off what cannot be taken in; True if nothing more is left."""
        self.tries = self.refusals = 0
        if self.left:
            self.left.popleft()
            return False
        return True


class Syncing:
    """Reads one account. `said` is told how it stands; `oldest` is asked where no position is kept."""

    def __init__(
        self,
        *,
        api: Api,
        account: str,
        rooms: Rooms,
        intake: Intake,
        history: History,
        position: Position,
        waits: Waits,
        oldest: Callable[[], Awaitable[datetime | None]],
        said: Callable[[ConnectionStatus], None],
    ) -> None:
        self._api = api
        self._account = account
        self._rooms = rooms
        self._intake = intake
        self._history = history
        self._position = position
        self._waits = waits
        self._oldest = oldest
        self._said = said
        self._failures = 0
        self._heard: float | None = None
        self._since = ""
        self._floor: datetime | None = None

    def is_deaf(self) -> bool:
        """True if a sync is under way for longer than one can be."""
        most = (self._waits.poll + 2 * self._waits.margin).total_seconds()
        return self._heard is not None and monotonic() - self._heard > most

    def hears(self) -> bool:
        """True while all that changes in rooms reaches this process within a poll."""
        return self._heard is not None and not self._failures and not self.is_deaf()

    async def run(self, sink: Sink, me: str) -> None:
        """Until cancelled."""
        self._heard, self._failures = None, 0
        async with asyncio.TaskGroup() as group:
            await self._again_until(self._begin, me)
            first = True
            while True:
                first = not await self._round(sink, group, me, first=first) and first

    async def _again_until(self, work: Callable[[str], Coroutine[Any, Any, None]], me: str) -> None:
        while True:
            try:
                await work(me)
            except StoreError as error:
                self._away(f"the store is away: {error}")
                await asyncio.sleep(self._backoff())
            except MatrixError as error:
                await self._after(error)
            else:
                return

    async def _begin(self, me: str) -> None:
        self._since = await self._position.load(me)
        self._floor = None if self._since else await self._oldest()

    async def _round(self, sink: Sink, group: asyncio.TaskGroup, me: str, *, first: bool) -> bool:
        """One sync and what it brought; False where it came to nothing."""
        # The first look brings what is known of every room, and does not wait: it finds out whether we are connected.
        wait = timedelta() if first or self._failures else self._waits.poll
        try:
            told = await self._api.sync(self._since, FILTER, wait, full=first)
        except MatrixError as error:
            await self._after(error)
            return False
        self._failures, self._heard = 0, monotonic()
        if not first:
            self._said(CONNECTED)
        await self._all_in(_news(told), sink, group)
        self._since, self._heard = str(told["next_batch"]), monotonic()
        try:
            await self._position.save(me, self._since, at_once=first)
        except MatrixError as error:
            await self._after(error)  # the first position of all must be kept, or nobody knew what is missed later
            return not first
        self._said(CONNECTED)
        return True

    # ---------------------------------------------------------------------------------------------------- taking in

    async def _all_in(self, news: Sequence[News], sink: Sink, group: asyncio.TaskGroup) -> None:
        """Rooms side by side, each in its order, until everything is taken in."""
        left, failures = list(news), 0
        while left:
            gate = asyncio.Semaphore(ROOMS_AT_ONCE)
            async with asyncio.TaskGroup() as rooms:
                tasks = [rooms.create_task(self._one_in(gate, one, sink, group)) for one in left]
            left = [one for one, task in zip(left, tasks, strict=True) if not task.result()]
            if left:
                failures += 1
                self._tell(next((one.error for one in left if isinstance(one.error, MatrixError)), None))
                await asyncio.sleep(self._waits.after(failures).total_seconds())
                self._heard = monotonic()

    async def _one_in(self, gate: asyncio.Semaphore, news: News, sink: Sink, group: asyncio.TaskGroup) -> bool:
        """True once all of it is taken in."""
        async with gate:
            try:
                await self._taken(news, sink)
            except (StoreError, MatrixError) as error:
                news.error = error
                news.refusals += isinstance(error, Refused) and bool(error.code) and not error.is_of_token
                log.warning("not taken in yet", account=self._account, room=news.room, reason=str(error))
                return news.is_hopeless and self._left_out(news)
            except Exception:
                # A bug of ours: what makes it must not keep all others out for ever.
                news.tries += 1
                log.exception("an event broke the intake", account=self._account, room=news.room)
                return news.tries >= EVENT_TRIES and self._left_out(news)
        if news.read:
            group.create_task(self._acknowledge(news.room, news.read))
        return True

    def _left_out(self, news: News) -> bool:
        log.error("something can't be taken in, and is left out", account=self._account, room=news.room)
        return news.leave_out()

    def _tell(self, error: MatrixError | None) -> None:
        """Say how it stands while what came can't be taken in for want of an answer."""
        match error:
            case None:
                return
            case Refused() if error.is_of_token:
                self._said(ConnectionStatus(Connection.REFUSED, token_refused(self._account, error)))
            case _:
                self._away(f"the homeserver doesn't answer what must be asked: {error}")

    async def _taken(self, news: News, sink: Sink) -> None:
        if news.invitation is not None:
            await self._intake.invited(news.room, news.invitation, sink)
            return
        room = self._rooms.of(news.room)
        if news.left is None:
            self._learn(room, news)
            await self._intake.settled(room)
            news.left = deque(await self._history.fresh(room.id, news.timeline, self._since, self._floor))
        while news.left:
            event = news.left[0]
            if await self._intake.take(event, room, sink):
                news.read = str(event["event_id"])
            news.left.popleft()

    def _learn(self, room: Room, news: News) -> None:
        """The state before its events; and of a timeline that is not handed in, what it says of the room."""
        room.count(news.summary)
        for event in (*news.state, *(news.timeline.get("events") or ())):
            try:
                room.learn(event)
            except (AttributeError, LookupError, TypeError):
                log.info("a piece of state can't be read", account=self._account, room=room.id)

    async def _acknowledge(self, room: str, event: str) -> None:
        """Show people that it was read. Best effort."""
        try:
            await self._api.read_up_to(room, event)
        except MatrixError as error:
            log.info("a message was not marked as read", account=self._account, reason=str(error))

    # ------------------------------------------------------------------------------------------------------ trouble

    async def _after(self, error: MatrixError) -> None:
        """Say what is wrong, and wait."""
        match error:
            case Refused() if error.is_of_token:
                self._failures += 1
                self._said(ConnectionStatus(Connection.REFUSED, token_refused(self._account, error)))
                await asyncio.sleep(self._waits.refused.total_seconds())
                return
            case Refused(status=400) if self._since:
                log.warning("the homeserver doesn't know the position", account=self._account, reason=str(error))
                self._since = ""
                try:
                    self._floor = await self._oldest()
                except StoreError:
                    log.info("the store is away: nobody knows what was missed", account=self._account)
            case Refused(retry_after=timedelta() as wait):
                self._away(f"the homeserver asks us to wait {wait.total_seconds():g} s")
                self._failures += 1
                await asyncio.sleep(wait.total_seconds())
                return
            case NotSent():
                self._away(f"the homeserver can't be reached: {error}")
            case _:
                self._away(f"the homeserver gave an unexpected answer: {error}")
        await asyncio.sleep(self._backoff())

    def _away(self, why: str) -> None:
        state = Connection.CONNECTING if self._heard is None else Connection.RECONNECTING
        self._said(ConnectionStatus(state, f'account "{self._account}": {why}. Retrying automatically.'))

    def _backoff(self) -> float:
        self._failures += 1
        return self._waits.after(self._failures).total_seconds()


def _news(told: Raw) -> list[News]:
    """News of each room. Invitations first: what is said there follows them."""
    rooms = told.get("rooms") or {}
    asked = [News(room, invitation=of.get("invite_state") or {}) for room, of in (rooms.get("invite") or {}).items()]
    joined = [
        News(
            room,
            (of.get("state") or {}).get("events") or (),
            of.get("timeline") or {},
            of.get("summary") or {},
        )
        for room, of in (rooms.get("join") or {}).items()
    ]
    return [*asked, *joined]
