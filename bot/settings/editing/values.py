"""Values of settings, from the words of a form or a program; and signs that no setting may hold."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Final

from bot.settings.editing.fields import FieldKind, SettingField
from runtime.text.words import marked, say, several

SETTING_NAME: Final = re.compile(r"[a-z][a-z_0-9]*(\[[1-9][0-9]{0,3}\])?(\.[a-z][a-z_0-9]*(\[[1-9][0-9]{0,3}\])?)*")
"""Names of settings and tables, as faults and `config show` write them."""
TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u2028\u2029\ufeff\u00ad]")
"""Signs that turn a line round or hide: what stands in the file would not be what is read."""
CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\r]")
WHOLE_MAX: Final = 2**63 - 1
"""The largest whole number that every reader of TOML takes."""
SETTING_MAX_CHARS: Final = 100_000
ITEMS_MAX: Final = 2_000
WANTED_NUMBER: Final = marked("a number, such as 7 or 2.50")
WANTED_WHOLE: Final = marked("a whole number, such as 7")
SWITCHES: Final = {"true": True, "false": False, "yes": True, "no": False}


class BadValue(ValueError):
    """The words for what is expected instead."""


def path_of(name: str) -> str:
    """`policy[2].tool` as the path of all such settings, `policy[].tool`."""
    return re.sub(r"\[\d+\]", "[]", name)


def value_of(field: SettingField, given: object) -> object:
    """The value of `field`, or None for none. Texts of forms are read by the kind. Errors: BadValue."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return None
    value = _read(field, given) if isinstance(given, str) else given
    check_signs(value, one_line=field.kind is not FieldKind.LONG_TEXT)
    return value


def _read(field: SettingField, text: str) -> object:
    match field.kind:
        case FieldKind.TEXT | FieldKind.CHOICE:
            return text
        case FieldKind.LONG_TEXT:
            return text.replace("\r\n", "\n")
        case FieldKind.SWITCH:
            if (word := text.strip().lower()) not in SWITCHES:
                raise BadValue(say("true or false"))
            return SWITCHES[word]
        case FieldKind.TEXTS if not text.lstrip().startswith("["):
            return [line.strip() for line in text.splitlines() if line.strip()]
        case FieldKind.NUMBER | FieldKind.WHOLE:
            return _number(field, text)
        case _:
            return toml_value(text)


def _number(field: SettingField, text: str) -> object:
    """Errors: BadValue in the words of a form: whoever fills one in need not know TOML."""
    try:
        value = toml_value(text)
    except BadValue:
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValue(say(WANTED_WHOLE if field.kind is FieldKind.WHOLE else WANTED_NUMBER))
    return value


def toml_value(text: str) -> object:
    """One value as TOML writes it. Errors: BadValue for anything beside it, such as another setting on the next line."""
    try:
        read = tomllib.loads(f"it = {text.strip()}\n")
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise BadValue(say("a value as TOML writes it ({error})", error=error)) from None
    if set(read) != {"it"}:
        raise BadValue(say("one value, and nothing behind it"))
    return read["it"]


def check_signs(value: object, *, one_line: bool = True) -> None:
    """Errors: BadValue for a text with hidden signs, and for numbers and lists beyond any sense."""
    for part, is_key in _parts(value):
        if isinstance(part, str):
            _check_text(part, one_line=one_line or is_key)
        elif isinstance(part, bool):
            continue
        elif isinstance(part, int) and abs(part) > WHOLE_MAX:
            raise BadValue(say("a smaller number"))
        elif isinstance(part, float) and not math.isfinite(part):
            raise BadValue(say("a number that is not infinite"))
        elif not isinstance(part, int | float):
            raise BadValue(say("texts, numbers, switches, lists and tables of these"))


def _check_text(text: str, *, one_line: bool) -> None:
    if len(text) > SETTING_MAX_CHARS:
        raise BadValue(say("at most {characters}", characters=several(SETTING_MAX_CHARS, "character")))
    found = CONTROL.search(text) or TURNING.search(text) or re.search("[\ud800-\udfff]", text)
    if found:
        raise BadValue(say("text without the hidden sign {sign}", sign=f"U+{ord(found[0]):04X}"))
    if one_line and "\n" in text:
        raise BadValue(say("one line"))


def _parts(value: object, depth: int = 0) -> Iterator[tuple[object, bool]]:
    """Each plain value within, and the names of tables, with whether it is such a name."""
    if depth > 8:
        raise BadValue(say("fewer tables within tables"))
    match value:
        case Mapping():
            for key, inner in value.items():
                yield key, True
                yield from _parts(inner, depth + 1)
        case list() | tuple():
            if len(value) > ITEMS_MAX:
                raise BadValue(say("at most {items}", items=several(ITEMS_MAX, "item")))
            for inner in value:
                yield from _parts(inner, depth + 1)
        case _:
            yield value, False


def shown_toml(value: object) -> str:
    """A value as TOML writes it, on one line; empty for none."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case float() if value.is_integer() and abs(value) < WHOLE_MAX:
            return repr(int(value))
        case int() | float():
            return repr(value)
        case Mapping():
            pairs = (f"{_key(key)} = {shown_toml(inner)}" for key, inner in value.items() if inner is not None)
            inside = ", ".join(pairs)
            return f"{{{inside}}}"
        case list() | tuple():
            return f"[{', '.join(shown_toml(inner) for inner in value)}]"
        case _:
            return str(value)


def form_text(field: SettingField, value: Any) -> str:
    """A value as a form shows it: texts as they are, lists of texts a line each, all else as TOML has it."""
    if value is None:
        return ""
    if field.kind in (FieldKind.TEXT, FieldKind.LONG_TEXT, FieldKind.CHOICE) and isinstance(value, str):
        return value
    if field.kind is FieldKind.TEXTS and isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    return shown_toml(value)


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)
