"""The library's HTTP seam over aiohttp: less than half the processor time of its default backend, and exact endings.

That one tells a refused connection, a cut one and a server error as the same NetworkError; here they are three.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import structlog
from telegram import Update
from telegram.request import BaseRequest, RequestData

from adapters.telegram.errors import Cut, NotSent, Refused
from adapters.telegram.settings import Waits
from runtime.http.last_look import LookingRequest
from runtime.workspace.safe_fs import NO_LINK

log = structlog.get_logger("telegram")

CONNECTIONS: Final = 64
IDLE: Final = 15.0  # seconds a connection is kept without use: less than the platform keeps it
DOWNLOAD_CHUNK_BYTES: Final = 64 * 1024  # bytes
NOT_SENT: Final = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError)
"""No connection, no answer to connecting, or a proxy that made none: the request never left."""


class Client(BaseRequest):
    """All calls of one bot but its polls. `dated` is told the time by the platform's clock, as its answers have it."""

    __slots__ = ("_closed", "_dated", "_proxy", "_session", "_waits")

    def __init__(self, server: str, waits: Waits, dated: Callable[[str | None], None]) -> None:
        self._waits = waits
        self._dated = dated
        self._proxy = proxy_for(server)
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    @property
    def read_timeout(self) -> float:
        return self._waits.call.total_seconds()

    async def initialize(self) -> None:
        """From now on calls may be made. The first opens what it needs."""
        self._closed = False

    async def shutdown(self) -> None:
        """No more calls; those under way end as cut."""
        self._closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        if self._closed:
            raise NotSent("this account is stopping")
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=CONNECTIONS, keepalive_timeout=IDLE),
                request_class=LookingRequest,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": self.USER_AGENT},
            )
        return self._session

    def _timeout(self, read: object) -> aiohttp.ClientTimeout:
        total = read if isinstance(read, int | float) else self.read_timeout
        return aiohttp.ClientTimeout(total=total, sock_connect=self._waits.connect.total_seconds())

    def _slow(self) -> aiohttp.ClientTimeout:
        """For a file, of which something must come all the time."""
        return aiohttp.ClientTimeout(sock_read=self.read_timeout, sock_connect=self._waits.connect.total_seconds())

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: Any = BaseRequest.DEFAULT_NONE,
        write_timeout: Any = BaseRequest.DEFAULT_NONE,
        connect_timeout: Any = BaseRequest.DEFAULT_NONE,
        pool_timeout: Any = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """One call, never repeated. Errors: NotSent, Cut, Refused."""
        try:
            async with self._open().request(
                method, url, data=_body(request_data), timeout=self._timeout(read_timeout), proxy=self._proxy,
                allow_redirects=False, headers=_content_type(request_data),
            ) as response:  # fmt: skip
                payload = await response.read()
        except NOT_SENT as error:
            raise NotSent(str(error)) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Cut(str(error) or type(error).__name__) from error
        if response.status != 200:  # perhaps the answer of a proxy, whose clock is not Telegram's
            raise refused(response.status, payload, response.headers)
        self._dated(response.headers.get("Date"))
        return response.status, payload

    async def download(self, url: str, into: Path, most: int) -> int:
        """Write what is at `url` to `into`; the number of bytes, at most `most` + 1. Errors: as `do_request`."""
        try:
            async with self._open().get(
                url, timeout=self._slow(), proxy=self._proxy, allow_redirects=False
            ) as response:
                if response.status != 200:
                    raise refused(response.status, await response.read(), response.headers)
                return await _write(response.content, into, most)
        except NOT_SENT as error:
            raise NotSent(str(error)) from error
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Cut(str(error) or type(error).__name__) from error


class Polls(Client):
    """The polls of one bot. What the library cannot read comes as an empty update, so that it can be confirmed."""

    __slots__ = ()

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        answer = BaseRequest.parse_json_payload(payload)
        found = answer.get("result")
        return {**answer, "result": [u for u in map(readable, found) if u]} if isinstance(found, list) else answer


def readable(update: Any) -> dict[str, Any] | None:
    """`update` where the library can read it; else its number alone, so that it does not hold up all others."""
    if not isinstance(update, dict) or not isinstance(update.get("update_id"), int):
        log.warning("an update without a number is left out")
        return None
    try:
        if (name := null_id(update)) is not None:
            raise ValueError(f"{name} is null")
        Update.de_json(update, None)
    except Exception as error:  # noqa: BLE001 - the library fails in many ways on what it does not expect
        log.warning("an update that cannot be read is left out", update_id=update["update_id"], reason=repr(error))
        return {"update_id": update["update_id"]}
    return update


def null_id(value: object) -> str | None:
    """Name of an id that is null, which the library takes for one; None where there is none."""
    if isinstance(value, list):
        return next(filter(None, map(null_id, value)), None)
    if not isinstance(value, dict):
        return None
    for name, one in value.items():
        if one is None and name.endswith("id"):
            return str(name)
        if found := null_id(one):
            return found
    return None


def refused(status: int, payload: bytes, headers: Mapping[str, str]) -> Refused:
    """Error of an answer other than 200. A proxy on the way may answer something that is not JSON."""
    answer = _object(_json(payload))
    parameters = _object(answer.get("parameters"))
    description = answer.get("description") or payload[:200].decode("utf-8", "replace").strip() or "no reason given"
    wait, moved_to = parameters.get("retry_after", headers.get("Retry-After")), parameters.get("migrate_to_chat_id")
    return Refused(
        status, str(description), retry_after=_seconds(wait), moved_to=moved_to if isinstance(moved_to, int) else None
    )


def _json(payload: bytes) -> object:
    try:
        found: object = json.loads(payload)
    except (ValueError, RecursionError):
        return None
    return found


def _object(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}


def _seconds(wait: object) -> timedelta | None:
    try:
        return timedelta(seconds=float(str(wait)))
    except (ValueError, OverflowError):
        return None


def _body(data: RequestData | None) -> bytes | aiohttp.FormData | None:
    if data is None:
        return None
    if not data.contains_files:
        return json.dumps(data.parameters, ensure_ascii=False).encode("utf-8", "replace")
    form = aiohttp.FormData(data.json_parameters, quote_fields=False)  # names are kept as they are, in UTF-8
    for name, file in data.multipart_data.items():
        form.add_field(name, file[1], filename=file[0], content_type=file[2])
    return form


def _content_type(data: RequestData | None) -> dict[str, str]:
    return {"Content-Type": "application/json"} if data is not None and not data.contains_files else {}


async def _write(content: aiohttp.StreamReader, into: Path, most: int) -> int:
    """Errors: OSError when `into` is a link or the disk is full."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | NO_LINK
    with open(await asyncio.to_thread(os.open, into, flags, 0o600), "wb") as file:  # noqa: ASYNC230, PTH123 - a descriptor
        size = 0
        async for chunk in content.iter_chunked(DOWNLOAD_CHUNK_BYTES):
            size += len(chunk)
            if size > most:
                break
            await asyncio.to_thread(file.write, chunk)
    return size


def proxy_for(server: str) -> str | None:
    """The proxy that the machine names for `server`, looked up once: the library's own backend honours it too."""
    parts = urlsplit(server)
    if parts.hostname in (None, "localhost", "127.0.0.1", "::1") or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)
