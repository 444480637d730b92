"""Connections, datagrams and look-ups of this process, seen below every library.

A hook that was added to the interpreter stays: it costs a look at an empty list where nobody watches.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

EVENTS: Final = frozenset(
    {
        "socket.connect",
        "socket.sendto",
        "socket.sendmsg",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.gethostbyaddr",
        "socket.getnameinfo",
    }
)
Packet = tuple[str, object]
"""The event, and where it leads: the address, or the name that was asked for."""

_watched: Final[list[list[Packet]]] = []


def _see(event: str, args: tuple[object, ...]) -> None:
    if _watched and event in EVENTS:
        to = args[1] if event.startswith(("socket.connect", "socket.send")) else args[0]
        for seen in _watched:
            seen.append((event, to))


@cache
def _hook() -> None:
    sys.addaudithook(_see)


@contextmanager
def packets() -> Iterator[list[Packet]]:
    """All that this process sends or asks of the system's resolver meanwhile, whoever in it does."""
    _hook()
    seen: list[Packet] = []
    _watched.append(seen)
    try:
        yield seen
    finally:
        _watched.remove(seen)
