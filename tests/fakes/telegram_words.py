"""Marks that Telegram's clients set in texts: names, commands and addresses, at offsets in UTF-16 units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from tests.fakes.telegram_rules import units

MARKS: Final = {
    "mention": re.compile(r"(?<![\w@])@[A-Za-z][A-Za-z0-9_]{3,31}\b"),
    "bot_command": re.compile(r"(?<![\w/<>])/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/<>])"),
    "url": re.compile(r"https?://[^\s]+"),
}


def marks(text: str) -> list[dict[str, Any]]:
    """The entities of `text`, by their begin."""
    return sorted(_found(text), key=lambda entity: int(entity["offset"]))


def _found(text: str) -> Iterator[dict[str, Any]]:
    for kind, pattern in MARKS.items():
        for found in pattern.finditer(text):
            offset, length = units(text[: found.start()]), units(found.group())
            yield {"type": kind, "offset": offset, "length": length}
