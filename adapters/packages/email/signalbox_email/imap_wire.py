"""Answers of an IMAP server, from bytes to values.

An answer is a line in which `{n}` announces n bytes of anything. It is read into pieces: text, bytes, text, …; and those into
atoms, strings (bytes) and lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from signalbox_email.errors import Away

LITERAL: Final = re.compile(rb"\{(\d{1,12})\+?\}$")
TOKEN: Final = re.compile(rb'\(|\)|"(?:[^"\\]|\\.)*"|(?:[^\s()"\[]|\[[^\]]*\])+')
DEPTH_MOST: Final = 30

Value = str | bytes | None | list["Value"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: `tag` is `*`, `+` or that of a command; `word` what it is (`OK`, `FETCH`), in capitals; `number` what stands before it."""

    tag: str
    word: str
    number: int
    rest: Sequence[bytes]

    @property
    def text(self) -> str:
        return b"".join(self.rest[::2]).decode("utf-8", "replace").strip()


def answer_of(pieces: Sequence[bytes]) -> Answer:
    """`pieces`: text and literals in turn. Errors: Away for what no server says."""
    tag, _, rest = pieces[0].partition(b" ")
    if tag == b"+":
        return Answer("+", "", 0, [rest, *pieces[1:]])
    word, _, more = rest.partition(b" ")
    number = 0
    if word.isdigit() and len(word) < 12:
        number = int(word)
        word, _, more = more.partition(b" ")
    if not tag or not word:
        raise Away(f"the server says what isn't IMAP: {pieces[0][:80]!r}")
    return Answer(tag.decode("ascii", "replace"), word.decode("ascii", "replace").upper(), number, [more, *pieces[1:]])


def values(pieces: Sequence[bytes]) -> list[Value]:
    """The values of an answer's rest. Errors: Away."""
    stack: list[list[Value]] = [[]]
    for token in _tokens(pieces):
        if token == b"(":
            if len(stack) > DEPTH_MOST:
                raise Away("the server nests its answer too deep")
            stack.append([])
        elif token == b")":
            if len(stack) == 1:
                raise Away("the server closes a list that it never opened")
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(_value(token))
    if len(stack) != 1:
        raise Away("the server's answer ends in the middle of a list")
    return stack[0]


def _tokens(pieces: Sequence[bytes]) -> Iterator[bytes | Value]:
    for number, piece in enumerate(pieces):
        if number % 2:
            yield [piece]  # a literal, told from a token by its list
        else:
            yield from TOKEN.findall(LITERAL.sub(b"", piece) if number < len(pieces) - 1 else piece)


def _value(token: bytes | Value) -> Value:
    match token:
        case [bytes(literal)]:
            return literal
        case bytes() if token.startswith(b'"'):
            return re.sub(rb"\\(.)", rb"\1", token[1:-1], flags=re.DOTALL)
        case bytes():
            text = token.decode("ascii", "replace")
            return None if text.upper() == "NIL" else text
        case _:
            return token


def pairs(found: Value) -> dict[str, Value]:
    """The items of a FETCH, by their names in capitals."""
    if not isinstance(found, list):
        return {}
    names = (str(name).upper() for name in found[::2])
    return dict(zip(names, found[1::2], strict=False))
