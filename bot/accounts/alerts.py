"""Operators are told in a room of their choice that an account is refused or deaf, and that it works again.

    well -refused or deaf for `after`-> told -connected-> well

What was told is in the outbox, so a process that was restarted meanwhile, perhaps with the right token, tells the end.
Where several processes see the same trouble, one tells it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

import structlog

from bot.accounts.status import State
from runtime.contract import Address, Connection, Content, DeliveryId, Kind, NewId, Now
from runtime.errors import Rejected, StoreError
from runtime.markup.moments import moment
from runtime.store.protocol import NewDelivery

BAD: Final = frozenset({Connection.REFUSED, Connection.DEAF})
ALERTS_ROLE: Final = "outages"
TURN: Final = timedelta(seconds=5)
"""How much later a process without the role tells what it sees: by then whoever has it has told the same."""
BEGAN: Final = 1
ENDED: Final = 2
"""Ordinals of the two deliveries of an outage."""

log = structlog.get_logger("accounts")


class Told(Protocol):
    """Record of what was told before."""

    async def newest_of(self, prefix: str) -> tuple[str, int] | None: ...


@dataclass(slots=True)
class Outage:
    """Of one account. `bad_since` is None while it is well; `origin` is that of the outage that was told and goes on."""

    bad_since: datetime | None = None
    origin: str = ""
    remembers: bool = field(default=False)
    """Whether it was looked up what an earlier process told."""


class AccountAlerts:
    """`room` gives the operators' room, None while its account is not known yet; `post` puts into the outbox."""

    def __init__(
        self,
        *,
        room: Callable[[], Address | None],
        after: Callable[[], timedelta],
        told: Told,
        post: Callable[[NewDelivery], Awaitable[bool]],
        take: Callable[[str], Awaitable[object | None]],
        now: Now,
        new_id: NewId,
    ) -> None:
        self._room = room
        self._after = after
        self._told = told
        self._post = post
        self._take = take
        self._now = now
        self._new_id = new_id
        self._outages: dict[str, Outage] = {}

    async def see(self, states: Sequence[State]) -> None:
        """Tell what is to be told. What cannot be told now is told with a later look."""
        for state in states:
            try:
                await self._see(state, self._outages.setdefault(state.account, Outage()))
            except (StoreError, Rejected) as error:
                log.debug("operators cannot be told yet", account=state.account, reason=str(error))

    async def _see(self, state: State, outage: Outage) -> None:
        if not outage.remembers:
            outage.origin, outage.remembers = await self._going_on(state.account), True
        if state.standing.connection in BAD:
            outage.bad_since = outage.bad_since or state.since
            if not outage.origin and await self._is_due(outage.bad_since):
                await self._begin(state, outage, outage.bad_since)
        elif state.standing.connection is Connection.CONNECTED:
            outage.bad_since = None
            if outage.origin:
                await self._end(state, outage)

    async def _is_due(self, since: datetime) -> bool:
        passed = self._now() - since
        after = self._after()
        return passed >= after and (passed >= after + TURN or await self._take(ALERTS_ROLE) is not None)

    async def _going_on(self, account: str) -> str:
        """The origin of the outage that was told and has no end yet; empty without one."""
        found = await self._told.newest_of(f"outage:{account}:")
        return found[0] if found and found[1] == BEGAN else ""

    async def _begin(self, state: State, outage: Outage, since: datetime) -> None:
        outage.origin = await self._going_on(state.account)  # by another process, which sees what we see
        if not outage.origin and (room := self._room()):
            origin = f"outage:{state.account}:{int(since.timestamp() * 1_000_000)}"
            what = f"since {moment(since)}. {state.standing.trouble}"
            await self._deliver(room, origin, BEGAN, f"**{state.account} is {state.standing.connection.value}** {what}")
            outage.origin = origin

    async def _end(self, state: State, outage: Outage) -> None:
        if room := self._room():
            began = datetime.fromtimestamp(int(outage.origin.rpartition(":")[2]) / 1_000_000, self._now().tzinfo)
            lasted = in_words(self._now() - began)
            await self._deliver(room, outage.origin, ENDED, f"**{state.account} works again**, after {lasted}.")
            outage.origin = ""

    async def _deliver(self, room: Address, origin: str, ordinal: int, text: str) -> None:
        made = DeliveryId(self._new_id())
        await self._post(NewDelivery(made, origin, ordinal, Kind.REPORT, room, Content(text)))


def in_words(time: timedelta) -> str:
    """About how long: "40 seconds", "12 minutes", "3 hours"."""
    seconds = max(round(time.total_seconds()), 1)
    units = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
    name, size = next((name, size) for name, size in units if seconds >= 2 * size or size == 1)
    count = round(seconds / size)
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
