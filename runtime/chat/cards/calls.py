"""A call as its card shows it: names and values on lines and in blocks, in the parts that its tool names. Pure.

What is shown is one call alone: a value on a line is JSON where it reads as JSON, else a text; a block holds a text, or
JSON where its title says so; and codes stand for what nobody would see (`runtime.text.glyphs`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Final

from runtime.contract import CardChange, CardFiles, CardNote, CardPart, CardText, CardValue, Json
from runtime.text.glyphs import fenced, in_full, plainly, visible
from runtime.text.retold import retold
from runtime.text.words import count, marked, say, several

NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
BLOCK_SIGN: Final = re.compile(r"^(\d*)([-+#=.)])")
"""Begins a list, a heading or a rule where a line begins with it."""
LINE_MAX_CHARS: Final = 120
"""Of a value that stands on a line; a longer one has a block."""
LINES_MAX: Final = 20
"""Values on lines; where there are more, one block has them all."""
END_LINES: Final = 3
"""Of a text of which only the first lines are shown."""
DIFF_MAX_CHARS: Final = 200_000
DIFF_MAX_LINES: Final = 4_000
CUT: Final = marked("… {number} characters …")
"""Stands for what is left out; its number is that of the characters as they are shown."""
JSON_TITLE: Final = " (JSON)"
CHANGES_TITLE: Final = marked(" (what changes)")
NO_ARGUMENTS: Final = marked("No arguments")
NOTES: Final = (
    marked("in this room's workspace"),
    marked("no network"),
    marked("the network is open"),
    marked("mounts this room's workspace at /workspace, and nothing else"),
)
"""Notes of our own tools, which write them in English."""


@dataclass(frozen=True, slots=True)
class ShownCall:
    """`text` is Markdown; `is_whole` tells whether all of the call stands in it."""

    text: str
    is_whole: bool = True


def shown_call(arguments: str, parts: Sequence[CardPart] = ()) -> ShownCall:
    """`parts` in their order, then the arguments that none of them names."""
    values = _values(arguments)
    if values is None or any(not NAME.fullmatch(name) for name in values):
        return _noted(ShownCall(fenced(*in_full(arguments))), parts)
    named = {part.argument for part in parts if not isinstance(part, CardNote)}
    only = next(iter(values.values())) if len(values) == 1 else None
    if isinstance(only, str) and all(isinstance(part, CardNote) or part == CardText(part.argument) for part in parts):
        return _noted(ShownCall(fenced(*in_full(arguments))), parts)
    rest = [CardValue(name) for name in values if name not in named]
    drawn = list(_drawn((*parts, *rest), values))
    if sum(piece.startswith("- ") for piece, _ in drawn) > LINES_MAX:
        return _noted(ShownCall(fenced(*in_full(arguments))), parts)
    lines = "\n".join(piece for piece, _ in drawn if piece.startswith("- "))
    blocks = [piece for piece, _ in drawn if not piece.startswith("- ")]
    made = ShownCall("\n\n".join(filter(None, [lines, *blocks])), all(whole for _, whole in drawn))
    return _noted(made if drawn else ShownCall(say(NO_ARGUMENTS)), parts)


def whole_call(arguments: str) -> str:
    """All of a call as plain text, each value below its name."""
    values = _values(arguments)
    if values is None:
        return in_full(arguments)[0]
    return "\n\n".join(f"{visible(name, one_line=True)}:\n{text}" for name, text in _named_texts(values))


def _named_texts(values: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Each value as plain text; of texts by path each one, since lines of a file are no lines within JSON."""
    for name, value in values.items():
        if isinstance(value, dict) and value and _are_texts(value):
            yield from ((f"{name} {path}", visible(str(text))) for path, text in value.items())
        else:
            yield name, visible(value) if isinstance(value, str) else _json(value, indent=2)


def _values(arguments: str) -> Mapping[str, Json] | None:
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _noted(call: ShownCall, parts: Sequence[CardPart]) -> ShownCall:
    notes = " · ".join(plainly(retold(part.text)) for part in parts if isinstance(part, CardNote))
    notes = BLOCK_SIGN.sub(r"\g<1>\\\g<2>", notes)
    return ShownCall(f"{call.text}\n\n{notes}", call.is_whole) if notes else call


