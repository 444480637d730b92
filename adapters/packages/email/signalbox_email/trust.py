"""The certificates that are believed: those of this machine, read once."""

from __future__ import annotations

import ssl
from functools import cache


@cache
def trusted() -> ssl.SSLContext:
    """Reading them takes tens of milliseconds, which no mail should wait for."""
    return ssl.create_default_context()
