"""discord.py's own HTTP client, but one request a call: it repeats nothing and waits for nothing long.

The library's `request` sends again after each 5xx and sleeps through a 429, which would hide a second message, and the
wait, from the outbox. Everything else of it (routes, headers, errors, the socket) stays as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import aiohttp
import discord
from discord.gateway import DiscordClientWebSocketResponse
from discord.http import HTTPClient, Route, json_or_text
from discord.utils import MISSING

from adapters.discord.errors import Closed
from adapters.discord.settings import DiscordSettings
from runtime.http.last_look import LookingRequest

GOODBYE: Final = 2.0  # seconds that a closing socket waits for the other side: a deaf one never answers
BUCKET_TIMEOUT_SECONDS: Final = 5.0  # seconds a call waits for its bucket; beyond, the caller is told
LEARNT: Final = 1000  # buckets that are remembered


class Http(HTTPClient):
    """One account's calls. Connections are made as they are needed, until `close`; after `open` they are again."""

    def __init__(self, settings: DiscordSettings) -> None:
        super().__init__(MISSING)
        self.token = settings.token
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None
        self._is_open = True
        self._dry: dict[str, float] = {}
        self.dated: Callable[[str | None], None] = lambda date: None
        """Is told the time by Discord's clock, as its answers have it."""

    @property
    def session(self) -> aiohttp.ClientSession:
        if not self._is_open:
            raise Closed("the account is being left")
        if self._session is None:
            waits = self._settings.waits
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                ws_response_class=DiscordClientWebSocketResponse,
                request_class=LookingRequest,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(
                    total=waits.call.total_seconds(), sock_connect=waits.connect.total_seconds()
                ),
            )
        return self._session

    async def request(
        self,
        route: Route,
        *,
        files: Sequence[discord.File] | None = None,
        form: Iterable[dict[str, Any]] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Errors: discord.HTTPException, discord.RateLimited, aiohttp.ClientError (Closed among them), TimeoutError."""
        bucket = f"{route.key} {route.major_parameters}"
        await self._admit(bucket)
        headers = {"User-Agent": self.user_agent, "Authorization": f"Bot {self.token}"}
        kwargs.pop("reason", None)
        if form is not None:
            kwargs["data"] = multipart(form)
        async with self.session.request(route.method, self._url(route), headers=headers, **kwargs) as response:
            data = await json_or_text(response)
        self._heed(bucket, response)
        if response.status < 300:
            self.dated(response.headers.get("Date"))  # of an error it may be a proxy's, whose clock is not Discord's
            return data
        raise error_of(response, data)

    def _url(self, route: Route) -> str:
        return self._settings.server + route.url.removeprefix(Route.BASE)

    async def _admit(self, bucket: str) -> None:
        """Wait until this bucket has something left, by what Discord said last. Errors: discord.RateLimited."""
        left = self._dry.get(bucket, 0.0) - asyncio.get_running_loop().time()
        if left > BUCKET_TIMEOUT_SECONDS:
            raise discord.RateLimited(left)
        if left > 0:
            await asyncio.sleep(left)

    def _heed(self, bucket: str, response: aiohttp.ClientResponse) -> None:
        """Remember when an empty bucket is filled again. Buckets are by Discord's word, none is known before."""
        headers = response.headers
        if headers.get("X-RateLimit-Remaining") != "0" or response.status == 429:
            self._dry.pop(bucket, None)
            return
        now = asyncio.get_running_loop().time()
        if len(self._dry) >= LEARNT:
            self._dry = {key: until for key, until in self._dry.items() if until > now}
        self._dry[bucket] = now + float(headers.get("X-RateLimit-Reset-After", "0"))

    async def ws_connect(self, url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
        timeout = aiohttp.ClientWSTimeout(ws_close=GOODBYE)
        headers = {"User-Agent": self.user_agent}
        return await self.session.ws_connect(
            url, max_msg_size=0, autoclose=False, compress=compress, headers=headers, timeout=timeout
        )

    def open(self) -> None:
        self._is_open = True

    async def close(self) -> None:
        self._is_open = False
        if self._session is not None:
            await self._session.close()
            self._session = None


def multipart(form: Iterable[dict[str, Any]]) -> aiohttp.FormData:
    data = aiohttp.FormData(quote_fields=False)  # Discord does not know escaped brackets in the name of a field
    for field in form:
        data.add_field(**field)
    return data


def error_of(response: aiohttp.ClientResponse, data: Any) -> discord.HTTPException:
    """As the library raises it."""
    if response.status == 403:
        return discord.Forbidden(response, data)
    if response.status == 404:
        return discord.NotFound(response, data)
    if response.status >= 500:
        return discord.DiscordServerError(response, data)
    return discord.HTTPException(response, data)
