"""Digest of a report's data, by which the next one can tell a change. No I/O."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from runtime.domain.transcript import DENIED, ERROR, NOT_FINISHED
from runtime.text.outside import unfenced

DATA: Final = "data-"
"""How the id of a call begins that a template reads; the rest is the name by which it does."""
FAILED_DIGEST: Final = "failed"
"""In place of a digest: words about a failure often hold a time or a number, and it is still the same news."""
LENGTH: Final = 24
"""Characters of a digest; nobody gains from making two results look alike."""


def call_id(name: str) -> str:
    return f"{DATA}{name}"


def has_failed(result: str) -> bool:
    return result.startswith((ERROR, DENIED, NOT_FINISHED))


def seen_of(results: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Digests of what calls gave, (id, result) each: a digest by name of those that are data."""
    return {call.removeprefix(DATA): digest(result) for call, result in results if call.startswith(DATA)}


def digest(result: str) -> str:
    """Digest of a result; one for all failures.

    >>> digest("error: no answer within 60 seconds")
    'failed'
    """
    if has_failed(result):
        return FAILED_DIGEST
    return hashlib.sha256(unfenced(result).encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]
