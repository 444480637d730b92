"""Words that name an agent at the beginning of a message: "ops: …", "/ask ops …". No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from runtime.domain.agents.binding import Rank, binding_of
from runtime.domain.agents.manifest import MAIN, Manifest

ASK: Final = "ask"
"""The command that names an agent, and says something to it."""


def words_of(agents: Iterable[Manifest]) -> dict[str, str]:
    """Words by which people may name agents, in small letters. One without words and without a place has its name alone."""
    found: dict[str, str] = {}
    for agent in agents:
        own = agent.mentions or ((agent.name,) if binding_of(agent).rank is Rank.NONE else ())
        found.update((word.casefold(), agent.name) for word in own)
    return found


def named_in(text: str, words: Mapping[str, str]) -> tuple[str, str] | None:
    """The agent that a message names, and the rest of it; None where it names none, or says nothing more.

    >>> named_in("Ops: restart it", {"ops": "operations"})
    ('operations', 'restart it')
    >>> named_in("/ask ops restart it", {"ops": "operations"})
    ('operations', 'restart it')
    >>> named_in("ops are hard", {"ops": "operations"}) is None
    True
    """
    if not words:
        return None
    asked = {MAIN: MAIN, **words}
    form = rf"\s*(?:[/!]{ASK}\s+({_any(asked)})(?:\s*:|(?=\s))|({_any(words)})\s*:(?!//))\s*(\S.*)"
    found = re.fullmatch(form, text, re.IGNORECASE | re.DOTALL)
    return (asked[(found[1] or found[2]).casefold()], found[3]) if found else None


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
