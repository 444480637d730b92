"""Text for a picture: one line, cut where it is long, and without characters that no font here can draw."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from runtime.text.glyphs import head

Measure = Callable[[str], float]
"""How wide a text is, in pixels."""

SPACING: Final = frozenset({"Cc", "Zs", "Zl", "Zp"})
# Joiners, directions and shapes of the letter before: invisible alone, and a box where a font has no such glyph.
UNSEEN: Final = frozenset({"Cf", "Cs", "Co", "Cn"})
SKIN: Final = range(0x1F3FB, 0x1F400)  # modifiers of the emoji before
SHAPES: Final = range(0xFE00, 0xFE10)  # variation selectors
PICTURES: Final = frozenset({"So", "Sk"})


def clean(text: str) -> str:
    """`text` on one line, without what is not seen.

    >>> clean(" a\\n\\tb\\u200d ")
    'a b'
    """
    spaced = ("\x20" if unicodedata.category(each) in SPACING else each for each in text)
    seen = (each for each in spaced if unicodedata.category(each) not in UNSEEN and ord(each) not in SHAPES)
    return " ".join("".join(seen).split())


def drawable(text: str, glyphs: Collection[int]) -> str:
    """`text` with what is in `glyphs` only. An emoji is left out, or named where a text has nothing else.

    Any other letter without a glyph becomes a box, so that people see that something is missing.

    >>> latin = set(range(32, 127))
    >>> drawable("🚀 Start", latin), drawable("🍎", latin), drawable("日本", latin | {0x25A1})
    ('Start', 'red apple', '□□')
    """
    kept = " ".join("".join(_kept(text, glyphs)).split())
    pictures = [each for each in text if ord(each) not in SKIN] or text  # a modifier alone is a picture, too
    return kept or ", ".join(unicodedata.name(each, "sign").lower() for each in pictures)[:60]


def _kept(text: str, glyphs: Collection[int]) -> Iterator[str]:
    for each in text:
        if ord(each) in glyphs:
            yield each
        elif not is_picture(each):
            yield "□"


def is_picture(character: str) -> bool:
    """True if a text says the same without it."""
    return unicodedata.category(character) in PICTURES


def wanting(texts: Iterable[str], glyphs: Collection[int]) -> set[int]:
    """The code points of `texts` that are not in `glyphs`."""
    return {ord(each) for text in texts for each in text} - set(glyphs)


def cut(text: str, room: float, measure: Measure) -> str:
    """As much of `text` as fits `room`, with … for the rest."""
    if measure(text) <= room:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle].rstrip() + "…") <= room:
            low = middle
        else:
            high = middle - 1
    return head(text, low).rstrip() + "…"


def wrapped(text: str, room: float, lines: int, measure: Measure) -> list[str]:
    """`text` in at most `lines` that fit `room`; the last is cut where even that is too little."""
    pieces = [text]
    for fewer in range(4):  # characters are of different widths, so the first guess may be some too wide
        per_line = max(int(len(text) * room / max(measure(text), 1)) - fewer, 1)
        pieces = textwrap.wrap(text, per_line) or [""]
        if len(pieces) <= lines and all(measure(piece) <= room for piece in pieces):
            return pieces
    rest = text
    for piece in pieces[: lines - 1]:
        rest = rest.removeprefix(piece).lstrip()
    return [cut(piece, room, measure) for piece in (*pieces[: lines - 1], rest)]
