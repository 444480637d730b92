"""Tombstones of what was forgotten: by them a conversation that still has it proposes it no more. No I/O.

A tombstone has no words: it is a digest under a key of the scope. Sentences rarely come back in the same words, so each leaves
one for all its telling words, and one for all but each of them: two that differ by a word share one.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from itertools import islice
from typing import Final

from runtime.domain.memory.terms import telling

ALL_BUT_ONE_FROM: Final = 4
"""Telling words from which on one may differ: of fewer, what is left says nothing."""
TOMBSTONES_MAX: Final = 16
"""Tombstones of one sentence: a longer one is known again by its first words in their order of letters, and as a whole."""
TOMBSTONE_DIGITS: Final = 32
NO_ID: Final = "~"
"""End of a tombstone: no id ends so, and no name of one that people write."""


def tombstones_of(reach: str, text: str) -> list[str]:
    """Tombstones of a sentence in a scope, the whole one first.

    >>> first, second = (
    ...     tombstones_of("r", "Ada's dog is called Rex"),
    ...     tombstones_of("r", "the dog of Ada is named Rex."),
    ... )
    >>> bool(set(first) & set(second)), bool(set(first) & set(tombstones_of("other", "Ada's dog is called Rex")))
    (True, False)
    """
    return list(islice((_digest(reach, words) for words in _variants(sorted(telling(text)))), TOMBSTONES_MAX))


def _variants(words: list[str]) -> Iterator[list[str]]:
    if words:
        yield words
    if len(words) >= ALL_BUT_ONE_FROM:
        yield from ([*words[:at], *words[at + 1 :]] for at in range(len(words)))


def _digest(reach: str, words: list[str]) -> str:
    return hmac.digest(reach.encode(), "\n".join(words).encode(), "sha256").hex()[:TOMBSTONE_DIGITS] + NO_ID
