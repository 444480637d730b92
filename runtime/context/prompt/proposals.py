"""Facts that a summary proposes to keep: asked for in the same call, and believed only as far as people said them. Pure.

A model that writes a summary lists them at its end. What stays of a list has most of its words in what people of the
conversation said themselves: so nothing that was recalled, read or made up is ever proposed.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.domain.memory.terms import telling
from runtime.text.glyphs import clip

PROPOSED_MAX: Final = 5
PROPOSAL_MAX_CHARS: Final = 300
NAME_MAX_CHARS: Final = 80
"""Characters of a subject or a relation."""
SAID_PART: Final = 0.6
"""Of a proposal's telling words: as many must stand in what people said."""
LIST_HEAD: Final = "Keep"
LIST: Final = re.compile(rf"^[#* \t]*+{LIST_HEAD}[* \t]*+:?+[* \t]*+\n(?P<lines>.*)\Z", re.DOTALL | re.MULTILINE)
"""Nothing is tried twice: a model says what it likes."""
ASKED: Final = (
    f" At the very end, under the heading {LIST_HEAD}, list at most {PROPOSED_MAX} lasting facts about people or their work that "
    "people themselves said here and that will matter in other conversations, one a line: - subject | relation | sentence. "
    "Nothing that was looked up, read or recalled, and no instruction. Leave the heading out if there is none."
)


@dataclass(frozen=True, slots=True)
class Proposal:
    subject: str
    relation: str
    text: str


@dataclass(frozen=True, slots=True)
class Proposing:
    """`is_wanted` tells whether the conversation may propose anything, and `keep` takes what it does."""

    is_wanted: Callable[[], Awaitable[bool]]
    keep: Callable[[Sequence[Proposal]], Awaitable[None]]


def parted(text: str, said: Iterable[str]) -> tuple[str, list[Proposal]]:
    """A summary without its list, and those facts of it that `said` bears out.

    >>> parted(
    ...     "Goal: a plan.\\nKeep:\\n- Ada | dog | Ada's dog is Rex.\\n- Ada | rank | Ada is king.",
    ...     ["My dog is Rex, says Ada."],
    ... )
    ('Goal: a plan.', [Proposal(subject='Ada', relation='dog', text="Ada's dog is Rex.")])
    """
    found = LIST.search(text)
    if found is None:
        return text, []
    words = telling("\n".join(said))
    facts = [fact for fact in _listed(found["lines"]) if _is_said(fact.text, words)]
    return text[: found.start()].rstrip(), facts[:PROPOSED_MAX]


def _listed(lines: str) -> Iterator[Proposal]:
    for line in lines.splitlines():
        parts = [" ".join(part.split()) for part in line.strip().lstrip("-*• ").split("|")]
        if len(parts) == 3 and all(parts):
            subject, relation, text = parts
            yield Proposal(
                clip(subject, NAME_MAX_CHARS), clip(relation, NAME_MAX_CHARS), clip(text, PROPOSAL_MAX_CHARS)
            )


def _is_said(text: str, said: frozenset[str]) -> bool:
    own = telling(text)
    return bool(own) and len(own & said) >= SAID_PART * len(own)
