"""Check of the page: is its port free for a start, who can reach it, and can it notify browsers."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from typing import Final

from bot.doctor.subject import Subject, fault, fine, warning
from bot.push.vapid import is_library_here
from runtime.contract import Finding

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


async def check_web(subject: Subject) -> Sequence[Finding]:
    return [_port(subject), *_notifications(subject)]


def _notifications(subject: Subject) -> Sequence[Finding]:
    if not subject.settings.push.enabled or is_library_here():
        return []
    what = "notifications are on, and the library that they need isn't installed"
    fix = "pip install 'signalbox-bot[push]', and start Signalbox again; or set push.enabled to false"
    return [warning("web.push", what, "No browser is told what waits for its person.", fix)]


def _port(subject: Subject) -> Finding:
    host, port = subject.settings.web.host, subject.settings.web.port
    # While nobody of ours listens the port must be free.
    if trouble := None if subject.pid is not None else taken(host, port):
        why = "Signalbox won't start without it."
        return fault("web.port", trouble, why, "set web.port or web.host, or find what uses it: ss -ltnp")
    if host in LOOPBACK:
        place = f"{host}:{port}" if port else f"a free port of {host}"
        return fine("web.port", f"{place}, this machine alone")
    why = "Others can reach it; without HTTPS they can also read it on the way."
    fix = "put a proxy with HTTPS in front of it, and set web.public_url to its address"
    return warning("web.port", f"{host}:{port} is open to other machines", why, fix)


def taken(host: str, port: int) -> str | None:
    """The reason nobody can listen on `host` and `port`; None if it works."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(address)
    except socket.gaierror:
        return f"{host} isn't an address of this machine"
    except OSError as error:
        words = {errno.EADDRINUSE: "is in use by another program", errno.EACCES: "isn't allowed for this user"}
        return f"{host}:{port} {words.get(error.errno or 0, str(error.strerror))}"
    return None
