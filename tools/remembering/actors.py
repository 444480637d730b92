"""Actors of memory: for whom a call keeps something, and for whom it reads."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final

from runtime.contract import Role, ToolContext
from runtime.contract.memory.facts import MemoryActor, Trust
from runtime.errors import ToolRetry

MEMORY_TIMEOUT: Final = timedelta(seconds=30)
"""For one call of a tool of memory."""


def keeper(context: ToolContext, key: str = "") -> MemoryActor:
    """The run that keeps or removes something. Errors: ToolRetry for viewers, and if nobody asked.

    What it wants is part of the key: some vendors count the ids of their calls anew with each reply.
    """
    if context.requester is None or context.requester.role < Role.USER:
        raise ToolRetry("Only people with the role user or higher can have something kept or removed.")
    return actor(context, f"{context.call_id}:{key}")


def setter(context: ToolContext) -> MemoryActor:
    """The run that sets a value: also one that nobody asked for, such as a schedule. Errors: ToolRetry for viewers."""
    return actor(context) if context.requester is None else keeper(context)


def reader(context: ToolContext) -> MemoryActor:
    """The run that reads. One that another run asked for reads nothing of a person: its order says what it gets."""
    found = actor(context)
    return replace(found, person=None) if context.is_child else found


def actor(context: ToolContext, key: str = "") -> MemoryActor:
    """Errors: ToolRetry where the run works in no room."""
    if context.address is None:
        raise ToolRetry("This conversation has no room, so nothing is kept for it.")
    whose = context.agent, context.address, context.requester, context.session, context.run_id
    return MemoryActor(*whose, None, key, context.memory)


async def trust_of(context: ToolContext) -> Trust:
    """People's own words are believed; a child's, a program's, and all that came after outside text are not."""
    return Trust.SAID if await context.own_words() else Trust.LOW
