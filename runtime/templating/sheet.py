"""A template as it is written: a header in TOML, which may be missing, and the text.

+++
about = "What it tells, in a line."
[options]                    # their defaults; a schedule or a command may set others of the same kind
hours = 24
[[data]]                     # calls whose results the text reads by these names
name = "costs"
tool = "costs"
options = ["hours"]          # handed on as arguments of these names, beside `arguments`
[[charts]]                   # drawn by the tool `chart`; none where the expression gives nothing
name = "by_room"
arguments = "{'kind': 'bar', 'title': 'Cost', …}"
+++
**{{ costs.total.micros | money }}** were spent.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from runtime.contract import DataCall, Json
from runtime.errors import BotError

FENCE: Final = "+++"
TEMPLATE_MAX_CHARS: Final = 50_000
"""Characters of a template with its header."""
MOST_CALLS: Final = 20
MOST_CHARTS: Final = 5
OPTION_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
TAKEN: Final = frozenset(
    (
        *("data", "options", "charts", "name", "now", "planned_at", "previous", "previous_at", "zone", "quiet"),
        *("changed", "range", "namespace", "loop", "self", "caller", "true", "false", "none"),
        *("not", "and", "or", "in", "is", "if", "else"),
    )
)
"""Names that mean something else in a template."""
HEADER: Final = frozenset(("about", "options", "data", "charts"))
KINDS: Final[Mapping[type, str]] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


class TemplateError(BotError):
    """A template is wrong, or cannot be rendered: its name, the line where that is known, and what is wrong."""


@dataclass(frozen=True, slots=True)
class Chart:
    """`arguments` is an expression for those of the tool `chart`."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A template, read. `above` counts the lines of its header, which come before the first line of `body`."""

    name: str
    body: str
    about: str = ""
    above: int = 0
    options: Mapping[str, Json] = field(default_factory=dict)
    data: tuple[DataCall, ...] = ()
    charts: tuple[Chart, ...] = ()
    handed: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def calls(self) -> list[DataCall]:
        """The data calls, with the options that they are handed."""
        return [
            replace(
                call, arguments={**call.arguments, **{key: self.options[key] for key in self.handed.get(call.name, ())}}
            )
            for call in self.data
        ]


def read_sheet(name: str, text: str, data: Sequence[DataCall] = ()) -> Sheet:
    """The template `text`, called `name` in words about it; `data` are calls beside those of its header.

    Errors: TemplateError. The text below the header is not looked at: that is done where it is rendered.
    """
    if len(text) > TEMPLATE_MAX_CHARS:
        raise TemplateError(
            f"template {name}: it has {len(text):,} characters; at most {TEMPLATE_MAX_CHARS:,} are read."
        )
    header, body, above = _parted(name, text.replace("\r\n", "\n"))
    raw = _header(name, header)
    options = _options(name, raw.get("options", {}))
    tables = _tables(name, raw, "data", MOST_CALLS)
    calls = [_call(name, table) for table in tables]
    handed = {table["name"]: _handed(name, table, options) for table in tables}
    charts = tuple(_chart(name, table) for table in _tables(name, raw, "charts", MOST_CHARTS))
    every = (*data, *calls)
    _check_names(name, [call.name for call in every])
    _check_names(name, [chart.name for chart in charts])
    about = raw.get("about", "")
    if not isinstance(about, str):
        raise TemplateError(f"template {name}: about must be text.")
    return Sheet(name, body, about, above, options, every, charts, handed)


def with_options(sheet: Sheet, given: Mapping[str, Json]) -> Sheet:
    """Template with other options. Text from a command is read as the default's type.

    Errors: TemplateError names those that there are, and what each takes.
    """
    chosen = dict(sheet.options)
    for key, value in given.items():
        if key not in sheet.options:
            known = ", ".join(sheet.options) or "none"
            raise TemplateError(f"{sheet.name} has no option {key!r}; its options are: {known}.")
        chosen[key] = _as_default(sheet, key, value)
    return replace(sheet, options=chosen)


def _as_default(sheet: Sheet, key: str, value: Json) -> Json:
    kind = type(sheet.options[key])
    read = _read(kind, value) if isinstance(value, str) and kind is not str else value
    if type(read) is not kind and not (kind is float and type(read) is int):
        raise TemplateError(
            f"{sheet.name}: option {key} is {KINDS[kind]}, such as {sheet.options[key]!r}; not {value!r}."
        )
    return read


