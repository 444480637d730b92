"""Changes of a settings file that leave everything else as it is: comments, order, blanks and line ends.

A change is tried in the ways there are to write it, and what comes out is read again by TOML's own reader: it must say
exactly what was wanted, or the change is refused. So no text, however it is made, can become a setting of its own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from bot.settings.editing.statements import Statement, above, block_of, comments_of, own_end, statements_of
from bot.settings.sources import steps_of, value_at
from runtime.errors import ConfigError

UNWRITABLE: Final = (
    "{name} is written in the file in a way that can't be changed from here. Change it in the file, then reload."
)
ONE_LINE: Final = (
    "{name} is one value in the file. Write it as [[{name}]] tables there, then it can be changed from here."
)


@dataclass(frozen=True, slots=True)
class Put:
    """Give the setting `name` this value; None takes it out, which leaves its default."""

    name: str
    value: object


@dataclass(frozen=True, slots=True)
class Add:
    """One more table at the end of the list `name`."""

    name: str
    table: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Remove:
    """Take out the table `name`, such as `policy[2]`."""

    name: str


@dataclass(frozen=True, slots=True)
class Move:
    """Put the table `name` one place up (-1) or down (1)."""

    name: str
    by: int


Change = Put | Add | Remove | Move


def changed(text: str, changes: Sequence[Change]) -> str:
    """The file with `changes` in it. Errors: ConfigError for one that can't be written."""
    ending = "\r\n" if "\r\n" in text else "\n"
    plain = text.replace("\r\n", "\n")
    for change in changes:
        plain = _changed(plain, change)
    return plain.replace("\n", ending) if ending != "\n" else plain


def _changed(text: str, change: Change) -> str:
    said = tomllib.loads(text)
    if isinstance(change, Put) and change.value is None and value_at(said, change.name) is None:
        return text
    wanted = _meant(said, change)
    for write in _ways(change):
        fresh = _tried(write, text, change)
        if fresh is not None and _filled(tomllib.loads(fresh)) == _filled(wanted):
            return fresh
    raise ConfigError(UNWRITABLE.format(name=change.name))


def _filled(values: dict[str, Any]) -> dict[str, Any]:
    """Without tables in which nothing is left: they say as much as none."""
    return {key: value for key, value in values.items() if value != {}}


def _tried(write: Callable[[str, Any], str | None], text: str, change: Change) -> str | None:
    """Outcome of one way of writing, if that can be read at all."""
    from tomlkit.exceptions import TOMLKitError

    try:
        fresh = write(text, change)
        if fresh is not None:
            tomllib.loads(fresh)
    except (tomllib.TOMLDecodeError, TOMLKitError, KeyError, IndexError, TypeError, ValueError):
        return None
    return fresh


def _ways(change: Change) -> Sequence[Callable[[str, Any], str | None]]:
    match change:
        case Put(value=None):
            return (_without_block, _without_lines, _without)
        case Put():
            return (_put_block, _put, _put_line, _put_section)
        case Add():
            return (_add,)
        case Remove():
            return (_remove,)
        case Move():
            return (_move,)


# ------------------------------------------------------------------------------------------------ what is wanted of it


def _meant(values: dict[str, Any], change: Change) -> dict[str, Any]:
    """Values that the file must hold after the change."""
    values = deepcopy(values)
    match change:
        case Put(name, value):
            *above, last = steps_of(name)
            holder: Any = values
            for step in above:
                holder = holder.setdefault(step, {}) if isinstance(step, str) else holder[step]
            if value is None:
                holder.pop(last, None)
            else:
                holder[last] = deepcopy(value)
        case Add(name, table):
            rows = values.setdefault(name, [])
            rows.append(deepcopy(table))
        case Remove(name):
            word, number = steps_of(name)
            del values[str(word)][int(number)]
            if not values[str(word)]:
                del values[str(word)]
        case Move(name, by):
            word, number = steps_of(name)
            rows = values[str(word)]
            rows.insert(int(number) + by, rows.pop(int(number)))
    return values


