"""Files over HTTP: upload into a room's workspace, its list, download."""

from __future__ import annotations

import asyncio
import errno
import os
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from aiohttp import BodyPartReader, web

from adapters.web.files import Upload, listing
from adapters.web.rooms import Rooms
from runtime.contract import BOUNDLESS, UPLOADS, Address, NewId, PersonId, Shortage, Space, Workspaces, clean_name
from runtime.http.errors import Refusal
from runtime.text.retold import retold
from runtime.text.words import marked, say
from runtime.workspace.safe_fs import BadPath, reading

TRANSFER_CHUNK_BYTES: Final = (
    256 * 1024
)  # bytes a disk call; small enough to stay off the loop's back, large enough to be few
WRITE_LIMIT: Final = timedelta(seconds=30)  # a reader that takes no CHUNK in so long is gone
FORM_OVERHEAD: Final = 64 * 1024  # bytes a form adds around a file, generously
PICTURES: Final = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
NO_FILE: Final = marked("There is no such file in this conversation.")
DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


class Transfer:
    """Routes of the page's files, for those who may open their room."""

    def __init__(self, *, rooms: Rooms, files: FileTransfer) -> None:
        self._rooms = rooms
        self._files = files

    def routes(self) -> list[web.RouteDef]:
        files = "/api/rooms/{room}/files"
        return [web.post(files, self.receive), web.get(files, self.list), web.get(files + "/{path:.+}", self.send)]

    async def receive(self, request: web.Request) -> web.Response:
        visitor, address = await self._rooms.open_to_write(request)
        return await self._files.receive(request, address, visitor.person.id)

    async def list(self, request: web.Request) -> web.Response:
        _, address = await self._rooms.open(request)
        return web.json_response(await self._files.listed(address))

    async def send(self, request: web.Request) -> web.StreamResponse:
        _, address = await self._rooms.open(request)
        return await self._files.send(request, address, request.match_info["path"])


class FileTransfer:
    """Files of any room's workspace. Whoever calls has looked who asks."""

    def __init__(self, *, workspaces: Workspaces, upload_bytes: int, new_id: NewId, space: Space = BOUNDLESS) -> None:
        self._workspaces = workspaces
        self._limit = upload_bytes
        self._space = space
        self._new_id = new_id

    async def receive(self, request: web.Request, address: Address, person: PersonId) -> web.Response:
        """One file as the form field `file`, streamed to disk."""
        if (request.content_length or 0) > self._limit + FORM_OVERHEAD:
            raise self._too_large()
        root = self._workspaces.folder(address)
        _refuse(await self._space.shortage(root, person))
        field = await _file_field(request)
        name = clean_name(field.filename or "")
        with _disk_errors():
            upload = await asyncio.to_thread(Upload, root, mark=self._new_id(), admit=self._workspaces.admit)
            path = ""
            try:
                async for chunk in _chunks(field):
                    if upload.size + len(chunk) > self._limit:
                        raise self._too_large()
                    await asyncio.to_thread(upload.write, chunk)
                    if self._space.add(root, len(chunk), person):
                        _refuse(await self._space.shortage(root, person))
                path = await asyncio.to_thread(upload.keep, name)
                await self._space.keep(root / path, upload.size, person)
            finally:
                await asyncio.to_thread(upload.close)
                if not path:
                    self._space.add(root, -upload.size, person)
                    await self._space.recount(root)
        return web.json_response({"name": Path(path).name, "path": path, "size": upload.size}, status=201)

    @asynccontextmanager
    async def counting(self, address: Address, path: str, size: int, person: PersonId) -> AsyncIterator[None]:
        """Count a file that came whole and is kept meanwhile. Errors: Refusal 507 where there is no place for it."""
        root = self._workspaces.folder(address)
        _refuse(await self._space.shortage(root, person))
        try:
            if self._space.add(root, size, person):
                _refuse(await self._space.shortage(root, person))
            with _disk_errors():
                yield
        except BaseException:
            self._space.add(root, -size, person)
            raise
        await self._space.keep(root / path, size, person)

    async def listed(self, address: Address) -> dict[str, Any]:
        files, more = await asyncio.to_thread(listing, self._workspaces.folder(address))
        told = [{"path": f.path, "size": f.size, "changed_at": f.changed_at.isoformat()} for f in files]
        return {"files": told, "more": more}

    async def send(self, request: web.Request, address: Address, path: str) -> web.StreamResponse:
        """Send a file as a download, never as a page of ours. With `?view` a picture is shown."""
        try:
            with reading(self._workspaces.folder(address), path) as opened:
                file = opened.fileno()
                headers = _shown(file) if "view" in request.query else None
                return await _stream(request, headers or _saved(path), file, os.fstat(file).st_size)
        except (BadPath, FileNotFoundError, NotADirectoryError, PermissionError) as error:
            raise Refusal(404, NO_FILE) from error
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG):
                raise Refusal(404, NO_FILE) from error
            raise

    def _too_large(self) -> Refusal:
        return Refusal(
            413,
            say(
                "The file is too large: at most {limit} MiB can be uploaded.", limit=f"{self._limit / 1024 / 1024:.4g}"
            ),
        )


