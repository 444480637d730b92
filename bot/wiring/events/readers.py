"""Readers of feedback: the people whom the settings name, else operators and owners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runtime.contract import Person, Role, ToolContext
from runtime.store.protocol import People


@dataclass(frozen=True, slots=True)
class FeedbackReaders:
    """`names` are identities and names of people as the settings have them now; empty for operators and owners."""

    people: People
    names: Callable[[], Sequence[str]]

    async def include(self, person: Person) -> bool:
        if not (names := self.names()):
            return person.role >= Role.OPERATOR
        known = await self.people.person_named(person.name)
        return bool({person.name, *(known.identities if known else ())} & set(names))

    async def may_ask(self, context: ToolContext) -> bool:
        """A schedule of the settings file is its owner's word; what nobody asked for besides reads nothing."""
        return await self.include(context.requester) if context.requester else context.scheduled
