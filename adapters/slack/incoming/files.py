"""Files in: fetched with the token in the header, from Slack alone, and no more bytes than allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import aiohttp

from adapters.slack.errors import ours
from adapters.slack.web import Web
from runtime.contract import FileRef
from runtime.errors import Rejected, Retryable, Uncertain

HOST: Final = "slack.com"
DOWNLOAD_CHUNK_BYTES: Final = 64 * 1024


class Downloads:
    """Fetches what people sent. `base` is the address of the Web API: a server that stands in for Slack has files too."""

    def __init__(self, web: Web, *, token: str, base: str) -> None:
        self._web = web
        self._token = token
        self._base = urlsplit(base)

    async def fetch(self, file: FileRef, into: Path, *, most: int) -> None:
        """Errors: Retryable; Rejected when it is gone, not ours to read, or over `most` bytes."""
        if file.size > most:
            raise Rejected(f"{file.name} has {file.size:,} bytes; at most {most:,} are allowed")
        try:
            told = (await self._web.call("files.info", file=file.remote))["file"]
        except Uncertain as error:
            raise Retryable(str(error)) from error
        url = str(told.get("url_private_download") or told.get("url_private") or "")
        if not self._is_slacks(url):
            raise Rejected(f"{file.name} isn't stored on Slack, and our token must not leave Slack")
        await self._write(url, file, into, most)

    async def _write(self, url: str, file: FileRef, into: Path, most: int) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            async with self._web.http() as http, http.get(url, headers=headers, allow_redirects=False) as answer:
                _judge(answer, file)
                left = most
                with into.open("wb") as out:
                    async for chunk in answer.content.iter_chunked(DOWNLOAD_CHUNK_BYTES):
                        left -= len(chunk)
                        if left < 0:
                            raise Rejected(f"{file.name} is larger than the {most:,} bytes allowed")
                        out.write(chunk)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Retryable(str(ours(error, f"the download of {file.name}"))) from error

    def _is_slacks(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
        except ValueError:  # no address at all
            return False
        if self._base.hostname != HOST and parts.netloc == self._base.netloc:
            return parts.scheme == self._base.scheme
        host = parts.hostname or ""
        return parts.scheme == "https" and (host == HOST or host.endswith(f".{HOST}"))


def _judge(answer: aiohttp.ClientResponse, file: FileRef) -> None:
    """Errors: Retryable, Rejected. To whom it does not show a file, Slack shows its login page."""
    if answer.status == 429 or answer.status >= 500:
        raise Retryable(f"the download of {file.name} was answered {answer.status}")
    if answer.status != 200:
        raise Rejected(f"{file.name} is gone from Slack, or this app may not read it ({answer.status})")
    if answer.content_type == "text/html" and file.mime != "text/html":
        raise Rejected(f"Slack does not let us read {file.name}: the app may lack the scope files:read")
