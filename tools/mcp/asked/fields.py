"""Forms of a server as questions for a person, one a field, and their answers as the values it asked for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from runtime.contract import Json
from runtime.text.glyphs import clip
from runtime.text.outside import stripped

MOST_FIELDS: Final = 16  # of one form: the protocol's own example has 13
MOST_LISTED: Final = 20  # choices in the words of a question
MOST_BUTTONS: Final = 3  # beside the one that refuses
LABEL_MAX_CHARS: Final = 60
MESSAGE_MAX_CHARS: Final = 500
ADDRESS_MAX_CHARS: Final = 400
ANSWER_MAX_CHARS: Final = 4_000
DECLINE: Final = "Decline"
PAGE_DONE: Final = "Done"
YES: Final = "Yes"
NO: Final = "No"
TAKE_USUAL: Final = "-"
"""Answer that takes the value which the server proposes."""
WORDS_FOR_YES: Final = frozenset({"yes", "y", "true", "1", "ok", "okay", "ja"})
WORDS_FOR_NO: Final = frozenset({"no", "n", "false", "0", "nein"})
WORDS_FOR_NEVER: Final = frozenset({"decline", "refuse", "cancel"})


class Unfit(Exception):
    """An answer that isn't what was asked for. The text says what is, as a sentence."""


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a form. `choices` are pairs of value and label; with `several` more than one may be taken."""

    name: str
    label: str
    about: str
    kind: str
    choices: tuple[tuple[str, str], ...] = ()
    several: bool = False
    needed: bool = False
    usual: Json = None

    @property
    def is_yes_or_no(self) -> bool:
        return self.kind == "boolean"


@dataclass(frozen=True, slots=True)
class Question:
    """Words for a person, and answers to choose from; without any it is answered in words."""

    text: str
    options: tuple[str, ...] = ()


def fields_of(params: Mapping[str, Json]) -> list[Field]:
    """Fields of a form, as far as we ask for any. Errors: Unfit for one with too many."""
    schema: Any = params.get("requestedSchema")
    properties: Any = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return []
    if len(properties) > MOST_FIELDS:
        raise Unfit(f"It asks for {len(properties)} values at once; at most {MOST_FIELDS} are asked for.")
    listed: Any = schema.get("required")
    required = listed if isinstance(listed, list) else ()
    return [_field(str(name), told, name in required) for name, told in properties.items() if isinstance(told, dict)]


def address_of(params: Mapping[str, Json]) -> str:
    """The page that a person is to open; empty where it is a form."""
    url = params.get("url")
    return url if isinstance(url, str) and params.get("mode") != "form" else ""


def question_of(server: str, params: Mapping[str, Json], field: Field | None, unfit: str = "") -> Question:
    """The question about `field` of a form, or about all of it where it has none. Errors: Unfit for what can't be asked."""
    said = clip(stripped(str(params.get("message") or "")).text.strip(), MESSAGE_MAX_CHARS)
    head = f"{unfit} " if unfit else ""
    if url := address_of(params):
        # The host first: a long address may hide where it leads.
        host = _host_of(url)
        return Question(
            f"{head}The MCP server {server} asks you to open a page at {host}: {clip(url, ADDRESS_MAX_CHARS)} . "
            f"It says: {said}",
            (PAGE_DONE, DECLINE),
        )
    asks = f"{head}The MCP server {server} asks: {said}"
    if field is None:
        return Question(asks, (YES, DECLINE))
    about = f" ({field.about})" if field.about else ""
    skips = "" if field.needed else f" “{TAKE_USUAL}” skips it."
    usual = f" “{TAKE_USUAL}” takes {_shown(field.usual)}." if field.usual is not None else skips
    if field.is_yes_or_no:
        return Question(f"{asks} — {field.label}{about}?{usual}", (YES, NO, DECLINE))
    labels = [label for _, label in field.choices]
    if labels and len(labels) <= MOST_BUTTONS and not field.several:
        return Question(f"{asks} — {field.label}{about}:{usual}", (*labels, DECLINE))
    among = f" One of: {', '.join(labels[:MOST_LISTED])}." if labels and not field.several else ""
    among = f" Any of, with commas: {', '.join(labels[:MOST_LISTED])}." if labels and field.several else among
    return Question(f"{asks} — {field.label}{about}.{among}{usual} Write “{DECLINE}” to refuse.")


