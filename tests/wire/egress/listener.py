"""A listener that counts who comes, names that mean what a test says, and the client between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from runtime.egress import Egress, Opening, Response, Result, Rule

SECONDS: Final = timedelta(seconds=10)
OK: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"

Script = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
"""What a listener does with the head of a request."""


def saying(answer: bytes) -> Script:
    async def say(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)

    return say


def redirect(location: str, status: int = 302) -> bytes:
    return f"HTTP/1.1 {status} Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


@dataclass
class Listener:
    """A server that sends bytes. `heads` are the requests as they came; `connections` counts also those without one."""

    host: str = "127.0.0.1"
    port: int = 0
    connections: int = 0
    heads: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def opening(self) -> Opening:
        return Opening.parse(f"{self.host}:{self.port}")


@asynccontextmanager
async def listening(
    script: Script | bytes = OK,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    body: Callable[[asyncio.StreamReader], Awaitable[None]] | None = None,
    **options: Any,
) -> AsyncIterator[Listener]:
    """Answer each request as `script` does, after `body` has read what follows its head; then close the connection.

    Connections that are still open at the end are closed then, and waited for: none is left to the next test.
    """
    listener = Listener(host)
    serving: dict[asyncio.Task[object], asyncio.StreamWriter] = {}
    act = saying(script) if isinstance(script, bytes) else script

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.connections += 1
        if task := asyncio.current_task():
            serving[task] = writer
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            listener.heads.append(head.decode())
            if body:
                await body(reader)
            await act(head, writer)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return  # whoever asked went away: that is often what is tested
        finally:
            writer.close()

    server = await asyncio.start_server(serve, host, port, **options)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, *(writer.wait_closed() for writer in serving.values()), return_exceptions=True)


class Names:
    """A look-up of the test's own. Each name has answers in turn, of which the last stays."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(given) for name, given in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if host not in self._answers:
            raise OSError("unknown")
        left = self._answers[host]
        return left.pop(0) if len(left) > 1 else left[0]


def everything(*ports: int) -> Rule:
    """Allows any request on `ports`, so that only what is tested can refuse it."""
    return Rule(Result.ALLOW, ports=frozenset(ports))


async def get(egress: Egress, url: str, *, most: int = 1000, within: timedelta = SECONDS) -> Response:
    return await egress.request("GET", url, tool="http_get", most=most, timeout=within)
