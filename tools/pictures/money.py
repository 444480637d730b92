"""Calls of models by tools: whether a budget allows one, its failure in words, and its money in the budgets."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import timedelta
from typing import Final, TypeVar

from runtime.contract import Address, ToolContext, Usage
from runtime.contract.media import Spending
from runtime.errors import ModelFailed, ToolFailed

MEDIA_TIMEOUT: Final = timedelta(minutes=5)
SPENT: Final = "A budget is spent, so no model is asked. `/usage` says which one, and until when."
NO_ROOM: Final = Address("tools", "signalbox", "media")
"""Room for which calls of a run without one count."""

Answer = TypeVar("Answer")


async def affordable(spending: Spending | None, context: ToolContext) -> None:
    """Errors: ToolFailed once a budget is spent."""
    person = context.requester.id if context.requester else None
    if spending and not await spending.affords(context.agent, _room(context), person):
        raise ToolFailed(SPENT)


async def charge(spending: Spending | None, context: ToolContext, used: Usage) -> None:
    person = context.requester.id if context.requester else None
    if spending:
        await spending.charge(context.agent, _room(context), person, used)


async def asked(answer: Awaitable[Answer]) -> Answer:
    """The answer of a model. Errors: ToolFailed."""
    try:
        return await answer
    except ModelFailed as error:
        raise ToolFailed(str(error)) from error


def _room(context: ToolContext) -> Address:
    return context.address.whole_room if context.address else NO_ROOM
