"""Patterns of arguments: how far a grant reaches. Pure.

A pattern has a condition for each argument of the call that it was made from, and fits no call with further ones. People
read and write it as lines:

    command = git status *      these words of a shell line, and any behind them
    path = notes/*              a text that begins so
    content = *                 anything
    mode = (as asked)           the value of the call that was asked about, however long
    limit = 5                   this value
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.contract import Effect, Json
from runtime.policy.matchers import words_of
from runtime.policy.shell_line import RUNNERS, ShellLine, base, read_line
from runtime.text.words import marked

SHELL_LINES: Final[Mapping[str, str]] = {"shell": "command", "process_start": "command"}
"""The argument of each tool that is a shell line."""
ANY: Final = "*"
AS_ASKED: Final = marked("(as asked)")
LONGEST_SHOWN: Final = 200
"""Characters of a value that a line shows; a longer one is told as `AS_ASKED`, or left open where that may be."""

INTERPRETER: Final = re.compile(r"(?:python|perl|ruby|node|deno|bun|php|lua|awk|gawk|mawk|tclsh|find)[\d.]*")
"""Commands that do anything, by what stands behind them."""
CLIMBS: Final = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)")
OPEN_HOST: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*\*")


@dataclass(frozen=True, slots=True)
class Exactly:
    """This value, whatever the order of names in it."""

    value: Json

    def fits(self, value: Json) -> bool:
        return canonical(value) == canonical(self.value)

    def __str__(self) -> str:
        """As a line of a pattern writes it."""
        told = canonical(self.value)
        if isinstance(self.value, str) and self.value == self.value.strip() and not READS_OTHERWISE.search(self.value):
            told = self.value or told
        return told if told.isprintable() else json.dumps(self.value)


READS_OTHERWISE: Final = re.compile(r'^["\[{(]|\*|^(?:true|false|null|-?\d)')
"""Texts that a pattern would not read as themselves."""


@dataclass(frozen=True, slots=True)
class Like:
    """A text that `glob` fits: `*` is any letters. One that climbs out of its folder, or hides something, never does."""

    glob: str

    def fits(self, value: Json) -> bool:
        if not isinstance(value, str) or not value.isprintable() or CLIMBS.search(value):
            return False
        begin, *more = self.glob.split(ANY)
        if not more:
            return value == begin
        *between, end = more
        if not (value.startswith(begin) and value.endswith(end) and len(value) >= len(begin) + len(end)):
            return False
        at, last = len(begin), len(value) - len(end)
        for piece in between:  # the first place of each: one pattern of all of them may try for hours
            found = value.find(piece, at, last)
            if found < 0:
                return False
            at = found + len(piece)
        return True

    def __str__(self) -> str:
        return self.glob


@dataclass(frozen=True, slots=True)
class Words:
    """A shell line: each of its commands is these words, with `more` only the first ones, and nothing else is in it."""

    first: tuple[str, ...]
    more: bool = False

    def fits(self, value: Json) -> bool:
        line = read_line(value) if isinstance(value, str) else UNREAD
        return line.plain and line.clear and bool(line.commands) and all(self._is(one.words) for one in line.commands)

    def _is(self, words: Sequence[str | None]) -> bool:
        return tuple(words[: len(self.first)]) == self.first and (self.more or len(words) == len(self.first))

    def __str__(self) -> str:
        return " ".join([*self.first, *[ANY] * self.more])


UNREAD: Final = ShellLine((), plain=False, clear=False)


@dataclass(frozen=True, slots=True)
class Anything:
    """Any value, or none."""

    def fits(self, value: Json) -> bool:
        return True

    def __str__(self) -> str:
        return ANY


Condition = Exactly | Like | Words | Anything


@dataclass(frozen=True, slots=True)
class Pattern:
    """Conditions by the names of arguments."""

    conditions: Mapping[str, Condition]

    def fits(self, arguments: Mapping[str, Json]) -> bool:
        """True if each argument is named here and each condition holds."""
        if arguments.keys() - self.conditions.keys():
            return False
        return all(
            condition.fits(arguments[name]) if name in arguments else isinstance(condition, Anything)
            for name, condition in self.conditions.items()
        )

    def lines(self) -> str:
        """The pattern as people write it; long values are told as those of the call."""
        return "\n".join(f"{name} = {_shown(condition)}" for name, condition in self.conditions.items())

    def brief(self) -> str:
        """The pattern in one line; the bare words where the call is one shell line."""
        only = next(iter(self.conditions.values())) if len(self.conditions) == 1 else None
        return str(only) if isinstance(only, Words) else "; ".join(self.lines().splitlines()) or "no arguments"

    def to_json(self) -> str:
        return json.dumps({name: _written(one) for name, one in self.conditions.items()}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Pattern:
        return cls({name: _read(written) for name, written in json.loads(text).items()})


def canonical(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def exactly(arguments: Mapping[str, Json]) -> Pattern:
    """These arguments and no others."""
    return Pattern({name: Exactly(value) for name, value in arguments.items()})


def suggested(tool: str, effect: Effect, arguments: Mapping[str, Json]) -> Pattern:
    """A pattern to begin with: the call as it is, a shell line by its words. Long texts of a write are left open."""
    return Pattern({name: _suggested(tool, effect, name, value) for name, value in arguments.items()})


def _suggested(tool: str, effect: Effect, name: str, value: Json) -> Condition:
    if SHELL_LINES.get(tool) == name and isinstance(value, str):
        line = read_line(value)
        words = line.commands[0].words if len(line.commands) == 1 and line.plain and line.clear else ()
        known = tuple(word for word in words if word is not None)
        return Words(known) if known and len(known) == len(words) and _is_wordy(known) else Exactly(value)
    return Anything() if effect is Effect.WRITE and len(canonical(value)) > LONGEST_SHOWN else Exactly(value)


def _is_wordy(words: Sequence[str]) -> bool:
    """True if the words, written side by side, are read as the same words."""
    try:
        return words_of(" ".join(words)) == tuple(words)
    except ValueError:
        return False


# ------------------------------------------------------------------------------------------------- as people write it


def read_pattern(text: str, tool: str, effect: Effect, arguments: Mapping[str, Json]) -> Pattern | list[str]:
    """The pattern in `text`, made from a call with `arguments`; or all that is wrong with it, in words."""
    conditions: dict[str, Condition] = {}
    faults: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        name, sign, written = (piece.strip() for piece in line.partition("="))
        if not sign:
            faults.append(f"“{line[:60]}” isn't a pattern. Write name = value.")
        elif name not in arguments:
            faults.append(f"This call has no argument {name[:60]!r}.")
        elif name in conditions:
            faults.append(f"{name} is given twice.")
        else:
            try:
                conditions[name] = _condition(tool, effect, name, written, arguments[name])
            except ValueError as error:
                faults.append(f"{name}: {error}")
                conditions[name] = Anything()
    missing = [name for name in arguments if name not in conditions]
    faults += [f"{name} is missing. Give its value, or {AS_ASKED}." for name in missing]
    return faults or Pattern(conditions)


def _condition(tool: str, effect: Effect, name: str, written: str, asked: Json) -> Condition:
    """Errors: ValueError says in words what is wrong."""
    if written == AS_ASKED:
        return Exactly(asked)
    if written == ANY:
        if effect is not Effect.WRITE:
            raise ValueError(marked("a dangerous call can't be allowed with * alone."))
        return Anything()
    if written.startswith('"') or not isinstance(asked, str):
        return Exactly(_value(written))
    if SHELL_LINES.get(tool) == name:
        return _words(written)
    if ANY not in written:
        return Exactly(written)
    if effect is not Effect.WRITE:
        raise ValueError(marked("the pattern of a dangerous call can't contain *."))
    if OPEN_HOST.match(written):
        raise ValueError(marked("put a / after the host name, before the *."))
    return Like(written)


def _value(written: str) -> Json:
    try:
        found: Json = json.loads(written)
    except (ValueError, RecursionError):
        raise ValueError(marked("{written} isn't valid JSON.").format(written=repr(written[:60]))) from None
    return found


def _words(written: str) -> Words:
    more = written.endswith(f" {ANY}")
    try:
        words = words_of(written.removesuffix(ANY) if more else written)
    except ValueError:
        raise ValueError(
            marked("write the first words of one plain command, with * at the end, or {as_asked}.").format(
                as_asked=AS_ASKED
            )
        ) from None
    name = base(words[0])
    if name in RUNNERS:
        raise ValueError(marked("{name} runs other commands, so a pattern can't allow it.").format(name=name))
    if more and INTERPRETER.fullmatch(name):
        raise ValueError(marked("{name} can do anything, so it can't be followed by *.").format(name=name))
    return Words(words, more)


def _shown(condition: Condition) -> str:
    written = str(condition)
    return written if len(written) <= LONGEST_SHOWN else AS_ASKED


# ------------------------------------------------------------------------------------------------------- as it is kept


def _written(condition: Condition) -> Mapping[str, Json]:
    match condition:
        case Exactly(value):
            return {"is": value}
        case Like(glob):
            return {"like": glob}
        case Words(first, more):
            return {"words": list(first), "more": more}
        case Anything():
            return {}


def _read(written: Mapping[str, Json]) -> Condition:
    match written:
        case {"is": value}:
            return Exactly(value)
        case {"like": str(glob)}:
            return Like(glob)
        case {"words": list(words), "more": bool(more)}:
            return Words(tuple(map(str, words)), more)
        case {}:
            return Anything()
        case _:
            raise ValueError(marked("no condition of ours: {written}").format(written=repr(written)))
