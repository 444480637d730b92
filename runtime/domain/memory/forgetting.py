"""Rules of forgetting: which rows some words mean, and what goes from a summary with them. No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from runtime.contract.memory.facts import Memory
from runtime.domain.memory.keeping import plain, words_of
from runtime.domain.memory.terms import telling

ID_MIN_CHARS: Final = 6
"""Characters of the end of an id that names a row."""
FORGOTTEN_MAX: Final = 20
"""Rows that words may mean; more are no clear wish."""
SHARED_MIN: Final = 0.5
"""Part of a memory's telling words by which a line of a summary is about it."""
BETWEEN_SENTENCES: Final = re.compile(r"(?<=[.!?…])[ \t]+")


def has_words(memory: Memory, words: frozenset[str]) -> bool:
    """True if each of these words is in a memory."""
    return bool(words) and words <= words_of(" ".join((memory.text, memory.subject, memory.relation, memory.object)))


def without(summary: str, gone: Iterable[Memory]) -> str:
    """A summary without the sentences that tell of what is gone. It rather drops one too many."""
    kept = []
    every = list(gone)
    for line in summary.splitlines():
        sentences = [
            one for one in BETWEEN_SENTENCES.split(line) if not any(_tells_of(one, memory) for memory in every)
        ]
        if sentences or not line.strip():
            kept.append(" ".join(sentences))
    return "\n".join(kept).strip()


def _tells_of(sentence: str, memory: Memory) -> bool:
    said = words_of(sentence)
    if memory.object and words_of(memory.object) <= said:
        return True
    if plain(memory.text) in plain(sentence):
        return True
    about = telling(memory.text)
    return bool(about) and len(about & telling(sentence)) >= SHARED_MIN * len(about)
