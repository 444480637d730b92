"""Files out, in two steps and a finish: an address to send the bytes to, the bytes, and the word that shares them.

Only the finish shows anything. It carries no marker and works later: so its file is looked for, by the id we remember
or in the history, by name, size and time.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import aiohttp

from adapters.slack.errors import Refusal, ours
from adapters.slack.web import Web, value
from runtime.contract import Address, Part, Receipt, Workspaces
from runtime.errors import Rejected, Retryable, Uncertain

UPLOADS_REMEMBERED: Final = 1_000  # uploads remembered
FIRST_LOOK: Final = 0.2  # seconds; each further look waits twice as long


class Uploads:
    """Uploads of one account. `file_id` is known from before the finish until the process ends."""

    def __init__(self, web: Web, workspaces: Workspaces, patience: timedelta) -> None:
        self._web = web
        self._workspaces = workspaces
        self._patience = patience.total_seconds()
        self._ids: OrderedDict[str, str] = OrderedDict()

    async def show(self, part: Part, body: Mapping[str, Any], thread: str) -> Receipt:
        """Errors: Retryable, Uncertain; Rejected in its form, so that words go instead, where Slack or the disk says no."""
        file, comment = body["file"], body["comment"]
        held = file["text"].encode("utf-8", "replace") if "text" in file else self._path(part.address, file["path"])
        try:
            file_id = await self._sent(held, str(file["name"]))
            self._note(part.id, file_id)
            await self._finish(part.address.room, thread, file_id, str(file["name"]), comment)
        except Refusal as error:
            raise Refusal(str(error), code=error.code, needed=error.needed, form=True) from error
        except Rejected as error:
            raise Rejected(str(error), form=True) from error
        shared = await self._awaited(file_id, part.address.room, thread)
        if shared is None:
            raise Uncertain(f"Slack accepted the file {file['name']}, but doesn't show it yet")
        return shared

    async def _sent(self, held: Path | bytes, name: str) -> str:
        """Its id, once Slack has the bytes: nothing is on screen yet, so whatever is cut here may be done again."""
        try:
            size = len(held) if isinstance(held, bytes) else await asyncio.to_thread(lambda: held.stat().st_size)
            told = await self._web.call("files.getUploadURLExternal", filename=name, length=size)
            await self._bytes(value(told, "upload_url"), held)
            return value(told, "file_id")
        except Uncertain as error:
            raise Retryable(str(error)) from error
        except OSError as error:
            raise Rejected(f"the file {name} cannot be read ({error.strerror or error})") from error

    async def _bytes(self, url: str, held: Path | bytes) -> None:
        try:
            with BytesIO(held) if isinstance(held, bytes) else held.open("rb") as file:
                async with self._web.http() as http, http.post(url, data=file) as answer:
                    if answer.status >= 500 or answer.status == 429:
                        raise Retryable(f"the upload was answered {answer.status}")
                    if answer.status != 200:
                        raise Rejected(f"the upload was answered {answer.status}")
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ours(error, "the upload of a file") from error

    async def _finish(self, room: str, thread: str, file_id: str, name: str, comment: str) -> None:
        await self._web.call(
            "files.completeUploadExternal",
            files=[{"id": file_id, "title": name}],
            channel_id=room,
            thread_ts=thread or None,
            initial_comment=comment or None,
        )

    async def _awaited(self, file_id: str, room: str, thread: str) -> Receipt | None:
        """Its message, looked for as long as our patience lasts."""
        wait, spent = FIRST_LOOK, 0.0
        while True:
            shared = await self.shared(file_id, room, thread)
            if shared is not None or spent >= self._patience:
                return shared
            await asyncio.sleep(wait)
            wait, spent = 2 * wait, spent + wait

    async def shared(self, file_id: str, room: str, thread: str) -> Receipt | None:
        """The message that shows the file there, as Slack knows it now; None also where it cannot be asked."""
        try:
            told = await self._web.call("files.info", file=file_id)
        except (Retryable, Uncertain, Rejected):
            return None
        return next((Receipt(ts) for where, ts in _shares(told["file"], room) if where == thread), None)

    def file_id(self, part_id: str) -> str | None:
        return self._ids.get(part_id)

    def _note(self, part_id: str, file_id: str) -> None:
        self._ids[part_id] = file_id
        if len(self._ids) > UPLOADS_REMEMBERED:
            self._ids.popitem(last=False)

    def _path(self, address: Address, relative: str) -> Path:
        """The file in the room's folder; a link does not lead out of it. Errors: Rejected."""
        folder = self._workspaces.folder(address).resolve()
        path = (folder / relative).resolve()
        if not path.is_relative_to(folder):
            raise Rejected(f"{relative} is outside the room's folder", form=True)
        return path


def _shares(file: Mapping[str, Any], room: str) -> Iterator[tuple[str, str]]:
    """Thread and timestamp of each message of the room that shows the file."""
    for kind in (file.get("shares") or {}).values():
        for share in kind.get(room, ()):
            yield str(share.get("thread_ts") or ""), str(share["ts"])
