"""The last look before a request leaves: behind its connection, with nothing but a write to the socket after it."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.client_proto import ResponseHandler

from runtime.contract.channels import TOO_LATE, leaves_in_time

if TYPE_CHECKING:
    from aiohttp import ClientResponse
    from aiohttp.abc import AbstractStreamWriter
    from aiohttp.connector import Connection


class LookingRequest(aiohttp.ClientRequest):
    """A request of a session that shows parts. One that is too late fails as one that got no connection: it never left."""

    async def send(self, conn: Connection) -> ClientResponse:
        if not leaves_in_time():
            raise self._too_late()
        return await super().send(conn)

    async def write_bytes(
        self, writer: AbstractStreamWriter, conn: Connection, content_length: int | None = None
    ) -> None:
        """Write headers and body, a turn of the loop behind `send`."""
        if leaves_in_time():
            await super().write_bytes(writer, conn, content_length)
        elif isinstance(conn.protocol, ResponseHandler):
            conn.protocol.set_exception(
                self._too_late()
            )  # whoever waits for the answer gets it, and closes the connection

    def _too_late(self) -> aiohttp.ClientConnectorError:
        return aiohttp.ClientConnectorError(self.connection_key, OSError(errno.ESTALE, TOO_LATE))
