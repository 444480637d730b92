"""Long words that look random, as keys without a known shape do. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from runtime.guard.findings import Detector, Found

LEAST_BITS: Final = 4.2
"""Of a character, by the frequency of the characters. Hex digits have 4 at most, words of a language less."""

LEAST_CHARS: Final = 32
MOST_CHARS: Final = 512
"""A longer one is data, such as an image."""

FEW_RUNS: Final = 16
"""Runs up to which it is faster to look for each of them than to go through the whole text once more."""

RANDOM_NAME: Final = "random text"
RUNS: Final = re.compile(rf"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{{{LEAST_CHARS},{MOST_CHARS}}}(?![A-Za-z0-9+/=_-])")
LETTER_KINDS: Final = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))


def random_in(text: str, words: Iterable[str]) -> Iterator[Found]:
    """`words` are those of `text`, or all that may be long enough."""
    # Digests are written in letters of one size.
    longest = [word for word in words if len(word) >= LEAST_CHARS and not word.islower()]
    seen = {run for word in longest for run in RUNS.findall(word) if looks_random(run)}
    if len(seen) > FEW_RUNS:
        yield from (_found(*match.span()) for match in RUNS.finditer(text) if match[0] in seen)
        return
    for run in seen:
        start = text.find(run)
        while start >= 0:
            yield _found(start, start + len(run))
            start = text.find(run, start + len(run))


def _found(start: int, end: int) -> Found:
    return Found(Detector.ENTROPY, RANDOM_NAME, start, end)


def looks_random(run: str) -> bool:
    """
    >>> looks_random("f3b0c44298fc1c149afbf4c8996fb92427ae41e4"), looks_random("q8Zt1LrWm0XvB7cYp3KdNs5HgUe2JfTa6RoI")
    (False, True)
    """
    return all(kind.search(run) for kind in LETTER_KINDS) and bits(run) >= LEAST_BITS


def bits(text: str) -> float:
    """Shannon's entropy in bits a character."""
    total = len(text)
    return math.log2(total) - sum(count * math.log2(count) for count in Counter(text).values() if count > 1) / total
