"""Ports that a program is told of before it listens there."""

from __future__ import annotations

import socket


def free_port() -> int:
    """A port for those who name it: for a minute the kernel gives it to nobody who asks for any.

    A connection was closed on its side, which stays there until the kernel forgets it (TIME_WAIT). Servers may listen
    beside that, as they set SO_REUSEADDR.
    """
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as far:
            listening.accept()[0].close()
            far.recv(1)
    return port
