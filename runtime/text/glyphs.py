"""Text as readers see it: nothing hidden, since a code stands for what has no width or no glyph; and no character cut in two.

`⟨U+202E⟩` is one character, and more of one kind are counted; `⟨120 spaces⟩` and `⟨5 empty lines⟩` would push the rest out of
sight. The bracket that opens a code is written as one where a text has it, so no two texts look the same: `meant` reads
them back.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from itertools import chain, groupby
from typing import Final

from runtime.text.graphemes import FARTHEST, boundary, boundary_after
from runtime.text.joiners import needed

CODE_OPEN: Final = "⟨"
LIKE: Final = "\u2329\u3008\u276c\u2770\u29fc\u2039"
"""Brackets that a reader may take for it, before what reads as a code."""
INSIDE: Final = 8
"""Columns of blanks in a line that are left as they are …"""
INDENT: Final = 40
"""… and at its start. Blanks at its end never are."""
LINES: Final = 3
"""Line ends in a row that are left as they are."""
COMBINING_MAX: Final = 4
"""Combining marks on one letter; more of them cover other lines."""
PLAIN_WORDS: Final = re.compile(r"[!-~]+(?: [!-~]+)*|")
"""Plain words on one line."""
SIGNS: Final = re.compile(r"[\\`*_\[\]<>~|&]")
"""Letters by which Markdown begins inside a line."""
TAB: Final = 8
_RUNS: Final = re.compile(r"[!-~]+(?: [!-~]+)*|[ \t]+|\n+|([^ \t\n])\1*")  # plain words at once, else like by like
_CODES: Final = re.compile(
    r"⟨U\+([0-9A-F]{4,5}|10[0-9A-F]{4})(?: ×(\d{1,9}))?⟩|⟨(\d{1,9}) spaces⟩|\n⟨(\d{1,9}) empty lines⟩\n"  # noqa: RUF001 - as written
)
_NO_GLYPH: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))
# Letters, signs and marks without a glyph: Default_Ignorable_Code_Point of Unicode 16 beside Cf and Cn, and braille's blank.
_BLANK: Final = frozenset(
    chain(
        (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, 0x16FE4, 0x1D159),
        range(0x180B, 0x1810),
        range(0xFE00, 0xFE10),
        range(0xE0100, 0xE01F0),
    )
)
# In a sentence: what turns its neighbours round or hides among them. Joiners, selectors and tags stay where their scripts
# and emoji need them: not behind plain letters; and zero-width spaces where words have no others between them.
_HIDES: Final = re.compile(
    "[\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u115f\u1160\u3164\uffa0\u2800\x00-\x08\x0b-\x1f\x7f-\x9f]"
    "|(?<![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])\u200b"
    "|(?:^|(?<=[ -~]))[\u200c\u200d\ufe00-\ufe0e\U000e0100-\U000e01ef]"
    '|(?:^|(?<=[ -"$-)+-/:-~]))\ufe0f'
    "|(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0000-\U000e007f]+"
)
_MAY_HIDE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u115f\u1160\u200b-\u200d\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e01ef]"
)
"""Their letters, wherever they stand: most sentences have none, and a set is found fast."""
_EMOJI: Final = "\ufe0f"
_KEYCAP: Final = "\u20e3"
_PICTURES: Final = ((0x00A9, 0x00AE), (0x2100, 0x24FF), (0x25A0, 0x27BF), (0x2900, 0x2BFF), (0x3030, 0x33FF))


def visible(text: str, *, one_line: bool = False) -> str:
    """`text` with codes for what would not be seen; on one line, where that is asked for.

    >>> visible("echo start" + " " * 120 + "&& rm -rf ~\\u202e")
    'echo start⟨120 spaces⟩&& rm -rf ~⟨U+202E⟩'
    """
    return "".join(_pieces(text, one_line=one_line))


def legible(text: str) -> str:
    """A sentence with codes for what turns others round or hides among them; what scripts and emoji need stays.

    >>> legible("saved as \u202efdp.exe, 👍🏽 for \u0645\u06cc\u200c\u062e")
    'saved as ⟨U+202E⟩fdp.exe, 👍🏽 for می\u200cخ'
    """
    return _HIDES.sub(lambda found: "".join(map(_code, found[0])), text) if _MAY_HIDE.search(text) else text


def plainly(text: str) -> str:
    """Words of people and settings on one line, legible, which no Markdown in them can leave."""
    return SIGNS.sub(r"\\\g<0>", legible(" ".join(text.split())))


def fenced(text: str, language: str = "") -> str:
    """`text` in a block that it cannot leave."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def seen(name: str) -> str:
    """A name that others gave, without what nobody sees in it; empty where that is all of it."""
    if PLAIN_WORDS.fullmatch(name):
        return name
    return " ".join(_CODES.sub("", visible(" ".join(name.split()))).split())


