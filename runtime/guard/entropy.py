"""Long words that look random, as keys without a known shape do. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from runtime.guard.findings import Detector, Found

LEAST_BITS: Final = 4.2
"""Of a character, by the frequency of the characters. Hex digits have 4 at most, words of a language less."""

LEAST_CHARS: Final = 32
MOST_CHARS: Final = 512
"""A longer one is data, such as an image."""

RANDOM_NAME: Final = "random text"
RUNS: Final = re.compile(rf"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{{{LEAST_CHARS},{MOST_CHARS}}}(?![A-Za-z0-9+/=_-])")
LETTER_KINDS: Final = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))


def random_in(text: str, long_words: str) -> Iterator[Found]:
    """`long_words` are the words of `text` that are long enough to be secrets."""
    # Digests are written in letters of one size.
    longest = [word for word in long_words.split("\n") if len(word) >= LEAST_CHARS and not word.islower()]
    seen = {run for word in longest for run in RUNS.findall(word) if looks_random(run)}
    for run in seen:
        for match in re.finditer(re.escape(run), text):
            yield Found(Detector.ENTROPY, RANDOM_NAME, *match.span())


def looks_random(run: str) -> bool:
    """
    >>> looks_random("f3b0c44298fc1c149afbf4c8996fb92427ae41e4"), looks_random("q8Zt1LrWm0XvB7cYp3KdNs5HgUe2JfTa6RoI")
    (False, True)
    """
    return all(kind.search(run) for kind in LETTER_KINDS) and bits(run) >= LEAST_BITS


def bits(text: str) -> float:
    """Shannon's entropy in bits a character."""
    total = len(text)
    return -sum(count / total * math.log2(count / total) for count in Counter(text).values())
