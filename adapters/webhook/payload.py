"""A sender's body as words for the model. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
TAKEN: Final = f"{JSON}, {FORM} or text"
FIELDS: Final = 1_000
"""Fields of one form: more is no form."""
_PLACE: Final = re.compile(r"[^.\[\]]+")
_XML: Final = "application/xml"


class Unreadable(Exception):
    """The body is not what its type says. The message tells where."""


class Unknown(Exception):
    """A type, or a way of writing characters, that is not taken."""


@dataclass(frozen=True, slots=True)
class Payload:
    """`words` for the model; `language` of a block that holds them; `ending` of a file that holds the body."""

    words: str
    language: str = ""
    ending: str = "txt"


EMPTY_PAYLOAD: Final = Payload("")


def payload_of(kind: str, charset: str | None, body: bytes, fields: Sequence[str] = ()) -> Payload:
    """`kind` is the media type. `fields` are places in it, such as `repository.full_name`, that alone are told.

    Errors: Unknown, Unreadable.
    """
    if not body:
        return EMPTY_PAYLOAD
    if kind == JSON or (kind.startswith("application/") and kind.endswith("+json")):
        return _json(_text(body, charset), fields)
    if kind == FORM:
        return _form(_text(body, charset), fields)
    if kind.startswith("text/") or kind == _XML or kind.endswith("+xml"):
        return Payload(_text(body, charset).strip("\r\n"))
    raise Unknown(f"The type {kind[:60]} isn't accepted here. Send {TAKEN}.")


def _text(body: bytes, charset: str | None) -> str:
    try:
        return body.decode(charset or "utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"The body isn't valid {error.encoding}: byte {error.start + 1} can't be read.") from error
    except (LookupError, ValueError) as error:  # a codec that is unknown, or makes no text
        raise Unknown(f"The charset {(charset or '')[:40]} isn't known here. Send utf-8.") from error


def _json(text: str, fields: Sequence[str]) -> Payload:
    try:
        value = json.loads(text)
        return Payload(_pretty(_picked(value, fields)), "json", "json")
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Unreadable(f"The body isn't valid JSON: {error.msg} at {where}.") from error
    except RecursionError as error:
        raise Unreadable("The body can't be read as JSON: it's nested too deep.") from error
    except ValueError as error:
        raise Unreadable(f"The body can't be read as JSON: {error}.") from error


def _form(text: str, fields: Sequence[str]) -> Payload:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=FIELDS)
    except UnicodeDecodeError as error:
        raise Unreadable("The form has a field that isn't utf-8.") from error
    except ValueError as error:
        raise Unreadable(f"The form can't be read: {error}.") from error
    match pairs:
        case [("payload", inner)] if inner[:1] in ("{", "["):  # as GitHub sends JSON to those who ask for a form
            return _json(inner, fields)
        case _:
            return _json(json.dumps(_together(pairs)), fields)


def _together(pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A field that is there several times has a list."""
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _picked(value: Any, fields: Sequence[str]) -> Any:
    """Values at each of `fields`; one that is not there is left out."""
    if not fields:
        return value
    found = {field: _at(value, field) for field in fields}
    return {field: rows[0] for field, rows in found.items() if rows}


def _at(value: Any, field: str) -> list[Any]:
    """Value at a place such as `commits[0].message`, as a list of one; else an empty one."""
    for step in _PLACE.findall(field):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return []
    return [value]
