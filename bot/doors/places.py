"""Doors of rooms: which a token has, what was said there, and their files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from aiohttp import web
from pydantic import BaseModel

from adapters.web.render import entry as entry_view
from bot.doors.callers import Caller
from bot.doors.forms import EntryView, RoomView
from bot.doors.rooms import ProgramRooms
from bot.doors.table import Asked, Door, Query, Serve
from bot.operator.context import OperatorContext
from runtime.contract import Address, Entry, Role, Room
from runtime.http.errors import Refusal

ROOMS_GROUP: Final = "Rooms and files"
ENTRIES_MOST: Final = 200
BAD_BEFORE: Final = "`before` is an instant, such as 2026-11-26T11:00:00Z: the `at` of the oldest one that you have."
UPLOAD_WORDS: Final = "Upload a file, as the form field `file`; a message may then name its path in `files`."
Shown = dict[str, Any]


class PlaceDoors:
    def __init__(self, context: OperatorContext, rooms: ProgramRooms) -> None:
        self._context = context
        self._rooms = rooms

    def doors(self) -> list[Door]:
        files = "/api/v1/rooms/{room}/files"
        before = {"before": Query("The `at` of the oldest entry that you have: those older than it.")}
        rows: list[tuple[str, str, str, str, Serve, type[BaseModel] | None]] = [
            ("GET", "/api/v1/rooms", "rooms", "Rooms in which the caller spoke, newest first.", self.rooms, RoomView),
            ("GET", "/api/v1/rooms/{room}/messages", "entries", "What was said in a room.", self.entries, EntryView),
            ("GET", files, "files", "Files of a room.", self.files, None),
            ("POST", files, "upload", UPLOAD_WORDS, self.upload, None),
            ("GET", files + "/{path+}", "file", "A file of a room.", self.file, None),
        ]
        return [
            Door(
                method=method,
                path=path,
                name=name,
                summary=words,
                serve=serve,
                role=Role.USER if name == "upload" else Role.VIEWER,
                group=ROOMS_GROUP,
                answer=answer,
                several=answer is not None,
                query=before if name == "entries" else {},
                status=201 if name == "upload" else 200,
                statuses=(400, 404, 409, 413, 415, 507) if name in ("upload", "file") else (),
            )
            for method, path, name, words, serve, answer in rows
        ]

    async def rooms(self, asked: Asked) -> web.Response:
        return web.json_response({"data": await self.listed(asked.caller), "next": None})

    async def listed(self, caller: Caller) -> list[Shown]:
        """Rooms in which a program spoke, as it is told of them."""
        return [self._room(one) for one in await self._rooms.spoken(caller)]

    def _room(self, room: Room) -> Shown:
        told = RoomView(
            room=self._context.named(room.address),
            title=room.title,
            last_at=room.last_at.isoformat(),
            questions=room.waiting_approvals,
            pinned=room.is_pinned,
            archived=room.is_archived,
            unread=room.is_unread,
        )
        return told.model_dump()

    async def entries(self, asked: Asked) -> web.Response:
        """The newest entries, oldest first, or those before an instant."""
        address = await self._address(asked)
        rows = await self.said(address, _instant(asked))
        older = rows[0]["at"] if len(rows) >= ENTRIES_MOST else None
        return web.json_response({"data": rows, "next": older})

    async def said(self, address: Address, before: datetime | None = None) -> list[Shown]:
        """Messages of a room: the newest, oldest first."""
        seen = await self._context.store.history.view(address, before=before, limit=ENTRIES_MOST)
        return [_entry(one) for one in seen.entries]

    async def files(self, asked: Asked) -> web.Response:
        told = await self._context.files().listed(await self._address(asked))
        return web.json_response({"data": told["files"], "next": None, "more": told["more"]})

    async def upload(self, asked: Asked) -> web.Response:
        address = await self._rooms.meant(asked.caller, asked.pieces["room"])
        return await self._context.files().receive(asked.request, address, asked.caller.person.id)

    async def file(self, asked: Asked) -> web.StreamResponse:
        return await self._context.files().send(asked.request, await self._address(asked), asked.pieces["path"])

    async def _address(self, asked: Asked) -> Address:
        """The room of the path, to read: by its name as `say` takes it, or the address that an answer told of."""
        return await self._rooms.meant(asked.caller, asked.pieces["room"], begins=False)


def _instant(asked: Asked) -> datetime | None:
    text = asked.request.query.get("before")
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refusal(422, BAD_BEFORE) from None


def _entry(entry: Entry) -> Shown:
    shown = entry_view(entry)
    text = shown.get("markdown", shown.get("text", ""))
    told = EntryView(
        id=entry.id,
        author=str(entry.author),
        name=entry.name,
        at=entry.at.isoformat(),
        text=text if isinstance(text, str) else "",
        answered=entry.answered,
        files=shown["files"],
    )
    return told.model_dump()
