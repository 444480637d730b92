"""Words of a server about how far a call is, from its `notifications/progress`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mcp.shared.dispatcher import ProgressFnT

PROGRESS: Final = "notifications/progress"
Tell = Callable[[str], None]
"""Shows people how far a call is."""


def is_progress(params: object) -> bool:
    """Tell whether it is in the form that the protocol has for it: another would be a line in our log."""
    if not isinstance(params, dict):
        return False
    token, done, total, words = (params.get(name) for name in ("progressToken", "progress", "total", "message"))
    numbers = [done] if total is None else [done, total]
    return (
        isinstance(token, str | int)
        and all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers)
        and isinstance(words, str | None)
    )


def progress_words(done: float, total: float | None, message: str | None) -> str:
    """Progress as people read it.

    >>> progress_words(3, 10, "uploading"), progress_words(0.5, None, None)
    ('3 of 10: uploading', '0.5')
    """
    number = f"{done:g} of {total:g}" if total is not None else "" if message else f"{done:g}"
    return ": ".join(filter(None, (number, message)))


def telling(tell: Tell) -> ProgressFnT:
    """`tell`, as the SDK calls it."""

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        tell(progress_words(progress, total, message))

    return heard


def silence(_: str) -> None:
    """Tell nobody."""
