"""A port of the metrics' own. When it is taken, people are served all the same: it is tried again until it is free."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import structlog
from aiohttp import web

from bot.http.connections import Site
from runtime.http.guard import install

log = structlog.get_logger("metrics")

LISTEN_RETRY_DELAY: Final = timedelta(seconds=5)


class Listener:
    """Serves `routes` on `host`:`port` until cancelled."""

    def __init__(
        self, routes: Sequence[web.RouteDef], host: str, port: int, *, again: timedelta = LISTEN_RETRY_DELAY
    ) -> None:
        self._routes = routes
        self._host = host
        self._port = port
        self._again = again

    async def run(self) -> None:
        site = web.Application()
        install(site, ())
        site.add_routes(self._routes)
        runner = web.AppRunner(site, access_log=None, handle_signals=False, shutdown_timeout=1)
        await runner.setup()
        try:
            await self._listen(runner)
            log.info("metrics are served", host=self._host, port=self._port)
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()

    async def _listen(self, runner: web.AppRunner) -> None:
        told = False
        while True:
            site = Site(runner, self._host, self._port)
            try:
                return await site.start()
            except OSError as error:
                await site.stop()  # it is known to the runner although it did not start
                if not told:
                    log.warning("metrics are not served", reason=why(error, self._host, self._port))
                told = True
            await asyncio.sleep(self._again.total_seconds())


def why(error: OSError, host: str, port: int) -> str:
    """Reason why the metrics are not served, as the setting to change."""
    match error:
        case OSError(errno=errno.EADDRINUSE):
            return (
                f"metrics.port: {port} on {host} is in use by another program. Stop that one, and metrics are served "
                "within seconds; or choose another port. Everything else works."
            )
        case OSError(errno=errno.EACCES | errno.EPERM):
            return f"metrics.port: this user may not listen on port {port}. Choose one above 1023."
        case socket.gaierror() | OSError(errno=errno.EADDRNOTAVAIL):
            return f'metrics.host: "{host}" is not an address of this machine. Use 127.0.0.1 or 0.0.0.0.'
        case _:
            return f"metrics.port: {port} on {host} cannot be listened on ({error})."
