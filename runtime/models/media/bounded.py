"""Bound of a vendor's answer in bytes, as it unpacks: what is larger is not read to its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class AnswerBound:
    """At most so many bytes; `is_exceeded` once there were more."""

    most: int
    is_exceeded: bool = False


class TooLarge(Exception):
    """An answer has more bytes than its bound."""


BOUND_OF_ANSWERS: ContextVar[AnswerBound | None] = ContextVar("BOUND_OF_ANSWERS", default=None)
"""Bound of the answers to what this task asks; None for those that come in pieces, and are bounded by their time."""


@contextmanager
def bounded_by(size: AnswerBound) -> Iterator[None]:
    """Hold answers to `size`, for as long as the block lasts."""
    before = BOUND_OF_ANSWERS.set(size)
    try:
        yield
    finally:
        BOUND_OF_ANSWERS.reset(before)