def _refuse(shortage: Shortage | None) -> None:
    """Errors: Refusal when the disk is short, or the room or person has had its part."""
    if shortage:
        raise Refusal(507, say("{words} The file wasn't stored.", words=retold(shortage.words)))


@contextmanager
def _disk_errors() -> Iterator[None]:
    """A full disk is told in words; a link where `uploads` should be is somebody's trick."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise Refusal(507, say("Signalbox's disk is full, so the file wasn't stored.")) from error
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise Refusal(
                409, say("`{uploads}` in this workspace isn't a folder, so the file wasn't stored.", uploads=UPLOADS)
            ) from error
        raise


async def _file_field(request: web.Request) -> BodyPartReader:
    if request.content_type != "multipart/form-data":
        raise Refusal(415, say("Send the file as a form: multipart/form-data with a field `file`."))
    try:
        field = await (await request.multipart()).next()
    except ValueError as error:
        raise Refusal(400, say("The form is malformed.")) from error
    if not isinstance(field, BodyPartReader) or field.name != "file":
        raise Refusal(400, say("The form must begin with a field named `file`."))
    return field


async def _chunks(field: BodyPartReader) -> AsyncIterator[bytes]:
    """The field's bytes in pieces of about CHUNK."""
    gathered = bytearray()
    try:
        while piece := await field.read_chunk(64 * 1024):
            gathered += piece
            if len(gathered) >= TRANSFER_CHUNK_BYTES:
                yield bytes(gathered)
                gathered.clear()
    except ValueError as error:
        raise Refusal(400, say("The form is malformed.")) from error
    yield bytes(gathered)


def _saved(path: str) -> dict[str, str]:
    return {
        "Content-Type": "application/octet-stream",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(path.rpartition('/')[2], safe='')}",
    }


def _shown(file: int) -> dict[str, str] | None:
    """Headers for a picture, recognised by its first bytes and not by its name; None for anything else. SVG counts as
    anything else, since it may hold a program."""
    begins = os.pread(file, 12, 0)
    kind = next((kind for kind, mark in PICTURES.items() if mark.match(begins)), None)
    return {"Content-Type": kind, "Content-Disposition": "inline"} if kind else None


async def _stream(request: web.Request, headers: Mapping[str, str], file: int, size: int) -> web.StreamResponse:
    response = web.StreamResponse(headers={**headers, "Content-Length": str(size)})
    await response.prepare(request)
    left = size if request.method == "GET" else 0
    while left:
        chunk = await asyncio.to_thread(os.read, file, min(TRANSFER_CHUNK_BYTES, left))
        if not chunk:
            raise ConnectionAbortedError("the file became shorter while it was sent")
        async with asyncio.timeout(WRITE_LIMIT.total_seconds()):
            await response.write(chunk)
        left -= len(chunk)
    await response.write_eof()
    return response
