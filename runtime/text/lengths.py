"""Length of a text, in the unit that each platform counts in.

| unit | who counts in it |
| --- | --- |
| UTF-16 code units | Telegram: an emoji is two, its parts joined are more |
| characters (code points) | Slack, Discord |
| UTF-8 bytes | button payloads, file names, HTTP bodies |
"""

from __future__ import annotations


def utf16(text: str) -> int:
    """UTF-16 code units: one for most characters, two beyond U+FFFF."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def characters(text: str) -> int:
    """Unicode code points."""
    return len(text)


def utf8(text: str) -> int:
    """Bytes in UTF-8: one to four a character. A lone surrogate, which has no such form, counts three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
