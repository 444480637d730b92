"""Keys by which a repeat of the very same call is known."""

from __future__ import annotations

import hashlib
from typing import Final

KEY_CHARS: Final = 32
"""Hexadecimal digits: 128 bits."""


def key_of(*parts: str) -> str:
    """A key that is the same for the same parts.

    >>> key_of("run", "call") == key_of("run", "call") != key_of("runcall", "")
    True
    """
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:KEY_CHARS]
