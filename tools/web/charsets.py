"""Bytes from the web as text, by whatever says which characters they are."""

from __future__ import annotations

import codecs
import re
from typing import Final

# What pages are written in (WHATWG Encoding Standard, 4.2). Python knows more, some of which are no charsets, and some
# take forever.
KNOWN: Final = frozenset(
    {
        *("utf-8", "utf-16", "utf-16-le", "utf-16-be", "ascii", "mac-roman", "mac-cyrillic", "koi8-r", "koi8-u"),
        *(
            "cp866",
            "cp874",
            *(f"cp125{number}" for number in range(9)),
            "gbk",
            "gb2312",
            "gb18030",
            "big5",
            "big5hkscs",
        ),
        *("euc_jp", "iso2022_jp", "shift_jis", "cp932", "euc_kr", "cp949"),
        *(f"iso8859-{number}" for number in range(1, 17) if number != 12),
    }
)
# Written as the one, meant as the other, which has all its letters and more.
MEANT: Final = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "iso8859-9": "cp1254"}
BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
INSIDE: Final = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})|<\?xml[^>]{0,100}?encoding=["']([\w.:-]{1,40})""", re.I
)
LOOKED_AT: Final = 1024  # bytes; the standard looks no further for a page's own word


def decoded(data: bytes, declared: str = "") -> str:
    """`data` as text: a byte order mark goes before what was `declared`, and that before what the text says of itself.

    Errors: none; without a word that helps it is UTF-8, and what does not fit is replaced.
    """
    for mark, name in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, errors="replace")
    return data.decode(_known(declared) or _known(_said_inside(data)) or "utf-8", errors="replace")


def _said_inside(data: bytes) -> str:
    found = INSIDE.search(data[:LOOKED_AT])
    name = (found[1] or found[2]).decode("ascii", errors="replace") if found else ""
    # It was read as if it were ASCII, so it cannot be what it says.
    return "utf-8" if name.lower().startswith("utf-16") else name


def _known(name: str) -> str | None:
    try:
        found = codecs.lookup(name.strip().lower()).name if name.isascii() and name else ""
    except (LookupError, ValueError):  # ValueError: a NUL in it
        return None
    return MEANT.get(found, found) if found in KNOWN else None
