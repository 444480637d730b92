"""Values of an argument as matchers look at them: a text, a number, or a list of these. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Final

from runtime.contract import Json

UNSEEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Categories of characters that nobody sees."""

TEXT_MAX_CHARS: Final = 4000
"""Of more text, all items of a list together, nobody tells where reading it takes time: a model chooses how long it is."""

TEXTS_KEPT: Final = 64
"""Texts whose reading is remembered: each rule asks about the same call, and several times."""

Holds = Callable[[Json], bool]


def every(value: Json, holds: Holds) -> bool:
    """True if it holds of the value; of a list, if it holds of each item and there is one."""
    if isinstance(value, list):
        return bool(value) and all(not isinstance(one, list) and holds(one) for one in value)
    return holds(value)


def some(value: Json, may: Holds) -> bool:
    """True if it may hold of the value, or of one item of a list; of lists in lists nobody can tell."""
    if isinstance(value, list):
        return any(isinstance(one, list) or may(one) for one in value)
    return may(value)


def readings(text: str) -> set[str]:
    """The text, and the one that people read: without what is unseen, wide letters as the usual ones, no blanks around."""
    return {text, as_read(text)}


def as_read(text: str) -> str:
    usual = unicodedata.normalize("NFKC", text)
    return "".join(sign for sign in usual if unicodedata.category(sign) not in UNSEEN).strip()


def is_long(value: Json) -> bool:
    """True for more text than is read: of a list, that of its items together."""
    items = value if isinstance(value, list) else [value]
    return sum(len(one) if isinstance(one, str) else 1 for one in items) > TEXT_MAX_CHARS
