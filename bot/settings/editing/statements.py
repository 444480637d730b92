"""A settings file as its statements: which lines hold which setting, so that everything else can stay as it is."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

QUOTES: Final = ('"""', "'''")
"""Begin and end long texts; only in the first kind a backslash means something."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A header or a pair, with its lines counted from 0, the last one included.

    `name` is the setting as settings name it, `policy[2].tool`, and `table` the one whose header stands above. Of a header
    both are the table that it opens.
    """

    name: str
    table: str
    first: int
    last: int
    is_header: bool = False
    is_list: bool = False
    holds: tuple[str, ...] = ()
    """Settings within it, where it is a table on one line."""

    @property
    def key(self) -> str:
        """The name within its table."""
        return self.name.removeprefix(f"{self.table}.") if self.table else self.name


def statements_of(text: str) -> list[Statement]:
    """All statements, in order. Errors: TOMLDecodeError for what is no TOML."""
    tomllib.loads(text)
    found: list[Statement] = []
    table, counts = "", Counter[str]()
    for first, last, written in _pieces(text.split("\n")):
        read = tomllib.loads(written)
        if written.lstrip().startswith("["):
            steps = list(_steps_of_header(read))
            is_list = written.lstrip().startswith("[[")
            table = _named(steps, counts, is_new=is_list)
            found.append(Statement(table, table, first, last, is_header=True, is_list=is_list))
        else:
            name, *within = _names(written, read, table)
            found.append(Statement(name, table, first, last, holds=tuple(within)))
    return found


def lines_of(text: str) -> Mapping[str, int]:
    """The line of each setting and table, counted from 1. What stands in a table on one line has the line of that."""
    found: dict[str, int] = {}
    for one in statements_of(text):
        for name in (one.name, *one.holds):
            found.setdefault(name, one.first + 1)
    return found


def block_of(statements: Sequence[Statement], name: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """First line, and the line behind the last, of the table `policy[2]` with the comments that stand right above it."""
    places = [number for number, one in enumerate(statements) if one.is_header and one.is_list and one.name == name]
    if len(places) != 1:
        return None
    begin = places[0]
    rest = statements[begin + 1 :]
    following = next((one for one in rest if one.is_header and not one.name.startswith(f"{name}.")), None)
    end = above(following.first, lines) if following else len(lines)
    return above(statements[begin].first, lines), end


def own_end(statements: Sequence[Statement], table: str) -> int | None:
    """The line behind the last pair of `table` under its own header; None for a table without a header."""
    own = [one for one in statements if table and one.table == table]
    heads = [one for one in own if one.is_header]
    return max(one.last for one in own) + 1 if len(heads) == 1 else None


def above(line: int, lines: Sequence[str]) -> int:
    """The first of the comment lines right above `line`."""
    while line and lines[line - 1].lstrip().startswith("#"):
        line -= 1
    return line


def comments_of(text: str) -> list[str]:
    """Lines that are comments and nothing else, in order."""
    lines, taken = text.split("\n"), set[int]()
    for one in statements_of(text):
        taken.update(range(one.first, one.last + 1))
    return [line for number, line in enumerate(lines) if number not in taken and line.strip()]


def _pieces(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Each statement with its lines: the fewest that can be read."""
    first = 0
    while first < len(lines):
        if not lines[first].strip() or lines[first].lstrip().startswith("#"):
            first += 1
            continue
        last = _end_of(lines, first)
        yield first, last, "\n".join(lines[first : last + 1])
        first = last + 1


def _end_of(lines: Sequence[str], first: int) -> int:
    """The last line of the statement that begins at `first`: where no text and no bracket is open."""
    opened, depth = "", 0
    for last in range(first, len(lines)):
        opened, depth = _read_on(lines[last], opened, depth)
        if not opened and depth <= 0:
            return last
    return len(lines) - 1


def _read_on(line: str, opened: str, depth: int) -> tuple[str, int]:
    """The long text that is open behind `line`, if any, and how many brackets are."""
    at = 0
    while at < len(line):
        if opened:
            at, is_closed = _in_long_text(line, at, opened)
            opened = "" if is_closed else opened
            continue
        match line[at]:
            case "#":
                break
            case '"' | "'" if line.startswith((line[at] * 3), at):
                opened, at = line[at] * 3, at + 3
            case '"' | "'":
                at = _behind_text(line, at)
            case sign:
                depth += (sign in "[{") - (sign in "]}")
                at += 1
    return opened, depth


def _in_long_text(line: str, at: int, quotes: str) -> tuple[int, bool]:
    """The place to read on in a long text, and whether it ended before. Two more quotes at its end are part of it."""
    if line.startswith(quotes, at):
        end = at + 3
        while end < min(len(line), at + 5) and line[end] == quotes[0]:
            end += 1
        return end, True
    return at + (2 if line[at] == "\\" and quotes == QUOTES[0] else 1), False


def _behind_text(line: str, at: int) -> int:
    """The place behind a text on one line."""
    quote, at = line[at], at + 1
    while at < len(line) and line[at] != quote:
        at += 2 if line[at] == "\\" and quote == '"' else 1
    return at + 1


def _steps_of_header(read: Mapping[str, Any]) -> Iterator[str]:
    value: Any = read
    while isinstance(value, dict) and value:
        (key, value) = next(iter(value.items()))
        yield _plain(key)
        if isinstance(value, list):
            value = value[0] if value else {}


def _named(steps: Sequence[str], counts: Counter[str], *, is_new: bool) -> str:
    """The table as settings name it: lists that are above it by their newest number."""
    name = ""
    for number, step in enumerate(steps, 1):
        name = f"{name}.{step}" if name else step
        if is_new and number == len(steps):
            counts[name] += 1
        if counts[name]:
            name = f"{name}[{counts[name]}]"
    return name


def _names(written: str, read: Mapping[str, Any], table: str) -> Iterator[str]:
    """The setting of a pair, then those in it where it is a table."""
    name, value = table, read
    for key in _keys(written):
        value = value[key]
        name = f"{name}.{_plain(key)}" if name else _plain(key)
    yield name
    yield from _within(value, name)


def _keys(written: str) -> list[str]:
    """The steps of the key before the equals sign: `model.name` are two. A quoted key may hold such a sign."""
    at = written.find("=")
    while at >= 0:
        try:
            read: Any = tomllib.loads(f"{written[:at]}= 0")
        except tomllib.TOMLDecodeError:
            at = written.find("=", at + 1)
            continue
        steps = []
        while isinstance(read, dict):
            key, read = next(iter(read.items()))
            steps.append(key)
        return steps
    return []


def _within(value: Any, name: str) -> Iterator[str]:
    match value:
        case dict():
            for key, inner in value.items():
                yield f"{name}.{_plain(key)}"
                yield from _within(inner, f"{name}.{_plain(key)}")
        case list() if value and all(isinstance(one, dict) for one in value):
            for number, inner in enumerate(value, 1):
                yield f"{name}[{number}]"
                yield from _within(inner, f"{name}[{number}]")


def _plain(key: str) -> str:
    """A key as layers of settings write it, where a dot parts tables."""
    return key.replace(".", "·")
