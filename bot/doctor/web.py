"""Where the page and the metrics listen: are the ports free for a start, and who can reach them."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator, Sequence
from typing import Final

from bot.doctor.subject import Subject, fault, fine, warning
from runtime.contract import Finding

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


async def check_web(subject: Subject) -> Sequence[Finding]:
    web, metrics = subject.settings.web, subject.settings.metrics
    found = list(_listening("web", web.host, web.port, free=subject.pid is None))
    if metrics.enabled and metrics.port:
        found += _listening("metrics", metrics.host, metrics.port, free=subject.pid is None)
    return found


def _listening(name: str, host: str, port: int, *, free: bool) -> Iterator[Finding]:
    """`free`: nobody of ours listens, so the port must be."""
    trouble = _trouble(host, port) if free else None
    if trouble:
        why = "Signalbox does not start without it."
        yield fault(f"{name}.port", trouble, why, f"set {name}.port and {name}.host, or find who has it: ss -ltnp")
    elif host in LOOPBACK:
        yield fine(f"{name}.port", f"{host}:{port or '(a free one)'}, this machine alone")
    else:
        why = "Others can reach it; without HTTPS they can also read it on the way."
        fix = "put a proxy with HTTPS before it, and name it in web.hosts"
        yield warning(f"{name}.port", f"{host}:{port} is open to other machines", why, fix)


def _trouble(host: str, port: int) -> str | None:
    """Why nobody can listen there."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except socket.gaierror:
        return f"{host} is no address of this machine"
    except OSError as error:
        words = {errno.EADDRINUSE: "is in use by another program", errno.EACCES: "is not for this user"}
        return f"{host}:{port} {words.get(error.errno or 0, str(error.strerror))}"
    return None
