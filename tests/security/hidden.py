"""Texts that hide something, and how to see that nothing is hidden where they are shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

HIDDEN: Final = {
    "blanks": " " * 120,
    "tabs": "\t" * 40,
    "empty lines": "\n" * 60,
    "lines of blanks": "\n   " * 30 + "\n",
    "an indent": "\n" + " " * 200,
    "return": "\r",
    "return and line": "\r\n",
    "backspaces": "\b" * 12,
    "escape": "\x1b[8m",
    "null": "\0",
    "delete": "\x7f",
    "next line": "\x85",
    "vertical tab": "\v",
    "form feed": "\f",
    "bell": "\a",
    "unit separator": "\x1f",
    "soft hyphen": "\xad",
    "no-break space": "\xa0",
    "figure space": "\u2007",
    "hair space": "\u200a",
    "narrow space": "\u202f",
    "em quad": "\u2001" * 30,
    "ideographic space": "\u3000" * 20,
    "ogham space": "\u1680",
    "mathematical space": "\u205f",
    "zero width space": "\u200b",
    "a thousand of no width": "\u200b" * 1000,
    "non-joiner": "\u200c",
    "joiner": "\u200d",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "invisible times": "\u2062",
    "combining joiner": "\u034f",
    "mongolian separator": "\u180e",
    "mongolian selector": "\u180b",
    "left-to-right mark": "\u200e",
    "right-to-left mark": "\u200f",
    "arabic mark": "\u061c",
    "embedding": "\u202a",
    "right embedding": "\u202b",
    "pop": "\u202c",
    "override": "\u202e",
    "left override": "\u202d",
    "isolate": "\u2066",
    "right isolate": "\u2067",
    "first strong": "\u2068",
    "pop isolate": "\u2069",
    "line separator": "\u2028",
    "paragraph separator": "\u2029",
    "hangul filler": "\u3164",
    "half filler": "\uffa0",
    "leading filler": "\u115f",
    "vowel filler": "\u1160",
    "braille blank": "\u2800" * 80,
    "selector": "\ufe0f",
    "text selector": "\ufe0e",
    "selector 17": "\U000e0100",
    "tag": "\U000e0041",
    "tags": "".join(chr(0xE0000 + ord(letter)) for letter in "rm -rf ~"),
    "language tag": "\U000e0001",
    "annotation": "\ufff9",
    "private use": "\ue000",
    "unassigned": "\U0001fbff",
    "surrogate": "\udc41",
    "musical null": "\U0001d159",
    "khmer vowel": "\u17b4",
    "heap of marks": "a" + "\u0301" * 200,
    "a mark alone": " \u0336",
    "our own code": "⟨U+202E⟩",
    "our own count": "⟨120 spaces⟩",
    "our own lines": "\n⟨5 empty lines⟩\n",
    "a code in other brackets": "\u3008U+202E\u3009",
    "a count in other brackets": "\u2329120 spaces\u232a",
    "half a code": "⟨U+20",
    "fences": "\n```\n",
    "long fences": "`````",
    "a mention": "<!channel> @everyone",
    "markdown": "**bold** [x](https://example.org) # <b>&amp;</b> | a |",
}
"""By name; more than one of them in a text is no other case."""
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff\U0001d159]"
    "|[\u0300-\u036f]{9}| {41}|\\S {9}|\n{4}"
)


def commands() -> Iterator[tuple[str, str]]:
    """Each hidden thing in a command, where it does the most harm."""
    for name, hidden in HIDDEN.items():
        yield f"{name} inside", f"echo start{hidden}&& rm -rf ~/important"
        yield f"{name} at the end", f"echo start && rm -rf ~/important{hidden}"
        yield f"{name} at the beginning", f"{hidden}rm -rf ~/important"


def hides(shown: str) -> str:
    """The first thing that a reader of `shown` would not see; nothing where there is none. Written apart from the product."""
    for letter in shown:
        if letter not in " \n\t" and unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"):
            return f"U+{ord(letter):04X}"
    found = _UNSEEN.search(shown)
    return repr(found[0]) if found else ""
