"""A port that cannot accept for want of a descriptor, which the loop alone meets."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Self

NO_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
Heed = Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object]
"""What a loop does about a fault that nobody else meets."""

Hear = Callable[[], None]
"""Called when a port could not accept."""


class Shortage:
    """Faults of the loop as ever, but one that it meets again and again while no descriptor is free: that is told to the
    port it met. One for a loop, whatever the number of its ports."""

    def __init__(self, before: Heed | None) -> None:
        self._before = before
        self._ports: dict[Hear, Collection[int]] = {}

    @classmethod
    def of(cls, loop: asyncio.AbstractEventLoop) -> Self:
        """The one of this loop, in front of the handler that was there before."""
        now = loop.get_exception_handler()
        if isinstance(now, cls):
            return now
        made = cls(now)
        loop.set_exception_handler(made)
        return made

    def tell(self, port: Hear, listening: Collection[int]) -> None:
        """Have `port` called for its own; `listening` are the descriptors of its sockets."""
        self._ports[port] = listening

    def forget(self, port: Hear) -> None:
        self._ports.pop(port, None)

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if (port := self._port(context)) is not None:
            port()
        elif self._before is not None:
            self._before(loop, context)
        else:
            loop.default_exception_handler(context)

    def _port(self, context: Mapping[str, Any]) -> Hear | None:
        """The port whose socket could not accept for want of a file descriptor; None for any other fault."""
        error, met = context.get("exception"), context.get("socket")
        if met is None or not (isinstance(error, OSError) and error.errno in NO_FILES):
            return None
        return next((port for port, listening in self._ports.items() if met.fileno() in listening), None)
