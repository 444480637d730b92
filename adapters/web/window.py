"""A room as a page reads it: the newest entries, those it has already in brief."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from aiohttp import web

from adapters.web.render import brief, entry
from runtime.contract import Entry, View
from runtime.http.errors import Refusal
from runtime.text.glyphs import legible

PAGE: Final = 200
"""Entries of a room that a reader is told at once."""
PAGE_LEAST: Final = 40
"""Entries that a reader may ask for at once, at least."""
NEWEST: Final = 8
"""Entries that are read after a change, beside those that still wait for an answer: hardly any reaches further back. Forty
took a seventh of a message's processor time."""
WHOLE_EVERY: Final = 20
"""Of so many changes one has the whole page read, so that what was taken away further back goes too."""


class Window:
    """Record of what one reader was told of a room, so that nothing is told twice in full.

    `since`: the reader has everything older already, as far as it was never edited. `page`: entries it wants at once.
    """

    def __init__(self, since: datetime | None = None, page: int = PAGE) -> None:
        self._since = since
        self._page = page
        self._versions: dict[str, int] = {}
        self._open = frozenset[str]()
        self._since_open = 0
        self._told = 0

    @property
    def reach(self) -> int:
        """Number of entries to read for the next view: the newest, and back to the first that waits for its answer."""
        return min(NEWEST + self._since_open, self._page) if self._told % WHOLE_EVERY else self._page

    def needs_more(self, view: View) -> bool:
        """True if something before these entries isn't as the reader has it, or others stand between."""
        found = {one.id for one in view.entries}
        is_torn = self._versions and self._versions.keys().isdisjoint(found)
        edited = (self._versions.get(one, version) != version for one, version in view.edited.items())
        return bool(is_torn) or not self._open <= found or any(edited)

    def told(self, view: View) -> dict[str, Any]:
        """The view as JSON; from now on the reader knows it."""
        told = [brief(e) if self._knows(e) else entry(e) for e in view.entries]
        kept = self._versions if self._told % WHOLE_EVERY else {}
        self._versions = {**kept, **{e.id: e.version for e in view.entries}}
        self._told += 1
        self._note_open(view)
        further = {} if view.is_newest else {"newest": False}
        return {"entries": told, "busy": view.busy, "mode": mode_of(view), **further}

    def _note_open(self, view: View) -> None:
        """Keep in mind what waits for its answer, and how far back that is."""
        places = [place for place, one in enumerate(view.entries) if not one.answered]
        self._open = frozenset(view.entries[place].id for place in places)
        self._since_open = len(view.entries) - places[0] if places else 0

    def _knows(self, entry: Entry) -> bool:
        known = self._versions.get(entry.id)
        if known is not None:
            return known == entry.version
        return self._since is not None and entry.at < self._since and entry.version == 0


def mode_of(view: View) -> dict[str, Any] | None:
    """Mode of the conversation as JSON; None where it is as ever."""
    if not view.mode:
        return None
    return {
        "name": view.mode,
        "until": view.until.isoformat() if view.until else None,
        "trusted": legible(view.trusted),
    }


def page_size(request: web.Request) -> int:
    """Number of entries that the query wants at once. Errors: Refusal 400 for what is none."""
    text = request.query.get("limit", str(PAGE))
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(PAGE)) and PAGE_LEAST <= int(text) <= PAGE):
        raise Refusal(400, f"`limit` must be a number from {PAGE_LEAST} to {PAGE}.")
    return int(text)


def instant(request: web.Request, key: str) -> datetime | None:
    """The time in the query. Errors: Refusal 400 for what is none."""
    text = request.query.get(key)
    if not text:
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise Refusal(400, f"`{key}` must be a time such as 2026-01-31T12:00:00+00:00.") from error
    if instant.tzinfo is None:
        raise Refusal(400, f"`{key}` must name its time zone, such as 2026-01-31T12:00:00+00:00.")
    return instant
