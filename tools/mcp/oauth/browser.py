"""Waits at a loopback port for a browser that comes back from the login page; or for its address, typed by a person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from html import escape
from typing import Final
from urllib.parse import parse_qs, urlsplit

from tools.mcp.errors import NoServer
from tools.mcp.oauth.grants import Return

LOOPBACK: Final = "127.0.0.1"
PATH: Final = "/callback"
REQUEST_MAX_BYTES: Final = 16 * 1024  # bytes: the first line and the headers of a browser
HEAR: Final = 10.0  # seconds until a browser has said what it wants
PAGE: Final = "<!doctype html><meta charset=utf-8><title>Signalbox</title><p>{}</p>"
DONE: Final = "You're logged in. You can close this page and go back to the terminal."


class Callback:
    """One return of a browser. Pages that are asked for beside it, such as an icon, are not found."""

    def __init__(self) -> None:
        self._back: asyncio.Future[Return] = asyncio.get_running_loop().create_future()
        self.address = ""

    async def came_back(self) -> Return:
        """Errors: NoServer where the login page refused."""
        return await self._back

    def take(self, address: str) -> str:
        """Read the address a browser ended at; what to tell the person. Errors: ValueError for one that says nothing."""
        asked = parse_qs(urlsplit(address.strip()).query)
        if refusal := _first(asked, "error"):
            why = (
                f"the login page refused: {' '.join(filter(None, [refusal, _first(asked, 'error_description')]))[:300]}"
            )
            self._end(NoServer(why))
            return why
        code = _first(asked, "code")
        if not code:
            raise ValueError("this address has no code in it")
        if not self._back.done():
            self._back.set_result(Return(code, _first(asked, "state") or None, _first(asked, "iss") or None))
        return DONE

    def _end(self, error: NoServer) -> None:
        if not self._back.done():
            self._back.set_exception(error)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request of a browser."""
        try:
            async with asyncio.timeout(HEAR):
                head = await reader.readuntil(b"\r\n\r\n")
            writer.write(self._answer(head.split(b"\r\n", 1)[0].decode("latin-1")))
            await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # not a browser, or gone again
        finally:
            writer.close()

    def _answer(self, line: str) -> bytes:
        method, _, rest = line.partition(" ")
        target = rest.partition(" ")[0]
        if method != "GET" or urlsplit(target).path != PATH:
            return _page("404 Not Found", "There is nothing here.")
        try:
            return _page("200 OK", self.take(target))
        except ValueError as error:
            return _page("400 Bad Request", f"{error}.")


@asynccontextmanager
async def waiting(port: int = 0) -> AsyncIterator[Callback]:
    """A callback whose `address` a login page may send browsers to. Errors: OSError for a port that is taken."""
    callback = Callback()
    server = await asyncio.start_server(callback.serve, LOOPBACK, port, limit=REQUEST_MAX_BYTES)
    callback.address = f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}{PATH}"
    try:
        yield callback
    finally:
        server.close()


def asking(show: Callable[[str], None], callback: Callback, within: float) -> Callable[[str], Awaitable[Return]]:
    """Shows a person the login page, and waits `within` seconds for their return."""

    async def ask(address: str) -> Return:
        show(address)
        try:
            async with asyncio.timeout(within):
                return await callback.came_back()
        except TimeoutError:
            raise NoServer(f"nobody logged in within {within / 60:g} minutes") from None

    return ask


def _first(asked: dict[str, list[str]], name: str) -> str:
    return asked.get(name, [""])[0]


def _page(status: str, words: str) -> bytes:
    body = PAGE.format(escape(words)).encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nContent-Security-Policy: default-src 'none'\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