def meant(shown: str) -> str:
    """The text that `visible` shows so."""
    return _CODES.sub(_of_code, shown)


def length_meant(shown: str) -> int:
    """Characters that `meant` would make of it, at most: one code may stand for very many."""
    return len(shown) + sum(int(one[2] or one[3] or one[4] or 0) for one in _CODES.finditer(shown))


def hidden(shown: str) -> int:
    """Number of invisible letters in the text behind `shown`, as `visible` wrote it.

    >>> hidden(visible("rm\u200b -r \u202e\u202e~ ⟨"))
    3
    """
    found = (one.group(1, 2) for one in _CODES.finditer(shown))
    return sum(int(times or 1) for letter, times in found if letter and _is_unseen(chr(int(letter, 16))))


def shortened(text: str, most: int | None) -> str:
    """`text` on one line, of a long one its beginning and its end, with how much is between.

    Shape:  `most` characters of `text`, of which a third are its end; codes come on top.
    """
    if most is None or len(text) <= most:
        return visible(text, one_line=True)
    end = most // 3
    first, last = visible(text[: most - end], one_line=True), visible(text[-end:], one_line=True)
    return f"{first} {CODE_OPEN}{len(text) - most:,} characters left out⟩ {last}"


def in_full(arguments: str) -> tuple[str, str]:
    """The text, and the language it is in: a single text as it is, anything else as JSON.

    A text that begins as JSON does is shown as JSON too, so that it is not taken for several arguments.
    """
    values = _values(arguments)
    if isinstance(values, str):
        return visible(values), ""
    return visible(json.dumps(values, indent=2, ensure_ascii=False)), "json"


def in_a_line(arguments: str, most: int | None = None) -> str:
    """Arguments on one line; above `most` characters, the two ends and how much is left out."""
    values = _values(arguments)
    return shortened(values if isinstance(values, str) else json.dumps(values, ensure_ascii=False), most)


