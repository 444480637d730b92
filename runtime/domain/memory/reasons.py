"""Reasons for which a run was not given a memory that may be read where it ran. No I/O."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from enum import StrEnum

from runtime.contract.memory.facts import Memory, Trust
from runtime.domain.memory.terms import forms, terms_of


class Unused(StrEnum):
    """Reason, in words for whoever asks."""

    LATER = "it was kept after that"
    ENDED = "another one had taken its place"
    EXPIRED = "its time was over"
    NOT_ACCEPTED = "nobody has accepted it, so it's found only by a search"
    NO_WORD = "it has no word of the question, and nothing like it"
    OUTRANKED = "others fitted better"


def why_unused(memory: Memory, asked: str, at: datetime) -> Unused:
    """The first reason that holds for a run that began at this time with these words.

    What a model of embeddings finds alike has no words to compare: then it was others that fitted better.
    """
    if memory.created_at > at:
        return Unused.LATER
    if memory.valid_to is not None and memory.valid_to <= at:
        return Unused.ENDED
    if memory.expires_at is not None and memory.expires_at <= at:
        return Unused.EXPIRED
    if memory.trust is not Trust.SAID:
        return Unused.NOT_ACCEPTED
    return Unused.OUTRANKED if shares_a_word(memory, asked) else Unused.NO_WORD


def shares_a_word(memory: Memory, asked: str) -> bool:
    own = _forms(terms_of(" ".join((memory.text, memory.subject, memory.object))).words)
    return not own.isdisjoint(_forms(terms_of(asked).words))


def _forms(words: Collection[str]) -> set[str]:
    return {form for word in words for form in forms(word)}
