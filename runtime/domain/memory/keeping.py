"""Rules of keeping: what is the same, what ends what, who may change a memory, and how much one may be. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from runtime.contract.memory.facts import (
    Memory,
    MemoryActor,
    MemoryKind,
    MemoryRequest,
    Reader,
    Scope,
    ScopeKind,
    Trust,
)
from runtime.contract.people import Person, Role
from runtime.domain.ids import digest
from runtime.text.naming import alike

MEMORY_TEXT_MAX_CHARS: Final = 2_000
MEMORY_NAME_MAX_CHARS: Final = 200
"""Characters of a subject, a relation or an object."""
MEMORIES_MAX: Final = 1_000
"""Current rows of one agent in one scope."""
PROPOSED_MAX: Final = 200
"""Rows of them that nobody accepted: so strangers and programs can't fill a scope."""
PROPOSAL_LIFE: Final = timedelta(days=90)
"""Time after which a row goes that nobody accepted."""
NAME_KEY_CHARS: Final = 24
WORD_PATTERN: Final = re.compile(r"\w+")
SENTENCE_ENDS: Final = " .!?…;:,"

TRUST_RANKS: Final[Mapping[Trust, int]] = {Trust.LOW: 0, Trust.STAGED: 1, Trust.SAID: 2}

SCOPE_FULL: Final = f"{MEMORIES_MAX:,} memories are kept here, which is the limit. Forget some first: `/memory` lists them with their ids."
PROPOSALS_FULL: Final = (
    f"{PROPOSED_MAX} proposals wait here, which is the limit. A person can accept or forget some: `/memory` lists them."
)
NOBODY_ASKED: Final = "Nobody asked for this run, so there's no person to keep it for. Keep it for the room instead."
ALL_FOR_OPERATORS: Final = "What all agents read is written by operators, with `signalbox memory set`."
NOTHING_TO_KEEP: Final = (
    "There's nothing to remember: write it as a sentence, or name a subject, a relation and an object."
)


def plain(text: str) -> str:
    """A text as it is compared: equal for two that only look different.

    >>> plain("Ada  lives in BERLIN.") == plain("ada lives in Berlin")
    True
    """
    return alike(text).rstrip(SENTENCE_ENDS)


def key_of(name: str) -> str:
    """The digest of a name's plainest form; empty for none."""
    plainly = plain(name)
    return digest(plainly)[:NAME_KEY_CHARS] if plainly else ""


def hash_of(text: str) -> str:
    return digest(plain(text))


def words_of(text: str) -> frozenset[str]:
    """The words of a text, each in its plainest form."""
    return frozenset(WORD_PATTERN.findall(alike(text)))


def worded(wanted: MemoryRequest) -> MemoryRequest:
    """The request in its final form: without blanks around, and with a sentence where only the three parts were named."""
    names: dict[str, Any] = {
        name: " ".join(getattr(wanted, name).split()) for name in ("subject", "relation", "object")
    }
    text = wanted.text.strip() or " ".join(filter(None, names.values()))
    return replace(wanted, text=text, importance=min(max(wanted.importance, 1), 5), **names)


def fault_of(wanted: MemoryRequest) -> str:
    """Reason for which a request is not kept, in words for whoever asked; empty where there's none."""
    if len(wanted.text) > MEMORY_TEXT_MAX_CHARS:
        return (
            f"A memory has at most {MEMORY_TEXT_MAX_CHARS:,} characters, and this one has {len(wanted.text):,}. "
            "Keep the gist, or write a file and remember where it is."
        )
    for name in ("subject", "relation", "object"):
        if len(getattr(wanted, name)) > MEMORY_NAME_MAX_CHARS:
            return f"The {name} has at most {MEMORY_NAME_MAX_CHARS} characters. Put the rest into the text."
    return "" if plain(worded(wanted).text) else NOTHING_TO_KEEP


def scope_of(kind: ScopeKind, by: MemoryActor) -> Scope | str:
    """The scope in which a run or a command keeps something; words where it may not."""
    match kind:
        case ScopeKind.PERSON:
            return Scope(kind, by.person.id) if by.person else NOBODY_ASKED
        case ScopeKind.ROOM:
            return Scope(kind, str(by.room.whole_room))
        case ScopeKind.AGENT:
            return Scope(kind)
        case ScopeKind.ALL:
            return ALL_FOR_OPERATORS


def refusal_of_scope(kind: ScopeKind, by: MemoryActor) -> str:
    """Reason for which an agent may not keep or read anything of a scope; empty where it may."""
    if kind in by.kinds:
        return ""
    if not by.kinds:
        return f"{by.agent} has no memory: its settings say so."
    return f"{by.agent} has no memory of the scope {kind}. It has: {', '.join(by.kinds)}."


def trust_of(wanted: Trust, by: Person | None) -> Trust:
    """Trust in what somebody keeps: without a person behind it, nobody said it."""
    return Trust.LOW if by is None and wanted is Trust.SAID else wanted


def ends(new: Trust, old: Trust) -> bool:
    """True if a value ends the one before: nothing ends what is trusted more."""
    return TRUST_RANKS[new] >= TRUST_RANKS[old]


def raised(one: Trust, other: Trust) -> Trust:
    return max(one, other, key=TRUST_RANKS.__getitem__)


def stands_beside(kind: MemoryKind, subject: str, relation: str) -> bool:
    """True if a memory ends nothing: it names no value of something, or is one of several relations."""
    return kind is MemoryKind.RELATION or not plain(subject) or not plain(relation)


def lasts_until(trust: Trust, wanted: datetime | None, now: datetime) -> datetime | None:
    """The end of a row's time: a proposal has one in any case."""
    if trust is Trust.SAID:
        return wanted
    return min(wanted or now + PROPOSAL_LIFE, now + PROPOSAL_LIFE)


def says_nothing_new(text: str, given: str) -> bool:
    """True if a proposal only repeats what its run was given: each word of it is there."""
    return words_of(text) <= words_of(given)


def refusal_to_change(memory: Memory, reader: Reader, by: Person | None) -> str:
    """Reason for which somebody may not forget, pin or accept a row that they may read; empty where they may.

    What a room or an agent keeps is changed by whoever said it and by operators; what nobody said, by users.
    """
    if memory.scope.kind is ScopeKind.ALL:
        return "All agents read this one: operators change it, with `signalbox memory`."
    if by is None:
        return "A person kept this: a person changes it." if memory.trust is Trust.SAID else ""
    if memory.scope.kind is ScopeKind.PERSON:
        return "" if reader.person == by.id else "This belongs to somebody else."
    if by.role >= Role.OPERATOR or (memory.by == by.name and by.name):
        return ""
    if memory.trust is not Trust.SAID and memory.scope.kind is ScopeKind.ROOM and by.role >= Role.USER:
        return ""
    return f"{memory.by or 'An operator'} kept this for others too: they or an operator can change it."