def _values(arguments: str) -> object:
    """Arguments of a call; as a text where that says it all."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):  # the latter for thousands of open brackets
        return arguments
    if isinstance(values, dict) and len(values) == 1 and isinstance(only := next(iter(values.values())), str):
        return values if only[:1] in ("", "{") else only
    return arguments if isinstance(values, str) else values


def _of_code(found: re.Match[str]) -> str:
    letter, times, spaces, lines = found.groups()
    if letter:
        return chr(int(letter, 16)) * int(times or 1)
    return " " * int(spaces) if spaces else "\n" * (int(lines) + 1)


def _pieces(text: str, *, one_line: bool) -> Iterator[str]:
    marks, stays = -1, frozenset[int]() if text.isascii() else needed(text)
    for found in _RUNS.finditer(text):  # `marks` on the letter before; below zero where there is none
        run = found[0]
        if "!" <= run[0] <= "~":  # plain words, as most are
            marks = 0
            yield run
            continue
        if run[0] == "\n":
            yield _line_ends(found, one_line=one_line)
        elif run[0] in " \t":
            yield _blanks(found, one_line=one_line)
        elif unicodedata.category(run[0])[0] == "M" and not _is_blank(run[0]):
            some = min(len(run), COMBINING_MAX - marks) if marks >= 0 else 0
            marks += some
            yield run[:some] + (_code(run[some:]) if some < len(run) else "")
            continue
        elif _seems_a_code(found) or (_is_blank(run[0]) and not (_makes_emoji(found) or found.start() in stays)):
            yield _code(run)
        else:
            marks = 0
            yield run
            continue
        marks = -1


def _line_ends(found: re.Match[str], *, one_line: bool) -> str:
    run, text = found[0], found.string
    if one_line or found.start() == 0 or found.end() == len(text):
        return _code(run)
    return run if len(run) <= LINES else f"\n{CODE_OPEN}{len(run) - 1} empty lines⟩\n"


def _blanks(found: re.Match[str], *, one_line: bool) -> str:
    run, text = found[0], found.string
    begins = found.start() == 0 or text[found.start() - 1] == "\n"
    ends = found.end() == len(text) or text[found.end()] == "\n"
    if not ends and len(run.expandtabs(TAB)) <= (INDENT if begins and not one_line else INSIDE):
        return run
    return "".join(_code("".join(same)) for _, same in groupby(run))


def _code(run: str) -> str:
    """A code for one character, as often as it is there."""
    if run[0] == " " and len(run) > 1:
        return f"{CODE_OPEN}{len(run)} spaces⟩"
    times = f" ×{len(run)}" if len(run) > 1 else ""  # noqa: RUF001 - as written
    return f"{CODE_OPEN}U+{ord(run[0]):04X}{times}⟩"


def _seems_a_code(found: re.Match[str]) -> bool:
    after = found.string[found.end() : found.end() + 1]
    return found[0][0] == CODE_OPEN or (found[0][0] in LIKE and (after == "U" or after.isdigit()))


def _is_unseen(letter: str) -> bool:
    """Not of white space that everybody types, of brackets, or of marks that are only too many."""
    return letter not in " \t\n" and _is_blank(letter)


def _is_blank(letter: str) -> bool:
    return unicodedata.category(letter) in _NO_GLYPH or ord(letter) in _BLANK


def _makes_emoji(found: re.Match[str]) -> bool:
    """True if a variation selector asks for the coloured form of the sign before it."""
    text, at = found.string, found.start()
    if found[0] != _EMOJI or at == 0:
        return False
    before, after = text[at - 1], text[at + 1 : at + 2]
    if before in "0123456789#*":
        return after == _KEYCAP
    return ord(before) >= 0x1F000 or any(first <= ord(before) <= last for first, last in _PICTURES)


# --------------------------------------------------------------------------------------------------- cut to a length


def bound(text: str, limit: int) -> str:
    r"""`text` if it has at most `limit` characters, else its head and tail around a line that names the cut.

    Shape: never longer than `limit`; a limit too small for that line gives the head alone. What a reader sees as one
    character (a CRLF, an accent, a joined emoji, a flag) is kept or left out as a whole.

    >>> bound("0123456789" * 10, 60)
    '0123456789012345\n… 69 characters left out …\n567890123456789'
    """
    if len(text) <= limit:
        return text
    room = limit - len(_cut_line(len(text)))
    if room < 2:
        return head(text, limit)
    first = head(text, (room + 1) // 2)
    tail = boundary_after(text, len(text) - room // 2)
    return first + _cut_line(tail - len(first)) + text[tail:]


def clip(text: str, limit: int) -> str:
    """`text` if it has at most `limit` characters, else its head and an ellipsis, together no longer.

    >>> clip("0123456789", 6)
    '01234…'
    """
    return text if len(text) <= limit else head(text, limit - 1) + "…"


def head(text: str, limit: int) -> str:
    """The beginning of `text`, at most `limit` characters."""
    at = max(limit, 0)
    return text[: boundary(text, at, max(at - FARTHEST, 0) - 1)] if len(text) > at else text


def _cut_line(count: int) -> str:
    return f"\n… {count:,} characters left out …\n"
