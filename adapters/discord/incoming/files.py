"""Files of people: fetched from where Discord keeps them, within bounds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
from discord.http import Route

from adapters.discord.contents import attachments
from adapters.discord.errors import ours
from adapters.discord.http import Http
from adapters.discord.settings import DiscordSettings
from runtime.contract import FileRef
from runtime.errors import Rejected, Retryable

KEEPERS: Final = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
DOWNLOAD_CHUNK_BYTES: Final = 64 * 1024  # bytes


class Downloads:
    """A file's handle names its message; the link is asked for anew each time, since it ends after a day."""

    def __init__(self, settings: DiscordSettings, http: Http) -> None:
        self._settings = settings
        self._http = http

    async def fetch(self, file: FileRef, into: Path, *, most: int) -> None:
        """Errors: Retryable; Rejected when it is gone, elsewhere or over `most` bytes."""
        if file.size > most:
            raise Rejected(too_large(file, most))
        try:
            url = await self._link(file)
            async with self._http.session.get(url, allow_redirects=False) as response:
                self._check(response, file)
                await written(response, file, into, most)
        except (Rejected, Retryable):
            raise
        except OSError as error:
            if error.filename is not None:  # our disk, not the connection
                raise
            raise ours(error, self._settings.account, reads=True) from error
        except Exception as error:
            raise ours(error, self._settings.account, reads=True) from error

    async def _link(self, file: FileRef) -> str:
        """Errors: of the library; Rejected when the message has no such file any more."""
        channel, message, attachment = file.remote.split("/")
        path = "/channels/{channel_id}/messages/{message_id}"
        raw: Any = await self._http.request(Route("GET", path, channel_id=channel, message_id=message))
        urls = [str(one["url"]) for one in attachments(raw) if str(one["id"]) == attachment]
        if not urls or not self._is_of_discord(urls[0]):
            raise Rejected(f"the file {file.name} is no longer on Discord")
        return urls[0]

    def _is_of_discord(self, url: str) -> bool:
        """A link leads to Discord's own keepers, or to the server that stands in for it."""
        try:
            parts, server = urlsplit(url), urlsplit(self._settings.server)
            own = self._settings.api_base_url and (parts.scheme, parts.netloc) == (server.scheme, server.netloc)
            return bool(own) or (parts.scheme == "https" and parts.hostname in KEEPERS and parts.port is None)
        except ValueError:  # no address at all
            return False

    def _check(self, response: aiohttp.ClientResponse, file: FileRef) -> None:
        if response.status == 429 or response.status >= 500:
            raise Retryable(
                f'account "{self._settings.account}": Discord is not serving the file {file.name} right now ({response.status})'
            )
        if response.status != 200:
            raise Rejected(f"Discord won't serve the file {file.name} ({response.status})")


async def written(response: aiohttp.ClientResponse, file: FileRef, into: Path, most: int) -> None:
    """Write what comes, as long as it is within `most`."""
    size = 0
    with await asyncio.to_thread(into.open, "wb") as out:
        async for chunk in response.content.iter_chunked(DOWNLOAD_CHUNK_BYTES):
            size += len(chunk)
            if size > most:
                raise Rejected(too_large(file, most))
            await asyncio.to_thread(out.write, chunk)


def too_large(file: FileRef, most: int) -> str:
    return f"the file {file.name} is larger than allowed ({most:,} bytes)"
