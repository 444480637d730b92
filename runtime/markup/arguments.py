"""A call's arguments as people read them: all of them, and nothing hidden."""

from __future__ import annotations

import json

from runtime.text.glyphs import shortened, visible


def in_full(arguments: str) -> tuple[str, str]:
    """The text, and the language it is in: a single text as it is, anything else as JSON.

    A text that begins as JSON does is shown as JSON too, so that it is not taken for several arguments.
    """
    values = _values(arguments)
    if isinstance(values, str):
        return visible(values), ""
    return visible(json.dumps(values, indent=2, ensure_ascii=False)), "json"


def in_a_line(arguments: str, most: int | None = None) -> str:
    """The same on one line; of those longer than `most` the beginning, the end, and how much is between."""
    values = _values(arguments)
    return shortened(values if isinstance(values, str) else json.dumps(values, ensure_ascii=False), most)


def _values(arguments: str) -> object:
    """What is called with; as a text where that says it all."""
    try:
        values = json.loads(arguments)
    except ValueError:
        return arguments
    if isinstance(values, dict) and len(values) == 1 and isinstance(only := next(iter(values.values())), str):
        return values if only[:1] in ("", "{") else only
    return arguments if isinstance(values, str) else values
