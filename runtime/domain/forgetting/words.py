"""Words and phrases that came from one person alone: by these a line of somebody else is known to quote them.

A word counts if it names something: it has a digit or a sign in it, or a capital letter inside of a sentence. Common words
don't, or forgetting one person would take lines out of everybody's work. Five words in a row are a quote whatever they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Final

QUOTED_WORDS: Final = 5
WORD_MIN_CHARS: Final = 4
QUOTE_DIGEST_BYTES: Final = 8
WORDS_KEPT_MAX: Final = 200_000
"""Words and quotes of one person that are held at a time: some 30 MB."""

WORD_PATTERN: Final = re.compile(r"\w+(?:[-_.@:/+]\w+)*")
SENTENCE_END: Final = re.compile(r"(?:^|[.!?:\n])[\s\"'(\[*>-]*$")


def telling_words(text: str) -> Iterator[str]:
    """Words of a text that name something, small.

    >>> sorted(telling_words("Meet me at Quillfeather Lane, my code is zq77. See you."))
    ['lane', 'quillfeather', 'zq77']
    """
    for found in WORD_PATTERN.finditer(text):
        word = found.group()
        if len(word) >= WORD_MIN_CHARS and _names_something(word, text[: found.start()][-20:]):
            yield word.casefold()


def _names_something(word: str, before: str) -> bool:
    if any(letter.isdigit() or not letter.isalnum() for letter in word):
        return any(letter.isalpha() for letter in word) or len(word) > WORD_MIN_CHARS
    inner_capital = any(letter.isupper() for letter in word[1:]) and not word.isupper()
    return inner_capital or (word[0].isupper() and not SENTENCE_END.search(before))


def all_words(text: str) -> Iterator[str]:
    """Every word of a text, small."""
    return (found.group().casefold() for found in WORD_PATTERN.finditer(text))


def quotes(text: str) -> Iterator[bytes]:
    """Digests of each five words in a row."""
    words = [*all_words(text)]
    for at in range(len(words) - QUOTED_WORDS + 1):
        yield _digest(words[at : at + QUOTED_WORDS])


def _digest(words: Iterable[str]) -> bytes:
    return blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=QUOTE_DIGEST_BYTES).digest()


class OwnWords:
    """Words and quotes of one person, less those that others wrote too."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._quotes: set[bytes] = set()
        self.is_cut = False

    def add(self, text: str) -> None:
        if len(self._words) + len(self._quotes) > WORDS_KEPT_MAX:
            self.is_cut = True
            return
        self._words.update(telling_words(text))
        self._quotes.update(quotes(text))

    def leave(self, text: str) -> None:
        """Somebody else wrote this."""
        if self._words:
            self._words.difference_update(all_words(text))
        if self._quotes:
            self._quotes.difference_update(quotes(text))

    def are_in(self, text: str) -> bool:
        if self._words and not self._words.isdisjoint(all_words(text)):
            return True
        return bool(self._quotes) and not self._quotes.isdisjoint(quotes(text))
