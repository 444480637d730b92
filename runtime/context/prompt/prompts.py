"""Prompts of agents: the own one, what is added in some rooms, and what is so there. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from runtime.context.prompt.here import Here, Place, asker, told, values
from runtime.templating.prompts import PromptTemplate


@dataclass(frozen=True, slots=True)
class Prompted:
    """Prompt for a room: `system` stays the same there for a day, and `asker` is what changes with whoever asks.

    `shared`: several people speak there, perhaps not to the agent.
    """

    system: str
    asker: str = ""
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Prompts:
    """Each prompt of the settings, checked. `rooms` has those that are added somewhere, by what a room's rule has."""

    own: PromptTemplate
    rooms: Mapping[str, PromptTemplate] = field(default_factory=dict)

    def at(self, here: Here, place: Place, added: str) -> Prompted:
        """The prompt for a room, whose rule has `added`.

        What lasts longest comes first, so that rooms share the beginning, and a room all of it until the next day.
        """
        more = self.rooms.get(added)
        is_told = self.own.names_some or (more is not None and more.names_some)
        known = values(here, place) if is_told else {}
        parts = [self.own.filled(known), more.filled(known) if more else "", told(here, place)]
        return Prompted("\n\n".join(filter(None, parts)), asker(here, place), not here.is_private(place))
