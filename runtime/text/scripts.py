"""Words that mix scripts, such as `curl` with a Cyrillic first letter: they look like another word.

Source: Unicode UTS #39, 5.2 "Restriction-Level Detection", level "highly restrictive".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

WORD: Final = re.compile(r"[^\W\d_]+")
TOGETHER: Final = (
    frozenset({"Latin", "Han", "Hiragana", "Katakana"}),
    frozenset({"Latin", "Han", "Bopomofo"}),
    frozenset({"Latin", "Han", "Hangul"}),
)
"""Scripts that one word may hold together: those of Japanese, Chinese and Korean, each with Latin."""
NAMED: Final = {"CJK": "Han", "IDEOGRAPHIC": "Han", "FULLWIDTH": "Latin", "HALFWIDTH": "Katakana", "FEMININE": "Latin"}
"""Scripts of letters whose names begin with another word than their script's."""
COMMON: Final = frozenset(
    (
        *("MODIFIER", "MATHEMATICAL", "MICRO", "DOUBLE", "SCRIPT", "BLACK", "MASCULINE", "SUPERSCRIPT", "SUBSCRIPT"),
        *("ROMAN", "CIRCLED", "VULGAR", "KELVIN", "ANGSTROM", "OHM", "PLANCK", "PARENTHESIZED", "ALEF"),
    )
)
"""Beginnings of the names of letters that stand in any script."""


def mixed(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    r"""Each word whose scripts do not belong together, with their names, once.

    >>> list(mixed("run \N{CYRILLIC SMALL LETTER ES}url, not curl"))[0][1]
    ('Cyrillic', 'Latin')
    """
    if text.isascii():
        return
    for word in dict.fromkeys(WORD.findall(text)):
        found = frozenset(filter(None, map(_script, word)))
        if len(found) > 1 and not any(found <= allowed for allowed in TOGETHER):
            yield word, tuple(sorted(found))


@lru_cache(maxsize=1024)
def _script(letter: str) -> str:
    """The script of a letter, by the first word of its name; empty for one that stands in any."""
    first = unicodedata.name(letter, "MODIFIER").split(" ")[0].split("-")[0]
    return "" if first in COMMON else NAMED.get(first, first.capitalize())