def _read(kind: type, text: str) -> Json:
    if kind is bool:
        return {"true": True, "yes": True, "false": False, "no": False}.get(text.strip().lower())
    try:
        return kind(text)
    except ValueError:
        return None


# -------------------------------------------------------------------------------------------------------- the header


def _parted(name: str, text: str) -> tuple[str, str, int]:
    """Header, body, and the number of lines before the body."""
    lines = text.split("\n")
    if lines[0].rstrip() != FENCE:
        return "", text, 0
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        raise TemplateError(
            f"template {name}, line 1: the header that begins here has no end. End it with a line {FENCE}"
        )
    return "\n".join(lines[1:end]), "\n".join(lines[end + 1 :]), end + 1


def _header(name: str, text: str) -> dict[str, Any]:
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        where = f", line {int(at[1]) + 1}" if at else ""
        raise TemplateError(
            f"template {name}{where}: its header isn't TOML: {str(error).partition(' (at')[0]}."
        ) from None
    except (RecursionError, ValueError):  # of its numbers, which may be too long for us
        raise TemplateError(
            f"template {name}: its header is nested too deeply, or a number in it is too long."
        ) from None
    if unknown := sorted(raw.keys() - HEADER):
        raise TemplateError(f"template {name}: its header has {unknown[0]!r}; it may have {', '.join(sorted(HEADER))}.")
    return raw


def _options(name: str, raw: Any) -> dict[str, Json]:
    if not isinstance(raw, dict):
        raise TemplateError(f"template {name}: options is a table, as: [options]")
    for key, value in raw.items():
        if type(value) not in KINDS or not OPTION_NAME.fullmatch(key):
            raise TemplateError(f"template {name}: option {key!r} needs a default: text, a number, true or false.")
    return raw


def _tables(name: str, raw: Mapping[str, Any], key: str, most: int) -> list[dict[str, Any]]:
    found = raw.get(key, [])
    if not (isinstance(found, list) and all(isinstance(table, dict) for table in found)):
        raise TemplateError(f"template {name}: {key} are tables, each beginning with a line [[{key}]]")
    if len(found) > most:
        raise TemplateError(f"template {name}: it has {len(found)} tables {key}; at most {most} are read.")
    return found


def _call(name: str, table: Mapping[str, Any]) -> DataCall:
    _check_keys(name, "data", table, ("name", "tool", "arguments", "options"))
    arguments = table.get("arguments", {})
    if not isinstance(arguments, dict):
        raise TemplateError(f"template {name}: arguments of data {table['name']!r} must be a table.")
    return DataCall(_text(name, "data", table, "name"), _text(name, "data", table, "tool"), arguments)


def _handed(name: str, table: Mapping[str, Any], options: Mapping[str, Json]) -> tuple[str, ...]:
    keys = table.get("options", [])
    if not isinstance(keys, list) or any(key not in options for key in keys):
        raise TemplateError(f"template {name}: options of data {table['name']!r} lists names that are in [options].")
    return tuple(keys)


def _chart(name: str, table: Mapping[str, Any]) -> Chart:
    _check_keys(name, "charts", table, ("name", "arguments"))
    return Chart(_text(name, "charts", table, "name"), _text(name, "charts", table, "arguments"))


def _text(name: str, kind: str, table: Mapping[str, Any], key: str) -> str:
    found = table.get(key)
    if not isinstance(found, str) or not found.strip():
        raise TemplateError(f"template {name}: a table {kind} needs a {key}, as text.")
    return found


def _check_keys(name: str, kind: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
    if unknown := sorted(table.keys() - set(known)):
        raise TemplateError(f"template {name}: a table {kind} has {unknown[0]!r}; it may have {', '.join(known)}.")


def _check_names(name: str, names: Sequence[str]) -> None:
    for at, found in enumerate(names):
        if not OPTION_NAME.fullmatch(found):
            raise TemplateError(
                f"template {name}: {found!r} can't name data. Use lowercase letters, digits and _, at most 40."
            )
        if found in TAKEN:
            raise TemplateError(f"template {name}: data cannot be called {found!r}: that means something else there.")
        if found in names[:at]:
            raise TemplateError(f"template {name}: two of its data are called {found!r}.")
