"""Boundaries at which a text may be cut, so that no character that readers see is.

The rules of Unicode's UAX 29 as far as chats need them: combining marks, joined emoji, skin tones, flags, keycaps, tags,
Hangul syllables written as parts, and consonants that a virama joins.
"""

from __future__ import annotations

import unicodedata
from typing import Final

JOINER: Final = "\u200d"
FARTHEST: Final = 64
"""Characters that `boundary_after` looks on; a longer chain of combining characters is no text anyone reads."""
VIRAMA: Final = 9  # the canonical combining class of signs that join two consonants
SURROGATES: Final = ("\ud800", "\udfff")


def boundary(text: str, at: int, floor: int = 0) -> int:
    """The last place at or before `at`, and after `floor`, where `text` may be cut; `at` itself where there is none.

    So a heap of 10,000 combining marks is cut too: nothing that a reader could see as one character is that long.
    """
    place = at
    while place > floor and not is_boundary(text, place):
        place -= 1
    return place if place > floor else at


def boundary_after(text: str, at: int) -> int:
    """The first place at or after `at` where `text` may be cut; `at` itself where none is near."""
    last = min(at + FARTHEST, len(text))
    return next((place for place in range(at, last + 1) if is_boundary(text, place)), at)


def is_boundary(text: str, place: int) -> bool:
    """Tell whether a cut before `text[place]` leaves every visible character whole."""
    if not 0 < place < len(text):
        return True
    before, after = text[place - 1], text[place]
    if before.isascii() and after.isascii():
        return before != "\r" or after != "\n"
    if _extends(after) or before == JOINER or _joins_consonants(before, after):
        return False
    if _is_flag_half(before) and _is_flag_half(after):
        return _flag_halves_before(text, place) % 2 == 0
    return not (_one_syllable(before, after) or (_is_high(before) and _is_low(after)))


def _extends(character: str) -> bool:
    """Marks, joiners, variation selectors, skin tones and tags: they change what stands before them."""
    if character == JOINER or "\U0001f3fb" <= character <= "\U0001f3ff" or "\U000e0020" <= character <= "\U000e007f":
        return True
    return unicodedata.category(character) in ("Mn", "Me", "Mc")


def _joins_consonants(before: str, after: str) -> bool:
    return unicodedata.combining(before) == VIRAMA and unicodedata.category(after) == "Lo"


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_halves_before(text: str, place: int) -> int:
    start = place
    while start > 0 and _is_flag_half(text[start - 1]):
        start -= 1
    return place - start


def _one_syllable(before: str, after: str) -> bool:
    """Hangul: a vowel or a final after what it belongs to."""
    leading, vowel, final = "\u1100" <= before <= "\u115f", "\u1160" <= after <= "\u11a7", "\u11a8" <= after <= "\u11ff"
    syllable = "\uac00" <= before <= "\ud7a3"
    joined = leading and ("\u1100" <= after <= "\u11a7" or "\uac00" <= after <= "\ud7a3")
    return (
        joined
        or ((syllable or "\u1160" <= before <= "\u11a7") and (vowel or final))
        or (final and "\u11a8" <= before <= "\u11ff")
    )


def _is_high(character: str) -> bool:
    return SURROGATES[0] <= character <= "\udbff"


def _is_low(character: str) -> bool:
    return "\udc00" <= character <= SURROGATES[1]
