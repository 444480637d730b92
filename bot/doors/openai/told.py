"""An answer as clients of OpenAI's API are told of it: its words, how far they are, and calls of the client's own tools. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.doors.live.growing import Growing
from runtime.domain.agents.manifest import MAIN
from runtime.domain.programs.followed import Followed

RESPONSE_ID: Final = "resp_"
ASKS: Final = (
    "I've asked people whether I may go on ({tools}), and this answer waits for them. "
    "It stays fetchable: GET /v1/responses/{id} has it once they answered."
)
WORKS_ON: Final = "I'm still working on this. The answer stays fetchable: GET /v1/responses/{id}."


@dataclass(frozen=True, slots=True)
class ToldCall:
    """A call of one of the client's tools; `arguments` are JSON."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Told:
    """`texts` last, `live` may still change, and `calls` are for the client to make; `wrong` says why there is no answer."""

    found: Followed
    texts: tuple[str, ...] = ()
    live: str = ""
    calls: tuple[ToldCall, ...] = ()
    wrong: str = ""

    @property
    def model(self) -> str:
        return self.found.agent or MAIN

    @property
    def is_last(self) -> bool:
        """Nothing more comes, or only once people answered."""
        return self.found.state.is_over or bool(self.found.questions)

    @property
    def words(self) -> str:
        """All that was said, with words about where it is while it is not over."""
        where = () if self.found.state.is_over else (words_of_state(self.found),)
        return "\n\n".join((*self.texts, *where))

    @property
    def words_so_far(self) -> str:
        return "\n\n".join(filter(None, (*self.texts, self.live)))


def told_of(growing: Growing) -> Told:
    return Told(growing.found, growing.texts, growing.live)


def words_of_state(found: Followed) -> str:
    """Words about an answer that is not over."""
    name = RESPONSE_ID + found.id
    if found.questions:
        return ASKS.format(tools=", ".join(sorted({one.tool or one.kind for one in found.questions})), id=name)
    return WORKS_ON.format(id=name)
