"""Door of a conversation as a file, for whoever may read it."""

from __future__ import annotations

import asyncio
import json
from typing import Final

from aiohttp import web

from bot.doors.page.conversations import CONVERSATIONS_GROUP
from bot.doors.rooms import NOT_YOURS, ProgramRooms
from bot.doors.table import Asked, Door, Query
from bot.operator.context import OperatorContext
from bot.operator.conversations.copies import copied
from runtime.contract import Role
from runtime.domain.copies.copy import ConversationCopy, to_markdown, to_values
from runtime.http.errors import Refusal
from runtime.text.words import marked

FORMS: Final = {"json": ("application/json", "json"), "markdown": ("text/markdown; charset=utf-8", "md")}
BAD_FORM: Final = marked('`format` is "json" or "markdown".')


class CopyDoors:
    def __init__(self, context: OperatorContext, rooms: ProgramRooms) -> None:
        self._context = context
        self._rooms = rooms

    def doors(self) -> list[Door]:
        return [
            Door(
                method="GET",
                path="/api/v1/rooms/{room}/copy",
                name="copy_room",
                summary="A room's conversation as a file: what was said, files by name and digest, records of calls and questions.",
                serve=self.copy,
                role=Role.VIEWER,
                group=CONVERSATIONS_GROUP,
                query={"format": Query('"json", which can be imported, or "markdown".')},
                statuses=(400,),
            )
        ]

    async def copy(self, asked: Asked) -> web.Response:
        form = asked.request.query.get("format", "json")
        if form not in FORMS:
            raise Refusal(400, BAD_FORM)
        address = await self._rooms.meant(asked.caller, asked.pieces["room"], begins=False)
        if not await self._rooms.may_read(asked.caller, address):
            raise Refusal(403, NOT_YOURS)
        copy = await copied(self._context, address, asked.caller.identity)
        body = await asyncio.to_thread(_written, copy, form)
        kind, end = FORMS[form]
        name = f"conversation-{address.room[:12]}.{end}" if address.room.isalnum() else f"conversation.{end}"
        headers = {"Content-Type": kind, "Content-Disposition": f'attachment; filename="{name}"'}
        return web.Response(body=body, headers=headers)


def _written(copy: ConversationCopy, form: str) -> bytes:
    text = to_markdown(copy) if form == "markdown" else json.dumps(to_values(copy), ensure_ascii=False, indent=1)
    return text.encode()
