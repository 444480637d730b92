"""JSON as people write it: with comments, commas at the end, bare keys and single quotes. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<double>"(?:[^"\\]|\\.)*")
    | (?P<single>'(?:[^'\\]|\\.)*')
    | (?P<mark>[{}\[\]:,])
    | (?P<word>[\w$+.-]+)
    """,
    re.VERBOSE | re.DOTALL,
)
PLAIN_WORDS: Final = frozenset({"true", "false", "null"})
NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
BACKSLASHED: Final = re.compile(r'\\(.)|(")', re.DOTALL)


def parsed_json(text: str) -> Any:
    """Values of a text; what is plain JSON is read as that. Errors: json.JSONDecodeError with the line."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return json.loads("".join(_strict(text)))  # lines stay as they are, and so does the line of a fault


def _strict(text: str) -> Iterator[str]:
    """The same as plain JSON, line by line. Errors: json.JSONDecodeError."""
    at, held = 0, ""
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            raise json.JSONDecodeError("a sign that can't stand here", text, at)
        at = found.end()
        if found.lastgroup == "space":
            yield "\n" * found[0].count("\n") or " "
            continue
        if held:
            yield held if found[0] not in "]}" else ""
            held = ""
        if found[0] == ",":
            held = ","
            continue
        yield _token(found.lastgroup or "", found[0])
    yield held


def _token(kind: str, text: str) -> str:
    if kind == "single":
        inner = BACKSLASHED.sub(lambda m: "'" if m[1] == "'" else '\\"' if m[2] else m[0], text[1:-1])
        return f'"{inner}"'
    if kind == "word" and text not in PLAIN_WORDS and not NUMBER.fullmatch(text):
        return json.dumps(text)
    return text
