"""Doors of conversations as people keep them: look for words in all of them, and name, pin or put away one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import AwareDatetime, BaseModel, BeforeValidator, Field, StrictBool

from adapters.web.adapter import CHANNEL
from bot.doors.callers import Caller
from bot.doors.forms import Strict
from bot.doors.rooms import NOT_YOURS, ProgramRooms
from bot.doors.table import Asked, Door, Query
from bot.operator.context import OperatorContext
from runtime.contract import Author, FoundEntry, Role, RoomMark
from runtime.guard.findings import Gate
from runtime.http.errors import Refusal
from runtime.markup import parse, to_plain
from runtime.text.glyphs import clip, legible, visible

CONVERSATIONS_GROUP: Final = "Rooms and files"
ROOM_TITLE_MAX_CHARS: Final = 120
WANTED_MAX_CHARS: Final = 200
SNIPPET_CHARS: Final = 160
"""Of a found message, which are told."""
READ_AROUND_CHARS: Final = 1_000
"""Of an answer, which are read on each side of what was looked for: all of it would take too long."""
SEARCHED_ROOMS_MAX: Final = 60
"""Conversations that one search looks into: those of late first."""
TOO_LATE: Final = "It's too late to take this back: the room is being removed, or isn't deleted."
NO_WORDS: Final = f"`q` has the words to look for: 1 to {WANTED_MAX_CHARS} characters."


def _written(value: object) -> object:
    """As the document has it: a moment as text, where Python's own reader takes a number of seconds too."""
    if value is not None and not isinstance(value, str):
        raise ValueError("a moment is a text, such as 2026-03-01T12:00:00Z")
    return value


class FoundView(BaseModel):
    """A message that has all the words."""

    room: str
    title: Annotated[str, Field(description="Title of its room.")]
    id: str
    author: str
    name: str
    at: str
    text: Annotated[str, Field(description="The words around the first one that was looked for.")]


class RoomChange(Strict):
    """A change of a conversation, as whoever asks keeps it: what isn't given stays."""

    title: Annotated[str | None, Field(max_length=ROOM_TITLE_MAX_CHARS)] = None
    pinned: StrictBool | None = None
    archived: StrictBool | None = None
    read_at: Annotated[
        AwareDatetime | None, BeforeValidator(_written), Field(description="Until when it was read, with an offset.")
    ] = None


class ConversationDoors:
    def __init__(self, context: OperatorContext, rooms: ProgramRooms) -> None:
        self._context = context
        self._rooms = rooms

    def doors(self) -> list[Door]:
        return [
            Door(
                method="GET",
                path="/api/v1/search",
                name="search",
                summary="Messages with all these words in the newest rooms where the caller spoke, newest first.",
                serve=self.search,
                role=Role.VIEWER,
                group=CONVERSATIONS_GROUP,
                answer=FoundView,
                several=True,
                query={"q": Query("Words that a message must all have.", required=True)},
                statuses=(422,),
            ),
            Door(
                method="POST",
                path="/api/v1/rooms/{room}/mark",
                name="mark_room",
                summary="Name, pin, put away or read a room, in the caller's own list.",
                serve=self.mark,
                role=Role.VIEWER,
                group=CONVERSATIONS_GROUP,
                body=RoomChange,
            ),
            Door(
                method="POST",
                path="/api/v1/rooms/{room}/restore",
                name="restore_room",
                summary="Take back that the caller deleted a room on the page; for some seconds.",
                serve=self.restore,
                role=Role.USER,
                group=CONVERSATIONS_GROUP,
                statuses=(409,),
            ),
        ]

    async def search(self, asked: Asked) -> web.Response:
        wanted = asked.request.query.get("q", "").strip()
        if not 0 < len(wanted) <= WANTED_MAX_CHARS:
            raise Refusal(422, NO_WORDS)
        return web.json_response({"data": await self.found(asked.caller, wanted), "next": None})

    async def found(self, caller: Caller, wanted: str, rooms_max: int = SEARCHED_ROOMS_MAX) -> list[dict[str, Any]]:
        """Messages with all words of `wanted`, as they are told."""
        rooms = (await self._rooms.spoken(caller))[:rooms_max]
        titles = {room.address: room.title for room in rooms}
        found = await self._context.store.shelf.find([*titles], wanted)
        return [self._told(one, titles[one.address], wanted.lower().split()) for one in found]

    def _told(self, one: FoundEntry, title: str, words: Sequence[str]) -> dict[str, Any]:
        text = without_marks(one.text, words) if one.author is Author.AGENT else one.text
        told = FoundView(
            room=self._context.named(one.address),
            title=title,
            id=one.id,
            author=str(one.author),
            name=visible(one.name, one_line=True),
            at=one.at.isoformat(),
            text=legible(snippet(" ".join(text.split()), words)),
        )
        return told.model_dump()

    async def mark(self, asked: Asked) -> web.Response:
        change = await asked.body(RoomChange)
        address = await self._rooms.meant(asked.caller, asked.pieces["room"])
        if address.channel != CHANNEL or not await self._rooms.may_read(asked.caller, address):
            raise Refusal(403, NOT_YOURS)
        title = change.title and visible(" ".join(change.title.split()), one_line=True)
        if title:
            title = self._context.door().clean(clip(title, ROOM_TITLE_MAX_CHARS), gate=Gate.MESSAGE_IN)
        mark = RoomMark(title, change.pinned, change.archived, change.read_at)
        await self._context.store.shelf.mark_room(asked.caller.identity, address, mark)
        return web.json_response({})

    async def restore(self, asked: Asked) -> web.Response:
        caller, address = asked.caller, await self._rooms.meant(asked.caller, asked.pieces["room"])
        if not await self._context.store.shelf.restore_room(caller.identity, caller.person.name, address):
            raise Refusal(409, TOO_LATE)
        return web.json_response({})


def without_marks(markdown: str, words: Sequence[str]) -> str:
    """The lines of an answer or a card around the first word that was looked for, as plain text."""
    low = markdown.lower()
    first = min((at for word in words if (at := low.find(word)) >= 0), default=0)
    begin = markdown.rfind("\n", 0, max(0, first - READ_AROUND_CHARS)) + 1
    begin = max(begin, first - 2 * READ_AROUND_CHARS)
    return to_plain(parse(markdown[begin : first + READ_AROUND_CHARS]))


def snippet(text: str, words: Sequence[str]) -> str:
    """As much of a text as is told, from a little before the first word that was looked for."""
    places = [at for word in words if (at := text.lower().find(word)) >= 0]
    begin = max(0, min(places, default=0) - SNIPPET_CHARS // 4)
    begin = text.rfind(" ", 0, begin) + 1 if begin else 0
    return ("… " if begin else "") + clip(text[begin:], SNIPPET_CHARS)
