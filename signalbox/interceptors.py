"""The words of an interceptor."""

from __future__ import annotations

from typing import Final

from runtime.contract import Json
from runtime.contract.agents.interceptors import Answer, AnswerKind, Interceptor, Occasion, Point

__all__ = ["ALLOW", "Answer", "AnswerKind", "Interceptor", "Json", "Occasion", "Point", "ask", "deny", "replaced"]

ALLOW: Final = Answer()
"""All goes on as it is."""


def ask(reason: str) -> Answer:
    """Have people decide about the call. Only at `before_tool`."""
    return Answer(AnswerKind.ASK, reason)


def deny(reason: str) -> Answer:
    """Stop it; the model and people read the reason."""
    return Answer(AnswerKind.DENY, reason)


def replaced(reason: str = "", **values: Json) -> Answer:
    """Put values in the place of those of the occasion, by their names there."""
    return Answer(AnswerKind.REPLACE, reason, values)
