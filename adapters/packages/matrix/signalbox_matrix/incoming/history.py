"""Messages that a sync leaves out: those between two syncs where there were many, and those from before we joined.

An invitation and the first message often come together, before anybody could join: so a room that was just joined is read
from its invitation on. Earlier history was said to others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import structlog

from signalbox_matrix.api import Api
from signalbox_matrix.errors import Refused
from signalbox_matrix.parse import instant
from signalbox_matrix.rooms import STATE_KINDS

log = structlog.get_logger("matrix")

Raw = Mapping[str, Any]

EVENT_KINDS: Final = (
    "m.room.message",
    "m.reaction",
    "m.room.redaction",
    "m.sticker",
    "m.poll.start",
    "org.matrix.msc3381.poll.start",
    *STATE_KINDS,
)
"""Events we ask for by name. Those of state are in the timeline too: left out there, they would be told nowhere."""
PAGE_MAX_EVENTS: Final = 100
GAP_PAGES: Final = 20
BEFORE_JOIN: Final = 100  # events that are looked through for the invitation


class History:
    """Of one account. `me` is our user id."""

    def __init__(self, api: Api, account: str) -> None:
        self._api = api
        self._account = account
        self.me = ""

    async def fresh(self, room: str, timeline: Raw, since: str, oldest: datetime | None) -> list[Raw]:
        """Events of a joined room that nobody took in yet, oldest first. Errors: MatrixError.

        Without `since` those after `oldest` are; none where that is None, at the first start of all.
        """
        events = list(timeline.get("events") or ())
        if not since:
            return await self._after(room, events, timeline, oldest) if oldest else []
        if (joined := self._joined_at(events)) is not None:
            return await self._after_invitation(room, events, joined, timeline)
        if timeline.get("limited"):
            return [*await self._gap(room, str(timeline.get("prev_batch") or ""), since), *events]
        return events

    def _joined_at(self, events: Sequence[Raw]) -> int | None:
        """Place of our own joining; None where we were there before."""
        for place in range(len(events) - 1, -1, -1):
            if self._is_ours(events[place], "join") and _before(events[place]) != "join":
                return place
        return None

    def _is_ours(self, event: Raw, membership: str) -> bool:
        return (
            event.get("type") == "m.room.member"
            and event.get("state_key") == self.me
            and (event.get("content") or {}).get("membership") == membership
        )

    async def _after_invitation(self, room: str, events: list[Raw], joined: int, timeline: Raw) -> list[Raw]:
        start = self._invited_at(events[:joined])
        if start is None and timeline.get("limited") and _before(events[joined]) in ("invite", ""):
            page = await self._page(room, str(timeline.get("prev_batch") or ""), limit=BEFORE_JOIN)
            earlier = _oldest_first(page)
            if (found := self._invited_at(earlier)) is not None:
                return [*earlier[found + 1 :], *events]
        return events[joined + 1 if start is None else start + 1 :]

    def _invited_at(self, events: Sequence[Raw]) -> int | None:
        for place in range(len(events) - 1, -1, -1):
            if self._is_ours(events[place], "invite"):
                return place
        return None

    async def _gap(self, room: str, start: str, since: str) -> list[Raw]:
        """All between the last sync and this one."""
        found: list[Raw] = []
        for _ in range(GAP_PAGES):
            page = await self._page(room, start, end=since)
            found = [*_oldest_first(page), *found]
            start = str(page.get("end") or "")
            if not start or not page.get("chunk"):
                return found
        log.warning("more was said meanwhile than is read", account=self._account, room=room, events=len(found))
        return found

    async def _after(self, room: str, events: list[Raw], timeline: Raw, oldest: datetime) -> list[Raw]:
        """Events since anything was heard, where the position was lost."""
        found, start = events, str(timeline.get("prev_batch") or "")
        for _ in range(GAP_PAGES):
            if not start or (found and instant(found[0]) < oldest):
                break
            page = await self._page(room, start)
            found = [*_oldest_first(page), *found]
            start = str(page.get("end") or "") if page.get("chunk") else ""
        return [event for event in found if instant(event) >= oldest]

    async def _page(self, room: str, start: str, *, end: str = "", limit: int = PAGE_MAX_EVENTS) -> Raw:
        """Nothing where the homeserver shows no history: then what the sync told is all there is."""
        try:
            return await self._api.messages(room, start, end=end, limit=limit, only={"types": list(EVENT_KINDS)})
        except Refused as error:
            if error.status not in (400, 403, 404):
                raise
            log.warning("can't read what was said meanwhile", account=self._account, room=room, reason=str(error))
            return {}


def _before(event: Raw) -> str:
    """Membership before a change of it; empty where there was none or nobody says."""
    unsigned = event.get("unsigned") or {}
    return str((unsigned.get("prev_content") or {}).get("membership") or "")


def _oldest_first(page: Raw) -> list[Raw]:
    return list(reversed(page.get("chunk") or ()))
