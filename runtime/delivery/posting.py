"""Messages that tools post beside an answer: each is one row of the outbox, known by the call that wished it."""

from __future__ import annotations

import asyncio
import mimetypes
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path, PurePosixPath
from typing import Final

from runtime.contract import Content, DeliveryId, FileRef, Kind, NewId
from runtime.contract.deliveries import PostStanding, PostWish
from runtime.errors import Rejected, ToolRetry
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.store.protocol import NewDelivery
from runtime.workspace.safe_fs import reading
from runtime.workspace.workspaces import WorkspaceFolders

POSTED_FOLDER: Final = "posted"
"""Folder of a room's workspace with files that were posted there."""
FILE_MAX_BYTES: Final = 50 * 1024 * 1024
KIND_UNKNOWN: Final = "application/octet-stream"
BEFORE_ANSWERS: Final = Kind.FINAL
"""Rank of what a tool posts: it was first, and the answer that follows may speak of it."""
NOT_THERE: Final = "{path!r} can't be sent: {why}. It must be a file of this room, of at most 50 MB."

Post = Callable[[NewDelivery], Awaitable[bool]]
"""Puts a delivery into the outbox; False where its origin is there already. Errors: Rejected."""
Standing = Callable[[str], Awaitable[PostStanding | None]]
"""State of the delivery of an origin."""


class RoomPosting:
    """Implements `contract.deliveries.Posting`. `post` and `standing` are the outbox's; files go into the workspace of the room."""

    def __init__(
        self, *, post: Post, standing: Standing, workspaces: WorkspaceFolders, new_id: NewId, door: Callable[[], Door]
    ) -> None:
        self._post, self._standing = post, standing
        self._workspaces, self._new_id, self._door = workspaces, new_id, door

    async def post(self, wish: PostWish) -> DeliveryId:
        new = DeliveryId(self._new_id())
        origin = _origin(wish.key)
        text = self._door().clean(wish.text, Gate.DELIVERY, self._door().room(wish.to))
        files = [
            await asyncio.to_thread(self._brought, wish, origin, at, path) for at, path in enumerate(wish.files, 1)
        ]
        content = Content(text, files=tuple(files))
        try:
            await self._post(NewDelivery(new, origin, 0, Kind.REPORT, wish.to, content, ranks_as=BEFORE_ANSWERS))
        except Rejected as error:
            raise ToolRetry(str(error)) from error
        return new

    async def standing(self, delivery: str, key: str) -> PostStanding | None:
        return await self._standing(_origin(f"{key}{delivery}"))

    def _brought(self, wish: PostWish, origin: str, at: int, path: str) -> FileRef:
        """A file of the run's own workspace, copied to the room's. A repeat after a kill copies it again, over the first."""
        name = PurePosixPath(path).name
        target, arriving = (
            f"{POSTED_FOLDER}/{origin.rpartition(':')[2]}/{at}/{name}",
            self._workspaces.arriving(self._new_id()),
        )
        try:
            size = _copied(wish.folder, path, arriving)
            self._workspaces.keep(wish.to, target, arriving)
        except (OSError, ValueError) as error:
            why = error.strerror or "it can't be read" if isinstance(error, OSError) else str(error)
            raise ToolRetry(NOT_THERE.format(path=path, why=why)) from error
        finally:
            arriving.unlink(missing_ok=True)
        return FileRef(name, target, size, mime=mimetypes.guess_type(name)[0] or KIND_UNKNOWN)


def _copied(folder: Path, path: str, arriving: Path) -> int:
    """Bytes that were copied. Errors: OSError, ValueError, also for one that is too large."""
    with reading(folder, path) as opened, arriving.open("wb") as target:
        if (size := os.fstat(opened.fileno()).st_size) > FILE_MAX_BYTES:
            raise ValueError(f"it has {size:,} bytes")
        shutil.copyfileobj(opened, target)
        return size


def _origin(key: str) -> str:
    return f"posted:{key}"
