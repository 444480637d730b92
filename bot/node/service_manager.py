"""News for a service manager: ready, alive, reloading, stopping. Where there is none, nothing is sent.

Each word is one datagram to the socket that it named in NOTIFY_SOCKET.
Source: sd_notify(3) and sd_watchdog_enabled(3) of systemd 252.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog

SOCKET: Final = "NOTIFY_SOCKET"
WATCHDOG: Final = "WATCHDOG_USEC"
WATCHED: Final = "WATCHDOG_PID"
SHARE: Final = 3  # signs of life in the time after which we are taken for dead: one may be late, and one lost

log = structlog.get_logger("notify")


@dataclass(frozen=True, slots=True)
class Manager:
    """The service manager that started us. `patience` is how long it waits for a sign of life; None when it does not ask for any."""

    address: str = ""
    patience: timedelta | None = None

    def ready(self, status: str) -> None:
        """We work, or work again after `reloading`; `status` is for people."""
        self._tell("READY=1", f"STATUS={' '.join(status.split())}")

    def reloading(self) -> None:
        self._tell("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def stopping(self) -> None:
        self._tell("STOPPING=1", "STATUS=Draining")

    async def keep_watch(self) -> None:
        """Give signs of life until cancelled. They come from the event loop, so one that hangs gives none."""
        while self.address and self.patience:
            self._tell("WATCHDOG=1")
            await asyncio.sleep(self.patience.total_seconds() / SHARE)

    def _tell(self, *words: str) -> None:
        if not self.address:
            return
        path = f"\0{self.address[1:]}" if self.address.startswith("@") else self.address  # @ is an abstract one
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
                out.setblocking(False)  # a manager that does not read must not stop our work
                out.sendto("\n".join(words).encode(), path)
        except OSError as error:
            log.warning("the service manager was not told", words=words, socket=self.address, reason=str(error))


def manager_of(variables: Mapping[str, str], pid: int) -> Manager:
    """The one that `variables` tell of. Its watchdog may be meant for another process than `pid`: a parent of ours."""
    patience, watched = variables.get(WATCHDOG, ""), variables.get(WATCHED) or str(pid)
    asked = patience.isdecimal() and int(patience) > 0 and watched == str(pid)
    return Manager(variables.get(SOCKET, ""), timedelta(microseconds=int(patience)) if asked else None)
