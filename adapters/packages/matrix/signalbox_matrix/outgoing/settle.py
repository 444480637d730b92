"""Settles an uncertain message: is it on screen?

Our messages carry their part's id, so one is found surely in the room's history, however long ago it was sent. What isn't
there is absent: sent again it has the same transaction id, by which the homeserver knows one that it applies late.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from signalbox.channels import (
    Attempt,
    Part,
    PlatformClock,
    Receipt,
    Rejected,
    Settled,
    SettleResult,
    Shown,
)
from signalbox_matrix.api import Api
from signalbox_matrix.errors import MatrixError, ours
from signalbox_matrix.outgoing.send import Sending, body_of, is_deleted, transaction
from signalbox_matrix.parse import PART_KEY, instant
from signalbox_matrix.rooms import Rooms

Raw = Mapping[str, Any]

CLOCKS_APART: Final = timedelta(minutes=5)
"""How far our clock may be off the homeserver's beyond what its answers tell; a look so much further costs little."""
LOOK_PAGES: Final = 30
PAGE_MAX_EVENTS: Final = 100


class Settling:
    """Changes nothing but what belongs to a card that is found: the emoji under it."""

    def __init__(self, *, api: Api, account: str, rooms: Rooms, sending: Sending, clock: PlatformClock) -> None:
        self._api = api
        self._account = account
        self._rooms = rooms
        self._sending = sending
        self._clock = clock

    async def settle(self, part: Part, attempt: Attempt) -> Settled:
        """Errors: Retryable when the homeserver is away."""
        first = attempt.first_at or attempt.marked_at
        room = self._rooms.wire(part.address)
        try:
            found = await self._look(room, part, self._clock.since(first) - CLOCKS_APART)
        except MatrixError as error:
            told = ours(error, self._account, reads=True)
            if isinstance(told, Rejected):
                return SettleResult.UNKNOWN  # it may have been shown before we had to leave
            raise told from error
        if isinstance(found, Shown):
            await self._sending.offer(room, found.receipt.message_id, part.id, body_of(part).choices)
        return found

    async def _look(self, room: str, part: Part, since: datetime) -> Settled:
        only = {"types": ["m.room.message"], "senders": [self._sending.me]}
        start = ""
        for _ in range(LOOK_PAGES):
            page = await self._api.messages(room, start, limit=PAGE_MAX_EVENTS, only=only)
            events = page.get("chunk") or []
            if found := next((event for event in events if is_of(event, part)), None):
                return Shown(Receipt(str(found["event_id"])))
            start = str(page.get("end") or "")
            if not start or any(instant(event) < since for event in events):
                return SettleResult.ABSENT
        return SettleResult.UNKNOWN


def is_of(event: Raw, part: Part) -> bool:
    """True for the message that shows the part: by its own word, or where it was deleted since, by its transaction."""
    if is_deleted(event):
        return str((event.get("unsigned") or {}).get("transaction_id")) == transaction(part)
    return bool(event["content"].get(PART_KEY) == part.id)
