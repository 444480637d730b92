"""Typed conditions on one argument of a call: the `where` of a rule. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from runtime.contract import Json
from runtime.policy.shell_line import Command, base, read_line

MOST_OPTIONS: Final = 40
"""Words between a command and the next of the rule's; behind so many nobody can tell."""

NO_WORDS: Final = frozenset(";&|<>()$`\"'\\*?[]{}#\n\0")


class Matcher(Protocol):
    """A condition on an argument. What it cannot tell is no reason to allow, and one to ask or deny."""

    def surely(self, value: Json) -> bool:
        """Tell for an allow: it holds, and nothing else is in there."""

    def perhaps(self, value: Json) -> bool:
        """Tell for an ask or deny: it holds, or may."""


@dataclass(frozen=True, slots=True)
class Commands:
    """A shell line whose simple commands begin with one of `prefixes`, word by word."""

    prefixes: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        """The commands as a rule names them."""
        return ", ".join(" ".join(words) for words in self.prefixes)

    def surely(self, value: Json) -> bool:
        if not isinstance(value, str):
            return False
        line = read_line(value)
        return line.plain and line.clear and bool(line.commands) and all(map(self._begins, line.commands))

    def perhaps(self, value: Json) -> bool:
        if not isinstance(value, str):
            return value is not None
        line = read_line(value)
        return not line.clear or any(self._may_begin(command) for command in line.commands)

    def _begins(self, command: Command) -> bool:
        return any(command.words[: len(prefix)] == prefix for prefix in self.prefixes)

    def _may_begin(self, command: Command) -> bool:
        starts = range(len(command.words)) if command.runs else (0,)
        return any(_may_stand(prefix, command.words, start) for start in starts for prefix in self.prefixes)


def _may_stand(prefix: Sequence[str], words: Sequence[str | None], start: int) -> bool:
    """True if `prefix` may stand at `start`, options and one value each between its words: `git -C there push`."""
    first = words[start]
    if first is not None and first != prefix[0] and base(first) != prefix[0]:
        return False
    at, since = start + 1, 0
    for wanted in prefix[1:]:
        value = False
        while at < len(words) and (word := words[at]) is not None and word != wanted:
            option = word.startswith("-")
            if since == MOST_OPTIONS:
                return True
            if not option and not value:
                return False
            value, at, since = option, at + 1, since + 1
        if at == len(words):
            return False
        if words[at] is None:
            return True  # an expansion may be any number of words
        at += 1
    return True


def words_of(command: str) -> tuple[str, ...]:
    """The words of a command that a rule names. Errors: ValueError for what a shell would not take word by word."""
    words = tuple(command.split())
    if not words or NO_WORDS & set(command):
        raise ValueError('one command by its first words, without quotes or signs of the shell, such as "git status"')
    return words
