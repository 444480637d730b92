"""Rooms of the running Signalbox, by its page's wire and its operators' API: what editors and terminals say and hear."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any, Final
from urllib.parse import quote

import aiohttp

from bot.node import login
from bot.node.lock import Control
from bot.operator.client import NO_WHOLE_REPLY, Client, Gone
from bot.operator.views import View
from runtime.http.errors import Refusal

WIRE_TIMEOUT: Final = aiohttp.ClientTimeout(total=30)
STREAM_TIMEOUT: Final = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=45)
"""Its signs of life come each 15 s."""
HEARS: Final = "hears"
"""The first thing that is told of a room: nothing is missed from here on."""
NO_WIRE_REPLY: Final = "The running process ({pid}) does not answer: {error}."


class RoomWire:
    """Speaks as the owner of this machine's Signalbox."""

    def __init__(self, session: aiohttp.ClientSession, control: Control) -> None:
        self._session = session
        self._control = control
        self.operator = Client(session, control)

    async def say(self, room: str, text: str, message: str, files: list[str]) -> str:
        """Id of the message; an equal `message` is the same one. Errors: Gone, Refusal."""
        told = await self._post(f"/api/rooms/{room}/messages", {"id": message, "text": text, "files": files})
        if told.get("outcome") in ("refused", "ignored"):
            raise Refusal(403, told.get("notice") or "This message was refused.")
        return str(told["signal_id"])

    async def upload(self, room: str, name: str, data: bytes) -> str:
        """Path of the file in the conversation. Errors: Gone, Refusal."""
        form = aiohttp.FormData(quote_fields=False)  # as browsers name files: a space stays one
        form.add_field("file", BytesIO(data), filename=name)
        return str((await self._post(f"/api/rooms/{room}/files", form=form))["path"])

    async def stop(self, room: str, message: str) -> None:
        await self._post(f"/api/rooms/{room}/stop", {"id": message})

    async def timeline(self, room: str, before: str = "") -> View:
        """The newest entries, or those up to the instant `before`. Errors: Gone, Refusal."""
        query = f"?before={quote(before)}" if before else ""
        return await self._answer("GET", f"/api/rooms/{room}/timeline{query}")

    async def thoughts(self, room: str, entry: str) -> list[str]:
        told = await self._answer("GET", f"/api/rooms/{room}/work/{entry}")
        return list(told.get("thoughts", ()))

    async def progress(self, room: str) -> AsyncIterator[View]:
        """Progress in the room as it comes, without end. Errors: Gone."""
        async for name, told in self.events(room):
            if name == "progress":
                yield told

    async def events(self, room: str) -> AsyncIterator[tuple[str, View]]:
        """Events of the room by name: `progress`, and `changed` after what lasts. Errors: Gone."""
        url = f"{self._control.url}/api/rooms/{room}/events"
        try:
            async with self._session.get(url, timeout=STREAM_TIMEOUT) as answer:
                if answer.status >= 400:
                    return
                yield "progress", {"kind": HEARS}
                name = ""
                async for line in lines_of(answer.content):
                    if line.startswith(b"event: "):
                        name = line[7:].decode()
                    elif line.startswith(b"data: "):
                        yield name, json.loads(line[6:])
        except NO_WHOLE_REPLY as error:
            raise self._gone(error) from error

    async def _post(self, path: str, fields: View | None = None, *, form: aiohttp.FormData | None = None) -> View:
        return await self._answer("POST", path, fields, form)

    async def _answer(
        self, method: str, path: str, fields: View | None = None, form: aiohttp.FormData | None = None
    ) -> View:
        url = f"{self._control.url}{path}"
        try:
            async with self._session.request(method, url, json=fields, data=form, timeout=WIRE_TIMEOUT) as answer:
                told: Any = json.loads(await answer.read())
        except NO_WHOLE_REPLY as error:
            raise self._gone(error) from error
        if answer.status == 503:
            raise Gone(told.get("error", answer.reason))
        if answer.status >= 400:
            raise Refusal(answer.status, told.get("error", answer.reason))
        return dict(told)

    def _gone(self, error: Exception) -> Gone:
        return Gone(NO_WIRE_REPLY.format(pid=self._control.pid, error=error or "no reply"))


async def lines_of(stream: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Lines of any length: a room's view is one."""
    rest = b""
    async for chunk in stream.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line


@asynccontextmanager
async def wired(control: Control) -> AsyncIterator[RoomWire]:
    headers = {"Authorization": f"Bearer {control.token}", "Origin": control.url, "X-Signalbox": "1", **login.header()}
    async with aiohttp.ClientSession(headers=headers, timeout=WIRE_TIMEOUT, trust_env=False) as session:
        yield RoomWire(session, control)