# --------------------------------------------------------------------------------------------------------- one setting


def _put(text: str, change: Put) -> str | None:
    """In the place where it is now: what stands behind it on its line stays."""
    import tomlkit

    document = tomlkit.parse(text)
    *above, last = steps_of(change.name)
    holder: Any = document
    for step in above:
        holder = holder[step]
    if last not in holder:
        return None
    holder[last] = written_of(change.value)
    return _commented(text, tomlkit.dumps(document))


def _put_block(text: str, change: Put) -> str | None:
    """On one line, in place of the tables with headers of their own that say it now."""
    bare = _without_block(text, change)
    return None if bare is None else _put_line(bare, change)


def _put_line(text: str, change: Put) -> str | None:
    """As a new line, behind the last one of its table; or behind those that say `model.name` without a header."""
    statements, lines = statements_of(text), text.split("\n")
    table, _, key = change.name.rpartition(".")
    at = own_end(statements, table)
    if at is None and not table:
        return _first_line(text, change)
    if at is None:
        dotted = [one for one in statements if not one.is_header and one.name.startswith(f"{table}.")]
        if not dotted:
            return None
        at, key = dotted[-1].last + 1, change.name.removeprefix(f"{dotted[-1].table}.")
    return "\n".join([*lines[:at], *line_of(key, change.value), *lines[at:]])


def _first_line(text: str, change: Put) -> str:
    """Above the first table, and the comments right above that."""
    heads, lines = [one for one in statements_of(text) if one.is_header], text.split("\n")
    at = above(heads[0].first, lines) if heads else len(lines)
    return "\n".join([*lines[:at], *line_of(change.name, change.value), *([""] if heads else []), *lines[at:]])


def _put_section(text: str, change: Put) -> str | None:
    """With a table of its own, at the end of the file."""
    table, _, key = change.name.rpartition(".")
    if not table or "[" in table:
        return None
    return _behind(text, [f"[{table}]", *line_of(key, change.value)])


def _without_block(text: str, change: Put) -> str | None:
    """Without the tables below their own headers that say it, and the comments right above these."""
    statements, lines = statements_of(text), text.split("\n")
    heads = [one for one in statements if one.is_header]
    own = [n for n, one in enumerate(heads) if one.name == change.name or one.name.startswith(f"{change.name}.")]
    if not own or own[-1] - own[0] != len(own) - 1:
        return None
    end = above(heads[own[-1] + 1].first, lines) if own[-1] + 1 < len(heads) else len(lines)
    first = above(heads[own[0]].first, lines)
    return "\n".join([*lines[:first], *lines[end:]])


def _without_lines(text: str, change: Put) -> str | None:
    """Without the lines that say it."""
    held = [one for one in statements_of(text) if one.name == change.name and not one.is_header]
    if len(held) != 1:
        return None
    lines = text.split("\n")
    return "\n".join([*lines[: held[0].first], *lines[held[0].last + 1 :]])


def _without(text: str, change: Put) -> str | None:
    """Without it, where it is one of several on a line, or a table of its own."""
    import tomlkit

    document = tomlkit.parse(text)
    *above, last = steps_of(change.name)
    holder: Any = document
    for step in above:
        holder = holder[step]
    if last in holder:
        del holder[last]
    return _commented(text, tomlkit.dumps(document))


def _commented(before: str, after: str) -> str | None:
    """The text as it was written, unless a comment went with it."""
    return after if comments_of(before) == comments_of(after) else None


# -------------------------------------------------------------------------------------------------------- whole tables


def _add(text: str, change: Add) -> str | None:
    statements, lines = statements_of(text), text.split("\n")
    fresh = [f"[[{change.name}]]", *(line for key, value in change.table.items() for line in line_of(key, value))]
    if last := _last(statements, change.name):
        place = block_of(statements, last, lines)
        if place is None:
            return None
        end = _trimmed(lines, place[1])
        return "\n".join([*lines[:end], "", *fresh, *lines[end:]])
    if any(one.name == change.name for one in statements):
        raise ConfigError(ONE_LINE.format(name=change.name))
    return _behind(text, fresh)


