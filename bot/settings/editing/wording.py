"""Words of a change for the audit: with both values, without secrets, and long ones by their digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from bot.settings.editing.diffs import holds_secret
from bot.settings.editing.documents import Add, Change, Move, Put, Remove
from bot.settings.editing.values import shown_toml
from bot.settings.sources import value_at
from runtime.text.glyphs import clip, visible

VALUE_SHOWN_MAX_CHARS: Final = 120


def change_words(change: Change, said: Mapping[str, Any], mask: Callable[[str], str]) -> str:
    """A change of a file that says `said`."""
    match change:
        case Put(name, value):
            return f"{name}: {_short(name, value_at(said, name), mask)} to {_short(name, value, mask)}"
        case Add(name, table):
            return f"{name}: added {_short(name, table, mask)}"
        case Remove(name):
            return f"{name}: removed {_short(name, value_at(said, name), mask)}"
        case Move(name, by):
            return f"{name}: one place {'up' if by < 0 else 'down'}"


def _short(name: str, value: object, mask: Callable[[str], str]) -> str:
    if value is None:
        return "the default"
    if holds_secret(name):
        return "a secret"
    text = shown_toml(value)
    shown = visible(mask(text), one_line=True)
    if len(shown) <= VALUE_SHOWN_MAX_CHARS:
        return shown
    hashed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{clip(shown, VALUE_SHOWN_MAX_CHARS)} ({len(text)} characters, sha256 {hashed})"
