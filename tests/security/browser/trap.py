"""A server at every address of this machine that counts what arrives, over TCP and UDP."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field


@dataclass(slots=True)
class Trap:
    """What fell into it: the first bytes of each connection or packet."""

    port: int
    caught: list[bytes] = field(default_factory=list)


class _Packets(asyncio.DatagramProtocol):
    def __init__(self, trap: Trap) -> None:
        self._trap = trap

    def datagram_received(self, data: bytes, addr: object) -> None:
        self._trap.caught.append(data[:40])


@asynccontextmanager
async def trap() -> AsyncIterator[Trap]:
    found = Trap(0)

    async def caught(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.caught.append(b"a connection")
        writer.close()

    server = await asyncio.start_server(caught, "0.0.0.0", 0)
    found.port = server.sockets[0].getsockname()[1]
    also = await asyncio.start_server(caught, "::1", found.port) if socket.has_ipv6 and _has_v6() else None
    packets, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: _Packets(found),
        local_addr=("0.0.0.0", found.port),
    )
    try:
        yield found
    finally:
        packets.close()
        for one in filter(None, (server, also)):
            one.close()
            await one.wait_closed()


def own_address() -> str:
    """An address of this machine in its network, as its own name has it; that of itself where it has none."""
    try:
        return socket.gethostbyname(socket.gethostname())
    except OSError:
        return "127.0.0.1"


def _has_v6() -> bool:
    with closing(socket.socket(socket.AF_INET6)) as trying:
        try:
            trying.bind(("::1", 0))
        except OSError:
            return False
    return True
