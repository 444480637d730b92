"""The person behind a command line, for the audit."""

from __future__ import annotations

import os
import pwd
from typing import Final
from urllib.parse import quote, unquote

HEADER: Final = "X-Signalbox-Login"
"""Names the user of this machine with each request that carries the control token."""
LOGIN_MAX_CHARS: Final = 64
"""Characters of a login that are kept."""


def login() -> str:
    """The machine's name for this process's user: by its number, since variables name anybody."""
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # a user without an entry, as in containers
        return f"user {number}"


def command_line(user: str = "") -> str:
    """
    >>> command_line("kim")
    'command line of kim'
    """
    return f"command line of {user or login()}"


def header() -> dict[str, str]:
    """The login as a request carries it."""
    return {HEADER: quote(login())}


def sender(given: str | None) -> str:
    """The command line that sent a request; a login that is none is somebody's."""
    user = unquote(given or "")[:LOGIN_MAX_CHARS]
    return command_line(user if user and user.isprintable() else "somebody")
