"""Values as Markdown that means the value and nothing else: whatever is in it, no heading, table or link comes of it."""

from __future__ import annotations

import json
import re
import unicodedata
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from markupsafe import Markup

from runtime.text.glyphs import clip

INLINE: Final = 4_000
"""Characters of one value in a line."""
BLOCK: Final = 20_000
"""Characters of one value in lines of its own."""
EMPTY_CELL: Final = "–"  # noqa: RUF001 - a dash is meant
CLOCK: Final = "%Y-%m-%d %H:%M"
_ALWAYS: Final = re.compile(r"[\\`*\[\]<>&|~]")
_UNDERSCORE: Final = re.compile(r"(?<![^\W_])_|_(?![^\W_])")  # inside a word it is a letter, as in snake_case
_FIRST: Final = re.compile(r"[#+=-]")
_CODE_OR_PIPE: Final = re.compile(r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)|(?<!\\)\|")
_NUMBERED: Final = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_TURNING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""What turns the direction of the text after it."""


def trusted(text: str) -> Markup:
    """A text that is put out as it is: all Markdown of ours comes through here, and data in it is escaped before."""
    return Markup(text)  # noqa: S704 - it is Markdown and not HTML


def shown(value: Any, zone: ZoneInfo) -> Markup:
    """A value on one line. What is Markdown already stays as it is."""
    match value:
        case Markup():
            return value
        case None:
            return trusted(EMPTY_CELL)
        case bool():
            return trusted("yes" if value else "no")
        case datetime():
            return trusted(value.astimezone(zone).strftime(CLOCK))
        case dict() | list() | tuple():
            return code(json.dumps(value, ensure_ascii=False, default=str))
        case _:
            return escaped(str(value))


def escaped(text: str) -> Markup:
    """
    >>> print(escaped("# a | *b*\\n1. c"))
    \\# a \\| \\*b\\* 1. c
    """
    line = one_line(text)
    marked = _UNDERSCORE.sub(r"\\_", _ALWAYS.sub(lambda found: f"\\{found[0]}", line.strip()))
    if _FIRST.match(marked):
        marked = f"\\{marked}"
    marked = _NUMBERED.sub(r"\1\\\2", marked, count=1) if _NUMBERED.match(marked) else marked
    before, after = " " * line.startswith(" "), " " * (line.endswith(" ") and bool(marked))
    return trusted(f"{before}{marked}{after}")


def code(value: Any) -> Markup:
    """As it is written, on one line."""
    text = one_line(str(value)).strip()
    if not text:
        return trusted("")
    fence = "`" * (longest_row(text) + 1)
    gap = " " if text.startswith("`") or text.endswith("`") else ""
    return trusted(f"{fence}{gap}{text}{gap}{fence}")


def block(value: Any) -> Markup:
    """As it is written, with its lines, in a block of its own."""
    text = clip("\n".join(map(visible, str(value).splitlines())), BLOCK)
    fence = "`" * max(longest_row(text) + 1, 3)
    return trusted(f"\n{fence}\n{text}\n{fence}\n")


def quote(value: Any) -> Markup:
    """In a quotation; its lines stay lines, and mean nothing else."""
    lines = clip(str(value), BLOCK).splitlines()
    return (
        trusted("\n" + "\n".join(f"> {escaped(line)}".rstrip() + "  " for line in lines) + "\n")
        if lines
        else trusted("")
    )


def cell(value: Any, zone: ZoneInfo) -> str:
    """A value in a table, whose columns it does not break."""
    text = " ".join(shown(value, zone).split())
    return _CODE_OR_PIPE.sub(_piped, text) if isinstance(value, Markup | dict | list) else text


def one_line(text: str) -> str:
    """Lines and gaps as single spaces, also before and behind it."""
    return clip(visible(re.sub(r"\s+", " ", text)), INLINE)


def visible(text: str) -> str:
    """Without what is not shown and may change how the rest looks."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter for letter in text if letter not in _TURNING and (letter == "\t" or _is_shown(letter)))


def _is_shown(letter: str) -> bool:
    return unicodedata.category(letter) not in ("Cc", "Cs")


def longest_row(text: str) -> int:
    """Backticks in a row: a fence needs one more."""
    return max((len(row) for row in re.findall("`+", text)), default=0)


def _piped(found: re.Match[str]) -> str:
    """A pipe with the backslash that keeps it in its cell; in code each has none yet, whatever stands before it."""
    return found[0].replace("|", r"\|")
