"""Conversations as people keep them: JSON to change one in the list, and to look for words in all of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from aiohttp import web

from adapters.web.rooms import Rooms
from runtime.contract import FoundEntry, RoomMark, Shelf
from runtime.http import bodies
from runtime.http.authentication import Authenticator
from runtime.http.errors import Refusal
from runtime.text.glyphs import clip, legible, visible

TITLE_MOST: Final = 120  # characters
WANTED_MOST: Final = 200
SNIPPET: Final = 160  # characters of a found message that are told
ROOMS_MOST: Final = 60
"""Conversations that one search looks into: those of late first."""
TOO_LATE: Final = "It's too late to take this back: the conversation is being removed."
READ_AT: Final = 'Set "read_at" to an instant with its offset, such as 2026-11-26T09:30:00+00:00.'
FLAG: Final = 'Set "{name}" to true or false.'


class ShelfApi:
    def __init__(self, *, authenticator: Authenticator, rooms: Rooms, shelf: Shelf) -> None:
        self._authenticator = authenticator
        self._rooms = rooms
        self._shelf = shelf

    def routes(self) -> list[web.RouteDef]:
        return [
            web.post("/api/rooms/{room}/mark", self.mark),
            web.post("/api/rooms/{room}/restore", self.restore),
            web.get("/api/search", self.search),
        ]

    async def mark(self, request: web.Request) -> web.Response:
        """Name, pin, put away or read a conversation, for whoever asks alone. A viewer may, too."""
        visitor, address = await self._rooms.open(request)
        await self._shelf.mark_room(visitor.identity, address, mark_in(await bodies.read_object(request)))
        return web.json_response({})

    async def restore(self, request: web.Request) -> web.Response:
        """Take back that the visitor deleted this conversation."""
        visitor, address = await self._rooms.open_to_change(request)
        if not await self._shelf.restore_room(visitor.identity, visitor.person.name, address):
            raise Refusal(409, TOO_LATE)
        return web.json_response({})

    async def search(self, request: web.Request) -> web.Response:
        """Messages with all words of `q` in the visitor's own conversations, newest first."""
        visitor = await self._authenticator.visitor(request)
        wanted = request.query.get("q", "").strip()
        if len(wanted) > WANTED_MOST:
            raise Refusal(400, f"Look for at most {WANTED_MOST} characters.")
        rooms = (await self._rooms.of(visitor))[:ROOMS_MOST]
        titles = {room.address: room.title for room in rooms}
        found = await self._shelf.find([*titles], wanted)
        return web.json_response({"found": [told(one, titles[one.address], wanted) for one in found]})


def mark_in(body: dict[str, Any]) -> RoomMark:
    """Errors: Refusal 400 for what is no change."""
    title, read_at = body.get("title"), body.get("read_at")
    if title is not None and (not isinstance(title, str) or len(title) > TITLE_MOST):
        raise Refusal(400, f"A conversation's name has at most {TITLE_MOST} characters.")
    name = None if title is None else clip(visible(" ".join(title.split()), one_line=True), TITLE_MOST)
    return RoomMark(name, _flag(body, "pinned"), _flag(body, "archived"), _instant(read_at))


def _flag(body: dict[str, Any], name: str) -> bool | None:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise Refusal(400, FLAG.format(name=name))
    return value


def _instant(value: object) -> datetime | None:
    if value is None:
        return None
    try:
        instant = datetime.fromisoformat(str(value))
    except ValueError as error:
        raise Refusal(400, READ_AT) from error
    if instant.tzinfo is None:
        raise Refusal(400, READ_AT)
    return instant


def told(one: FoundEntry, title: str, wanted: str) -> dict[str, object]:
    """One found message, with the words around the first one that was looked for."""
    return {
        "room": one.address.room,
        "title": visible(title, one_line=True),
        "entry": one.id,
        "author": one.author,
        "name": visible(one.name, one_line=True),
        "at": one.at.isoformat(),
        "text": legible(snippet(" ".join(one.text.split()), wanted.lower().split())),
    }


def snippet(text: str, words: list[str]) -> str:
    """As much of a text as is told, from a little before the first word that was looked for."""
    places = [at for word in words if (at := text.lower().find(word)) >= 0]
    begin = max(0, min(places, default=0) - SNIPPET // 4)
    begin = text.rfind(" ", 0, begin) + 1 if begin else 0
    return ("… " if begin else "") + clip(text[begin:], SNIPPET)
