"""The simple commands of a shell line, read without running anything. Pure.

The reading errs on the side of care. `plain` is only true of simple commands that are joined by `;`, `&&`, `||`, `|`, `&`,
new lines, subshells and substitutions. `clear` is only false where a command may hide: behind a variable, an `eval` of
one, or text that no shell grammar of ours explains.

Source: POSIX.1-2024, Shell Command Language, 2.2-2.10; bash 5.2 manual, 3.1-3.7. Read 2026-11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

LONGEST_LINE: Final = 50_000  # characters; a longer one is not clear
DEEPEST: Final = 20  # substitutions in substitutions, lines in words of lines

ORDINARY: Final = re.compile(r"""[^ \t\n"'\\$`;&|<>()]+""")
QUOTED: Final = re.compile(r"""[^"\\$`]+""")
VARIABLE_NAME: Final = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]", re.ASCII)
BRACED_NAME: Final = re.compile(r"\{#?(?:[A-Za-z_]\w*|[0-9@*#?$!-]+)\}", re.ASCII)
ARITHMETIC: Final = re.compile(r"""\(\((?:[^()`$'"\\]|\$(?=\w)|\([^()`$'"\\]*\))*\)\)""")
UNREADABLE: Final = re.compile(
    r"\(\(|\[|\{[ \t\n|(]"
)  # behind `$`: arithmetic that is not plain, bash's old one, commands
SUBSCRIPT: Final = re.compile(r"\w\[")  # up to its `]` no `#` and no `<<` means anything to bash
FUNCTION: Final = re.compile(r"\([ \t]*\)")
BACKQUOTED: Final = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
OPERATOR: Final = re.compile(r"\d*(?:<<<|<<-|<<|<>|<&|<|>>|>\||>&|>|&>>|&>)")
GOES_ON: Final = re.compile(r"[ \t]*(?:[^ \t\n;&|)#]|&>)")
ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=", re.ASCII)
HIDDEN: Final = "\0"  # stands for a quoted character or an expansion, where only unquoted ones have a meaning

