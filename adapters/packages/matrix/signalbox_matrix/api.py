"""The client-server API: one method a call, with the paths of spec.matrix.org/v1.16/client-server-api, read 2026-11.

Nothing is repeated here. A repeat inside a client would hide what became of the first.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import aiohttp
from yarl import URL

from signalbox.channels import TOO_LATE, leaves_in_time
from signalbox_matrix.errors import Cut, NotSent, Refused
from signalbox_matrix.settings import MatrixSettings

Raw = Mapping[str, Any]

V3: Final = "/_matrix/client/v3"
V1: Final = "/_matrix/client/v1"
MEDIA: Final = "/_matrix/media/v3"
CHUNK_BYTES: Final = 64 * 1024


class Api:
    """Calls of one account. `heed` is told the Date of each answer."""

    def __init__(self, settings: MatrixSettings, heed: Callable[[str | None], None]) -> None:
        self._settings = settings
        self._heed = heed
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    # ------------------------------------------------------------------------------------------------------- calls

    async def whoami(self) -> Raw:
        return await self._call("GET", f"{V3}/account/whoami")

    async def versions(self) -> Raw:
        """Asked without the token, so that a refused one is told as that."""
        return await self._call("GET", "/_matrix/client/versions", named=False)

    async def sync(self, since: str, filter_: Raw, wait: timedelta, *, full: bool = False) -> Raw:
        """`full`: with the whole state of every room, whatever changed."""
        params = {
            "filter": json.dumps(filter_, separators=(",", ":")),
            "timeout": str(int(wait.total_seconds() * 1000)),
        }
        if since:
            params["since"] = since
        if full:
            params["full_state"] = "true"
        return await self._call("GET", f"{V3}/sync", params=params, within=wait + self._settings.waits.margin)

    async def send(self, room: str, kind: str, transaction: str, content: Raw) -> str:
        """The event's id. A repeat under the same transaction is the same event."""
        told = await self._call("PUT", f"{_room(room)}/send/{_(kind)}/{_(transaction)}", body=content)
        return str(told["event_id"])

    async def redact(self, room: str, event: str, transaction: str) -> None:
        await self._call("PUT", f"{_room(room)}/redact/{_(event)}/{_(transaction)}", body={})

    async def event(self, room: str, event: str) -> Raw:
        return await self._call("GET", f"{_room(room)}/event/{_(event)}")

    async def reactions(self, room: str, event: str) -> Raw:
        path = f"{V1}/rooms/{_(room)}/relations/{_(event)}/m.annotation/m.reaction"
        return await self._call("GET", path, params={"limit": "100"})

    async def messages(self, room: str, start: str, *, end: str = "", limit: int = 100, only: Raw | None = None) -> Raw:
        """Events before `start` (empty: before now), newest first, not beyond `end`."""
        params = {"dir": "b", "limit": str(limit)} | ({"from": start} if start else {}) | ({"to": end} if end else {})
        if only:
            params["filter"] = json.dumps(only, separators=(",", ":"))
        return await self._call("GET", f"{_room(room)}/messages", params=params)

    async def state(self, room: str, kind: str, key: str = "") -> Raw:
        """Content of a piece of a room's state. Errors: Refused, missing where there is none."""
        return await self._call("GET", f"{_room(room)}/state/{_(kind)}/{_(key)}")

    async def members(self, room: str) -> Raw:
        """Members of a room, by user id."""
        told: Raw = (await self._call("GET", f"{_room(room)}/joined_members"))["joined"]
        return told

    async def joined_rooms(self) -> list[str]:
        told = await self._call("GET", f"{V3}/joined_rooms")
        return [str(room) for room in told["joined_rooms"]]

    async def join(self, room: str, via: str = "") -> str:
        params = {"server_name": via} if via else {}
        told = await self._call("POST", f"{V3}/join/{_(room)}", body={}, params=params)
        return str(told["room_id"])

    async def leave(self, room: str) -> None:
        await self._call("POST", f"{_room(room)}/leave", body={})

    async def read_up_to(self, room: str, event: str) -> None:
        await self._call("POST", f"{_room(room)}/receipt/m.read/{_(event)}", body={})

    async def typing(self, room: str, me: str, lasts: timedelta) -> None:
        """Nothing lasting: it ends."""
        ms = int(lasts.total_seconds() * 1000)
        body = {"typing": True, "timeout": ms} if ms else {"typing": False}
        await self._call("PUT", f"{_room(room)}/typing/{_(me)}", body=body)

    async def kept(self, me: str, kind: str, room: str = "") -> Raw:
        """Data that we keep at the homeserver, of the account or one of its rooms. Errors: Refused, missing where nothing is."""
        return await self._call("GET", _kept(me, kind, room))

    async def keep(self, me: str, kind: str, content: Raw, room: str = "") -> None:
        await self._call("PUT", _kept(me, kind, room), body=content)

    async def most_uploaded(self) -> int | None:
        """Bytes that one file may have; None where the homeserver does not say."""
        try:
            told = await self._call("GET", f"{V1}/media/config")
        except Refused as error:
            if not error.is_missing:
                raise
            told = await self._call("GET", f"{MEDIA}/config")
        most = told.get("m.upload.size")
        return most if isinstance(most, int) else None

    async def upload(self, content: Any, name: str, mime: str) -> str:
        """The file's address at the homeserver. Nobody sees it until a message names it."""
        path, headers = f"{MEDIA}/upload", {"Content-Type": mime or "application/octet-stream"}
        told = await self._call("POST", path, data=content, headers=headers, params={"filename": name})
        return str(told["content_uri"])

    async def download(self, uri: str, into: Path, most: int) -> int:
        """Bytes written, or more than `most` where there are more than that. Errors: Refused, Cut, NotSent."""
        server, _slash, media = uri.removeprefix("mxc://").partition("/")
        try:
            return await self._download(f"{V1}/media/download/{_(server)}/{_(media)}", into, most)
        except Refused as error:
            if error.code != "M_UNRECOGNIZED":  # homeservers before authenticated media, spec v1.11
                raise
            return await self._download(f"{MEDIA}/download/{_(server)}/{_(media)}", into, most)

    # --------------------------------------------------------------------------------------------------- the wire

    async def _download(self, path: str, into: Path, most: int) -> int:
        size = 0
        async with self._answer("GET", path, within=None) as answer:
            with into.open("wb") as file:
                async for chunk in answer.content.iter_chunked(CHUNK_BYTES):
                    size += len(chunk)
                    if size > most:
                        break
                    file.write(chunk)
        return size

    async def _call(
        self,
        method: str,
        path: str,
        *,
        body: Raw | None = None,
        within: timedelta | None = None,
        **more: Any,
    ) -> Raw:
        if body is not None:
            more["data"] = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
            more["headers"] = {"Content-Type": "application/json"}
        async with self._answer(method, path, within=within or self._settings.waits.call, **more) as answer:
            return _read(await answer.read())

    @asynccontextmanager
    async def _answer(
        self, method: str, path: str, *, within: timedelta | None, named: bool = True, **more: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        url = URL(f"{self._settings.server}{path}", encoded=True)
        if params := more.pop("params", None):
            url = url.update_query(params)
        if not leaves_in_time():
            raise NotSent(TOO_LATE)
        waits = self._settings.waits
        headers = dict(more.pop("headers", {}))
        if named:
            headers["Authorization"] = f"Bearer {self._settings.token}"
        timeout = aiohttp.ClientTimeout(
            total=within.total_seconds() if within else None,
            sock_connect=waits.connect.total_seconds(),
            sock_read=None if within else waits.call.total_seconds(),
        )
        try:
            async with self._http().request(
                method, url, headers=headers, timeout=timeout, allow_redirects=False, **more
            ) as answer:
                if answer.status != 200:
                    raise await _refusal(answer)
                self._heed(answer.headers.get("Date"))
                yield answer
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            raise NotSent(str(error)) from error
        except TimeoutError as error:
            raise Cut("no answer in time") from error
        except (aiohttp.ClientError, OSError) as error:
            raise Cut(str(error) or type(error).__name__) from error

    def _http(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(auto_decompress=True)
            # aiohttp sends a PUT or GET again when a connection is cut, and has no public switch for it.
            self._session._retry_connection = False
        return self._session


async def _refusal(answer: aiohttp.ClientResponse) -> Refused:
    try:
        told = json.loads(await answer.read())
    except (ValueError, aiohttp.ClientError, TimeoutError):
        told = {}
    told = told if isinstance(told, dict) else {}
    if 300 <= answer.status < 400:
        text = f"it redirects to {answer.headers.get('Location')}; set homeserver to the address behind that"
        return Refused(answer.status, "", text)
    wait = told.get("retry_after_ms")
    seconds = wait / 1000 if isinstance(wait, int | float) else _seconds(answer.headers.get("Retry-After"))
    after = None if seconds is None else timedelta(seconds=max(seconds, 0))
    return Refused(answer.status, str(told.get("errcode") or ""), str(told.get("error") or ""), retry_after=after)


def _seconds(header: str | None) -> float | None:
    return float(header) if header and header.isdigit() else None


def _read(answer: bytes) -> Raw:
    """Errors: Refused for what is no answer of a homeserver."""
    try:
        told = json.loads(answer)
    except ValueError as error:
        raise Refused(200, "", "its answer is no JSON; is homeserver the address of a Matrix homeserver?") from error
    if not isinstance(told, dict):
        raise Refused(200, "", "its answer is no object; is homeserver the address of a Matrix homeserver?")
    return told


def _(part: str) -> str:
    return quote(part, safe="")


def _room(room: str) -> str:
    return f"{V3}/rooms/{_(room)}"


def _kept(me: str, kind: str, room: str) -> str:
    within = f"/rooms/{_(room)}" if room else ""
    return f"{V3}/user/{_(me)}{within}/account_data/{_(kind)}"
