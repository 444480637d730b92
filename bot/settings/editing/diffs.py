"""The change of a file as people review it: a unified diff whose lines show no secret and hide no sign."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from bot.settings.editing.fields import FieldKind, all_fields
from bot.settings.editing.statements import Statement, statements_of
from bot.settings.editing.values import path_of, shown_toml
from bot.settings.faults import MASK, is_secret
from bot.settings.sources import value_at
from runtime.text.glyphs import visible

COMMENTED: Final = re.compile(r"^\s*#\s*(?P<key>[\w.\"-]+)\s*=")
PRIVATE: Final = frozenset(
    {
        "mcp[].env",
        "mcp[].args",
        "interceptors[].command",
        "tools.settings",
        "event_sinks[].url",
        "skills.NAME.variables",
    }
)
"""Settings in which people write secrets, whatever they are called."""


def unified(name: str, before: str, after: str, mask: Callable[[str], str]) -> str:
    """Empty where nothing changed. Line numbers are those of the files."""
    old, new = shown_lines(before, mask), shown_lines(after, mask)
    return "\n".join(difflib.unified_diff(old, new, name, name, lineterm=""))


def shown_lines(text: str, mask: Callable[[str], str]) -> list[str]:
    """The lines of a settings file, without secrets. `mask` sees them together: a secret may go over several."""
    plain = text.replace("\r\n", "\n")
    lines = plain.split("\n")
    hidden = dict(_hidden(plain, lines))
    shown = [hidden.get(number, line) for number, line in enumerate(lines)]
    return [visible(line) for line in mask("\n".join(shown)).split("\n")]


def holds_secret(name: str) -> bool:
    """True if the value of this setting, or what stands under this name within one, is never shown."""
    path, fields = path_of(name), all_fields()
    if path.startswith("skills.") and ".variables" in path:
        return True
    while path:
        if field := fields.get(path):
            return field.kind is FieldKind.SECRET or path in PRIVATE
        path = path[: max(path.rfind("."), 0)]
    return is_secret(name)


def _hidden(text: str, lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines that hold a secret, as they are shown instead."""
    values = tomllib.loads(text)
    for one in statements_of(text):
        if not one.is_header and _is_hidden(one, values):
            key = lines[one.first].partition("=")[0].rstrip()
            shown = _without_secrets(one.name, value_at(values, one.name))
            yield one.first, f"{key} = {MASK if shown == MASK else shown_toml(shown)}"
            for number in range(one.first + 1, one.last + 1):
                yield number, MASK
    for number, line in enumerate(lines):
        if (found := COMMENTED.match(line)) and is_secret(found["key"]):
            yield number, f"{line.partition('=')[0].rstrip()} = {MASK}"


def _is_hidden(one: Statement, values: Mapping[str, Any]) -> bool:
    return any(holds_secret(name) and _holds_text(value_at(values, name)) for name in (one.name, *one.holds))


def _without_secrets(name: str, value: Any) -> Any:
    """A table on one line shows what changes beside a secret in it."""
    if holds_secret(name) and _holds_text(value):
        return MASK
    match value:
        case dict():
            return {key: _without_secrets(f"{name}.{key.replace('.', '·')}", inner) for key, inner in value.items()}
        case list() if value and all(isinstance(one, dict) for one in value):
            return [_without_secrets(f"{name}[{number}]", inner) for number, inner in enumerate(value, 1)]
        case _:
            return value


def _holds_text(value: object) -> bool:
    match value:
        case str():
            return bool(value)
        case list():
            return any(map(_holds_text, value))
        case dict():
            return any(map(_holds_text, value.values()))
        case _:
            return False