def _remove(text: str, change: Remove) -> str | None:
    lines = text.split("\n")
    place = block_of(statements_of(text), change.name, lines)
    return None if place is None else "\n".join([*lines[: place[0]], *lines[place[1] :]])


def _move(text: str, change: Move) -> str | None:
    lines, statements = text.split("\n"), statements_of(text)
    word, number = steps_of(change.name)
    other = f"{word}[{int(number) + 1 + change.by}]"
    places = [block_of(statements, name, lines) for name in (change.name, other)]
    if None in places:
        return None
    (first, first_end), (second, second_end) = sorted(place for place in places if place)
    if first_end > second:
        return None
    upper, lower = lines[first:first_end], lines[second:second_end]
    upper, lower = _as_long(upper, lower)
    return "\n".join([*lines[:first], *lower, *lines[first_end:second], *upper, *lines[second_end:]])


def _as_long(upper: list[str], lower: list[str]) -> tuple[list[str], list[str]]:
    """Both, each with the empty lines that stood behind the other: the last of a file has none."""
    return _bare(upper) + _blank(lower), _bare(lower) + _blank(upper)


def _bare(lines: list[str]) -> list[str]:
    return lines[: _trimmed(lines, len(lines))]


def _blank(lines: list[str]) -> list[str]:
    return lines[_trimmed(lines, len(lines)) :]


def _last(statements: Sequence[Statement], name: str) -> str:
    """The last table of the list `name`; empty for none."""
    found = [
        one.name for one in statements if one.is_list and one.name.startswith(f"{name}[") and one.name.endswith("]")
    ]
    return next((one for one in reversed(found) if "." not in one), "")


def _trimmed(lines: Sequence[str], end: int) -> int:
    while end and not lines[end - 1].strip():
        end -= 1
    return end


def _behind(text: str, lines: Sequence[str]) -> str:
    body = text.rstrip("\n")
    return "\n".join([*([body, ""] if body else []), *lines, ""])


# -------------------------------------------------------------------------------------------------------------- values


def line_of(key: str, value: object) -> Iterator[str]:
    """The lines of one pair."""
    import tomlkit

    document = tomlkit.document()
    document.add(_inner_key(key), written_of(value))
    yield from tomlkit.dumps(document).rstrip("\n").split("\n")


def _inner_key(key: str) -> Any:
    """`model.name` as a dotted key."""
    import tomlkit

    steps = [step.replace("·", ".") for step in key.split(".")]
    return tomlkit.key(steps) if len(steps) > 1 else steps[0]


def written_of(value: object) -> Any:
    """A value as TOML has it: tables on one line, long texts on several."""
    import tomlkit

    match value:
        case str() if "\n" in value:
            return _long_text(value)
        case dict():
            table = tomlkit.inline_table()
            for key, inner in value.items():
                table.add(key, written_of(inner))
            return table
        case list() | tuple():
            array = tomlkit.array()
            for inner in value:
                array.append(written_of(inner))
            return array
        case _:
            return tomlkit.item(value)


def _long_text(value: str) -> Any:
    """A text on several lines, where it can be read so; a sign that can't stand there has it on one."""
    import tomlkit
    from tomlkit.items import String, StringType, Trivia

    body = value.replace("\\", "\\\\").replace('"""', '""\\"').replace("\r", "\\r")
    body = f'{body[:-1]}\\"' if body.endswith('"') else body
    try:
        if tomllib.loads(f'it = """\n{body}"""')["it"] == value:
            return String(StringType.MLB, value, f"\n{body}", Trivia())
    except tomllib.TOMLDecodeError:
        pass
    return tomlkit.string(value)