KEYWORDS: Final = frozenset("if then else elif fi do done while until for select esac { } !".split())  # noqa: SIM905 - words of a grammar are read as words
"""Words of the grammar, after which a command may begin."""
SHELLS: Final = frozenset("sh bash dash ash zsh ksh mksh fish busybox".split())  # noqa: SIM905
RUNNERS: Final = SHELLS | frozenset(
    (  # noqa: SIM905
        "env command exec builtin nohup sudo doas su runuser setpriv nice ionice chrt taskset timeout setsid stdbuf unbuffer "
        "xargs parallel watch time coproc flock chroot unshare nsenter ssh script strace ltrace gdb setarch linux32 linux64 "
        "systemd-run prlimit eatmydata faketime fakeroot entr bwrap eval trap"
    ).split()
)
"""Commands that run the words behind them."""
SEARCHES: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
"""Words of `find` behind which a command stands."""


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command. A word is None where only running tells it.

    `runs`: behind its first word another command may stand at any place, as in `sudo -u ada git push`.
    """

    words: tuple[str | None, ...]
    runs: bool = False


@dataclass(frozen=True, slots=True)
class ShellLine:
    """`plain`: its effects are those of its commands alone. `clear`: all commands are known."""

    commands: tuple[Command, ...]
    plain: bool
    clear: bool


@lru_cache(maxsize=8)  # each rule of a policy asks about the same line
def read_line(text: str) -> ShellLine:
    """Read the simple commands of `text`, in the order in which they end."""
    if len(text) > LONGEST_LINE:
        return ShellLine((), plain=False, clear=False)
    reader = _Reader(text)
    reader.commands()
    return ShellLine(tuple(reader.found), reader.plain, reader.clear)


def is_expanded(shape: str) -> bool:
    """True for a word of which only running tells what it stands for. Each sign is looked at once.

    >>> is_expanded("a*"), is_expanded("{a,b}"), is_expanded("{1..3}"), is_expanded("a}{b,c")
    (True, True, True, False)
    """
    if "*" in shape or "?" in shape or 0 <= shape.find("[") < shape.rfind("]"):
        return True
    inside = shape[shape.find("{") + 1 : shape.rfind("}")] if 0 <= shape.find("{") < shape.rfind("}") else ""
    return "," in inside or ".." in inside


@dataclass(frozen=True, slots=True)
class _Word:
    text: str | None
    assigns: bool = False


@dataclass
class _Reader:
    """One pass over `text`; `at` is how far it got."""

    text: str
    depth: int = 0
    at: int = 0
    plain: bool = True
    clear: bool = True
    found: list[Command] = field(default_factory=list)
    awaited: list[tuple[str, bool]] = field(default_factory=list)  # ends of here-documents; whether they are expanded

    def commands(self, end: str = "") -> None:
        """Read commands until `end`, or the end of the text."""
        words: list[_Word] = []
        while self.at < len(self.text):
            if end and self._skips(end):
                self._close(words)
                return
            self._next(words)
        self._close(words)
        self.clear &= not end

    def _next(self, words: list[_Word]) -> None:
        """Read one word, operator or blank."""
        char = self.text[self.at]
        if self._skips(" ") or self._skips("\t") or self._skips("\\\n"):
            return
        if char == "#":
            self._looks_past_subscripts()
            self._comment()
        elif self._substitutes_a_file():
            words.append(_Word(None))
        elif redirection := OPERATOR.match(self.text, self.at):
            self._redirection(redirection)
        elif char in "\n;&|":
            self.at += 1
            self._close(words)
            if char == "\n":
                self._here_documents()
        elif char in "()":
            self._parenthesis(words)
        else:
            words.append(self._word())

    def _skips(self, expected: str) -> bool:
        if self.text.startswith(expected, self.at):
            self.at += len(expected)
            return True
        return False

    def _substitutes_a_file(self) -> bool:
        """Read `<(…)` or `>(…)`, if one is here."""
        if not (self._skips("<(") or self._skips(">(")):
            return False
        self.plain = False
        self._nested(")")
        return True

    def _looks_past_subscripts(self) -> None:
        """Before text that is left out: where an array's subscript may go on, bash reads it otherwise."""
        if SUBSCRIPT.search(self.text, 0, self.at):
            self.clear = self.plain = False

    def _comment(self) -> None:
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _parenthesis(self, words: list[_Word]) -> None:
        arithmetic = ARITHMETIC.match(self.text, self.at) if words else None
        if arithmetic:  # for ((…)); alone it is a subshell in a subshell to some shells
            self.plain = False
            self.at = arithmetic.end()
        elif function := FUNCTION.match(self.text, self.at):
            self.plain = False  # a function: from here on its name means something else
            self.at = function.end()
            words.clear()
        else:
            # Two of them are arithmetic to bash, in which `#` begins no comment, and subshells to others.
            self.clear &= self.text[self.at] == "(" and not words and not self.text.startswith("((", self.at)
            self._close(words)
            opens = self.text[self.at] == "("
            self.at += 1
            if opens:
                self._nested(")")

    def _nested(self, end: str) -> None:
        """Read the commands of a subshell or substitution. One that is too deep is not clear."""
        if self.depth >= DEEPEST:
            self.clear = self.plain = False
            self.at = len(self.text)
            return
        awaited, self.awaited = self.awaited, []
        self.depth += 1
        self.commands(end)
        self.depth -= 1
        self.awaited = awaited

    def _inner(self, text: str, *, counts: bool = True) -> None:
        """Read a line that stands in a word. `counts`: it is certain that it runs."""
        if self.depth >= DEEPEST:
            self.clear = self.plain = False
            return
        reader = _Reader(text, self.depth + 1)
        reader.commands()
        self.found += reader.found
        self.plain &= reader.plain
        self.clear &= reader.clear or not counts

    # ------------------------------------------------------------------------------------------------- redirections

    def _redirection(self, operator: re.Match[str]) -> None:
        self.at = operator.end()
        kind = operator[0].lstrip("0123456789")
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        if self._substitutes_a_file():
            return
        if self.at >= len(self.text) or self.text[self.at] in "\n;&|<>()":
            self.clear = self.plain = False
            return
        began = self.at
        target = self._word().text
        if kind in ("<<", "<<-"):
            self.plain = False
            self._looks_past_subscripts()
            self.awaited.append((target or "", not set("\"'\\") & set(self.text[began : self.at])))
            self.clear &= target is not None
        elif kind.startswith("&>") and GOES_ON.match(self.text, self.at):
            self.clear = self.plain = False  # to `dash` the command ended at `&`, and what follows is another one
        elif target != "/dev/null" and not (kind in (">&", "<&") and target and re.fullmatch(r"[0-9]|-", target)):
            self.plain = False

    def _here_documents(self) -> None:
        awaited, self.awaited = self.awaited, []
        for end, expanded in awaited:
            body: list[str] = []
            while self.at < len(self.text):
                stop = self.text.find("\n", self.at)
                line = self.text[self.at : stop if stop >= 0 else len(self.text)]
                self.at += len(line) + 1
                if line.lstrip("\t") == end:
                    break
                body.append(line)
            else:
                self.clear = False
            if expanded:
                inside = _Reader("\n".join(body), self.depth + 1)
                inside._expansions()
                self.found += inside.found
                self.clear &= inside.clear

    def _expansions(self) -> None:
        """Read text in which quotes mean nothing."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\":
                self.at += 2
            elif char == "$":
                self._dollar()
            elif char == "`":
                self._backquoted()
            else:
                self.at += 1

    # --------------------------------------------------------------------------------------------------------- words

    def _word(self) -> _Word:
        text, seen, known = [], [], True
        while self.at < len(self.text):
            char = self.text[self.at]
            if ordinary := ORDINARY.match(self.text, self.at):
                self.at = ordinary.end()
                text.append(ordinary[0])
                seen.append(ordinary[0])
                continue
            if char not in "\"'\\$`":
                break
            piece = self._piece(char)
            known &= piece is not None
            text.append(piece or "")
            seen.append(HIDDEN if piece is None or piece else "")
        shape = "".join(seen)
        return _Word("".join(text) if known and not is_expanded(shape) else None, bool(ASSIGNMENT.match(shape)))

    def _piece(self, char: str) -> str | None:
        """Read what is quoted, escaped or expanded; None where only running tells it."""
        match char:
            case "'":
                return self._single()
            case '"':
                return self._double()
            case "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                self.clear &= bool(escaped)
                self.at += 2
                return "" if escaped == "\n" else escaped
            case "`":
                return self._backquoted()
            case _:
                return self._dollar(quotes=True)

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        self.clear &= end >= 0
        end = len(self.text) if end < 0 else end
        inside = self.text[self.at + 1 : end]
        self.at = end + 1
        return inside

    def _double(self) -> str | None:
        text: list[str] = []
        known = True
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                self.at += 1
                return "".join(text) if known else None
            if ordinary := QUOTED.match(self.text, self.at):
                self.at = ordinary.end()
                text.append(ordinary[0])
            elif char == "\\":
                text.append(self._escaped())
            else:
                piece = self._backquoted() if char == "`" else self._dollar()
                known &= piece is not None
                text.append(piece or "")
        self.clear = False
        return None

    def _escaped(self) -> str:
        """Read a backslash between double quotes."""
        pair = self.text[self.at : self.at + 2]
        self.at += 2
        if pair == "\\\n":
            return ""
        return pair[1:] if pair[1:] in ("$", "`", '"', "\\") else pair

    def _backquoted(self) -> str | None:
        inside = BACKQUOTED.match(self.text, self.at)
        if inside is None:
            self.clear = self.plain = False
            self.at = len(self.text)
            return None
        self.at = inside.end()
        self._inner(re.sub(r"\\([$`\\])", r"\1", inside[1]))
        return None

    def _dollar(self, *, quotes: bool = False) -> str | None:
        """Read an expansion. With `quotes`, a quote behind the sign belongs to it."""
        self.at += 1
        if arithmetic := ARITHMETIC.match(self.text, self.at):
            self.plain = False
            self.at = arithmetic.end()
            return None
        if UNREADABLE.match(self.text, self.at):
            self.clear = self.plain = False
        if self._skips("("):
            self._nested(")")
        elif name := BRACED_NAME.match(self.text, self.at) or VARIABLE_NAME.match(self.text, self.at):
            self.at = name.end()
        elif self._skips("{"):
            self.plain = False
            self._braced(quotes=quotes)
        elif quotes and self.text.startswith("'", self.at):
            self.plain = False
            self.clear &= "\\" not in self._single()  # where it ends, shells differ
        elif quotes and self.text.startswith('"', self.at):
            self.plain = False
            self._double()
        else:
            return "$"
        return None

    def _braced(self, *, quotes: bool) -> None:
        """Read the rest of `${…}`, whose default may hold substitutions."""
        self.depth += 1
        self._braced_words(quotes=quotes)
        self.depth -= 1

    def _braced_words(self, *, quotes: bool) -> None:
        while self.depth < DEEPEST and self.at < len(self.text):
            char = self.text[self.at]
            if self._skips("}"):
                return
            self.clear &= quotes or char != "'"  # between double quotes it quotes for bash, and is a letter to dash
            if char in "\"'\\$`":
                self._piece(char)
            else:
                self.at += 1
        self.clear = False

    # ------------------------------------------------------------------------------------------------ what it says

    def _close(self, words: list[_Word]) -> None:
        """End a simple command."""
        rest = list(self._begun(words))
        words.clear()
        if not rest:
            return
        first, *others = rest
        self.clear &= first is not None
        name = base(first or "")
        runs = name in RUNNERS or bool(name == "find" and SEARCHES & set(others))
        self.plain &= not runs and name not in ("source", ".", "alias", "case", "[[")
        hides = (name in ("source", ".") and None in others) or (name == "alias" and bool(others))
        self.clear &= name != "case" and not hides
        self.found.append(Command((first, *others), runs))
        if runs:
            self._lines_in(name, others)

    def _begun(self, words: Sequence[_Word]) -> Iterator[str | None]:
        """Leave out the grammar's words and the assignments before a command."""
        before = iter(words)
        for word in before:
            if word.text == "function":
                next(before, None)
            elif word.text not in KEYWORDS and not word.assigns:
                yield word.text
                yield from (other.text for other in before)
                return
            self.plain = False

    def _lines_in(self, name: str, words: Sequence[str | None]) -> None:
        """Read the words of a runner that are lines themselves, as in `sh -c "git push"`."""
        surely = name == "eval" or (
            name in SHELLS and any((word or "").startswith("-") and "c" in (word or "") for word in words)
        )
        stdin = name in SHELLS and all((word or "-").startswith("-") and word is not None for word in words)
        self.clear &= not stdin and not (surely and None in words)
        if name == "eval":
            self._inner(" ".join(word or "" for word in words))
            return
        for word in words:
            if word and re.search(r"[\s;&|$`()]", word):
                self._inner(word, counts=surely)


def base(word: str) -> str:
    """The name of a program, its folder left out."""
    return word.rpartition("/")[2]