def _host_of(url: str) -> str:
    """Errors: Unfit for an address that is none."""
    try:
        return urlsplit(url).hostname or "?"
    except ValueError:
        raise Unfit("The address of the page that it wants opened is none.") from None


def is_refusal(text: str) -> bool:
    return text.strip().strip(".!").lower() in WORDS_FOR_NEVER


def value_of(field: Field, text: str) -> Json:
    """The value that an answer in words stands for. Errors: Unfit."""
    said = text.strip()[:ANSWER_MAX_CHARS]
    if said == TAKE_USUAL:
        if field.usual is None and field.needed:
            raise Unfit("There is no usual value for this.")
        return field.usual
    if field.choices:
        return _chosen(field, said)
    match field.kind:
        case "boolean":
            return _yes_or_no(said)
        case "integer" | "number":
            return _number(said, whole=field.kind == "integer")
        case _:
            return said


def offered(params: Mapping[str, Json]) -> dict[str, Json]:
    """The answer of somebody who agrees, and takes each value that the server proposes."""
    if address_of(params):
        return accepted({})
    content = {field.name: field.usual for field in fields_of(params) if field.usual is not None}
    for field in fields_of(params):
        if field.needed and field.name not in content:
            content[field.name] = field.choices[0][0] if field.choices else value_of(field, "1")
    return accepted(content, is_form=True)


def accepted(content: Mapping[str, Json], *, is_form: bool = False) -> dict[str, Json]:
    return {"action": "accept", **({"content": dict(content)} if is_form else {})}


def _field(name: str, told: Mapping[str, Any], needed: bool) -> Field:
    several = told.get("type") == "array"
    choices = tuple(_choices(told.get("items") if several and isinstance(told.get("items"), dict) else told))
    return Field(
        name,
        _line(told.get("title") or name),
        _line(told.get("description") or ""),
        str(told.get("type") or "string"),
        choices,
        several,
        needed,
        told.get("default"),
    )


def _choices(told: Any) -> Iterator[tuple[str, str]]:
    values = told.get("enum")
    if isinstance(values, list):
        names = told.get("enumNames")
        labels = names if isinstance(names, list) and len(names) == len(values) else values
        yield from ((str(value), _line(label)) for value, label in zip(values, labels, strict=True))
        return
    listed = told.get("oneOf") or told.get("anyOf")
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and "const" in one:
            yield str(one["const"]), _line(one.get("title") or one["const"])


def _line(text: Any) -> str:
    return clip(" ".join(stripped(str(text)).text.split()), LABEL_MAX_CHARS)


def _shown(value: Json) -> str:
    if isinstance(value, bool):
        return YES if value else NO
    return ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else f"“{value}”"


def _chosen(field: Field, said: str) -> Json:
    known = {label.lower(): value for value, label in field.choices}
    known |= {value.lower(): value for value, _ in field.choices}
    wanted = [part.strip().lower() for part in said.split(",")] if field.several else [said.lower()]
    if unknown := [part for part in wanted if part not in known]:
        raise Unfit(f"{clip(unknown[0], LABEL_MAX_CHARS)!r} isn't one of the answers.")
    values = [known[part] for part in wanted]
    return list(values) if field.several else values[0]


def _yes_or_no(said: str) -> bool:
    word = said.strip(".!").lower()
    if word in WORDS_FOR_YES:
        return True
    if word in WORDS_FOR_NO:
        return False
    raise Unfit(f"Please answer {YES} or {NO}.")


def _number(said: str, *, whole: bool) -> int | float:
    if re.fullmatch(r"[+-]?\d{1,18}", said):
        return int(said)
    if not whole and re.fullmatch(r"[+-]?\d{1,18}\.\d{1,18}", said):
        return float(said)
    raise Unfit(f"Please answer with {'a whole' if whole else 'a'} number.")
