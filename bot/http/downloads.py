"""Files that operators download: made as they are asked for, and sent from a file without a name."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from typing import IO, Final

from aiohttp import web

from bot.http.entrance import Entrance
from bot.operator.context import OperatorContext

DOWNLOAD_CHUNK_BYTES: Final = 64 * 1024
SUPPORT_FILE: Final = "/console/support.zip"
PERSON_FILE: Final = "/console/people/{id}/data.zip"


class Downloads:
    """Routes of files, each by an operation that asks for its own role."""

    def __init__(self, context: OperatorContext, entrance: Entrance) -> None:
        self._context = context
        self._entrance = entrance

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(PERSON_FILE, self.person, allow_head=False),
            web.get(SUPPORT_FILE, self.support, allow_head=False),
        ]

    async def person(self, request: web.Request) -> web.StreamResponse:
        """All that is kept of somebody, for owners. Errors: Refusal."""
        actor = await self._entrance.actor(request)
        from bot.operator.access.exporting import export_to
        from bot.operator.operations import Operations

        do, name = Operations(self._context, actor), request.match_info["id"]
        folders = [self._context.folders(row["name"]) for row in self._context.agents()]
        return await sent(request, "person.zip", lambda file: export_to(file, do, folders, name))

    async def support(self, request: web.Request) -> web.StreamResponse:
        """A support bundle, with what the doctor found last; it looks now if it hasn't yet. Errors: Refusal."""
        actor = await self._entrance.actor(request)
        from bot.operator.operations import Operations
        from bot.operator.system.bundle import write_bundle

        do = Operations(self._context, actor)
        if (await do.doctor())["at"] is None:
            await do.examine()
        parts = await do.support()

        async def write(file: IO[bytes]) -> None:
            await asyncio.to_thread(write_bundle, file, parts)

        return await sent(request, "signalbox-support.zip", write)


async def sent(request: web.Request, name: str, write: Callable[[IO[bytes]], Awaitable[object]]) -> web.StreamResponse:
    """Send a zip file called `name` that `write` makes."""
    with tempfile.TemporaryFile() as file:
        await write(file)
        size = file.tell()
        file.seek(0)
        response = web.StreamResponse(
            headers={"Content-Disposition": f'attachment; filename="{name}"', "Content-Length": str(size)}
        )
        response.content_type = "application/zip"
        await response.prepare(request)
        while chunk := file.read(DOWNLOAD_CHUNK_BYTES):
            await response.write(chunk)
    return response