def _drawn(parts: Sequence[CardPart], values: Mapping[str, Json]) -> Iterator[tuple[str, bool]]:
    """Each argument once: a line that begins with a dash, or a titled block; and whether it says all of the value."""
    left = dict(values)
    for part in parts:
        if isinstance(part, CardNote) or part.argument not in left:
            continue
        name, value = part.argument, left.pop(part.argument)
        match part:
            case CardChange(before=before) if isinstance(value, str) and _differ(before, value):
                yield _change(name, before, value), False
            case CardText(lines=most) if isinstance(value, str):
                yield _lines(name, value, most)
            case CardFiles(before=before, lines=most) if isinstance(value, dict) and value and _are_texts(value):
                texts = [_file(name, path, str(text), before.get(path), most) for path, text in value.items()]
                yield "\n\n".join(text for text, _ in texts), all(whole for _, whole in texts)
            case CardValue(also=also):
                yield _line(name, value, also), True
            case _:
                yield _line(name, value, ""), True


def _are_texts(value: Mapping[str, Json]) -> bool:
    return all(isinstance(text, str) for text in value.values())


def _file(name: str, path: str, text: str, before: str | None, most: int | None) -> tuple[str, bool]:
    """One text of several, and whether all of it is shown."""
    title = f"{name} {visible(path, one_line=True)}"
    if before is not None and _differ(before, text):
        return _change(title, before, text), False
    return _lines(title, text, most)


def _change(title: str, before: str, after: str) -> str:
    return f"{plainly(title)}{say(CHANGES_TITLE)}:\n\n{fenced(_changes(before, after), 'diff')}"


def _line(name: str, value: Json, also: str) -> str:
    """The value on a line, or in a block where a line cannot hold it."""
    beside = f" ({plainly(retold(also))})" if also else ""
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False) if _reads_as_json(value) else value
    else:
        text = _json(value)
    if _fits_a_line(text) and ("\\" not in text or text == value):
        return f"- {plainly(name)}: `{text}`{beside}"
    if isinstance(value, str):
        return "\n\n".join(filter(None, [_block(name, value), beside.strip()]))
    return f"{plainly(name)}{JSON_TITLE}:\n\n{fenced(visible(_json(value, indent=2)), 'json')}"


def _fits_a_line(text: str) -> bool:
    is_short = len(text) <= LINE_MAX_CHARS and "`" not in text
    return is_short and text.strip() == text and visible(text, one_line=True) == text


def _block(name: str, text: str) -> str:
    return f"{plainly(name)}:\n\n{fenced(visible(text))}"


def _lines(name: str, text: str, most: int | None) -> tuple[str, bool]:
    """A text of which the last line ends like the others tells their number in place of a code for that end."""
    if most is None or not text.rstrip("\n"):
        return _block(name, text), True
    ends = text.endswith("\n")
    lines = visible(text.removesuffix("\n")).split("\n")
    title = f"{plainly(name)}, {several(len(lines), 'line')}" if ends else plainly(name)
    if len(lines) <= most + END_LINES:
        return f"{title}:\n\n{fenced(chr(10).join(lines))}", True
    first, last = "\n".join(lines[:most]), "\n".join(lines[-END_LINES:])
    cut = say(CUT, number=count(sum(map(len, lines)) + len(lines) - len(first) - len(last) - 3))
    return f"{title}:\n\n{fenced(f'{first}{chr(10)}{cut}{chr(10)}{last}')}", False


def _differ(before: str, after: str) -> bool:
    """True if there is something to compare, and it is small enough for that."""
    lines = before.count("\n") + after.count("\n")
    return before != after and len(before) + len(after) <= DIFF_MAX_CHARS and lines <= DIFF_MAX_LINES


def _changes(before: str, after: str) -> str:
    """A unified diff without its two first lines, which name files."""
    if before.endswith("\n") and after.endswith("\n"):
        before, after = before.removesuffix("\n"), after.removesuffix("\n")
    old, new = (visible(text).split("\n") for text in (before, after))
    return "\n".join(list(unified_diff(old, new, lineterm=""))[2:])


def _reads_as_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return not text
    return True


def _json(value: Json, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)
