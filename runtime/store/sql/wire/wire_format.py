"""PostgreSQL's messages for prepared statements: what is asked in bytes, and what is answered in values.

Values travel as text, which the server reads as whatever a statement takes there; bytes alone go as they are.
Source: PostgreSQL 18, "Frontend/Backend Protocol", 54.2.3 and 54.7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from struct import Struct
from typing import Any, Final

Reader = Callable[[bytes], Any] | None
"""Of a text None: that case is so frequent that it is written out where rows are read."""

ROW, DONE, READY, ERROR, NOTICE, PARSED, COLUMNS, NO_COLUMNS = b"DCZEN1Tn"
SYNC: Final = b"S\0\0\0\x04"
EXECUTE: Final = b"E\0\0\0\x09\0\0\0\0\0"
DESCRIBE: Final = b"D\0\0\0\x06P\0"
TEXT_FORMAT: Final = b"\0\0"
"""Of all columns."""
NULL: Final = b"\xff\xff\xff\xff"
LENGTH: Final = Struct("!i").unpack_from
BYTEA: Final = 17
_size: Final = Struct("!I").pack
_count: Final = Struct("!H").pack


def _of_hex(value: bytes) -> bytes:
    return bytes.fromhex(value[2:].decode())


READERS: Final[Mapping[int, Reader]] = {
    16: lambda value: value == b"t",
    **dict.fromkeys((20, 21, 23, 26), int),
    **dict.fromkeys((18, 19, 25, 705, 1042, 1043, 2278), None),
    **dict.fromkeys((700, 701), float),
    1700: lambda value: Decimal(value.decode()),
    BYTEA: _of_hex,
}
"""By type: boolean; whole numbers; texts, with void; floats; numeric. Source: pg_type.dat."""


class Prepared:
    """A statement on one connection. `readers` are known when it ran once, and are for rows in its `formats`."""

    __slots__ = ("formats", "is_kept", "name", "portal", "readers")

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.portal = b"\0%b\0" % name  # of no name, of this statement
        self.is_kept = False
        self.readers: Sequence[Reader] | None = None
        self.formats = TEXT_FORMAT

    def described(self, types: Sequence[int]) -> Sequence[Reader]:
        """Readers for rows that come as text this time; from the next one on, bytes come as they are.

        Errors: TypeError for a type that no statement of ours has.
        """
        if unknown := [one for one in types if one not in READERS]:
            raise TypeError(f"no way to read a column of PostgreSQL's type {unknown[0]}")
        if BYTEA in types:
            self.formats = _count(len(types)) + b"".join(_count(one == BYTEA) for one in types)
        self.readers = [bytes if one == BYTEA else READERS[one] for one in types]
        return [READERS[one] for one in types]


def parse(name: bytes, sql: str) -> bytes:
    body = name + b"\0" + sql.encode() + b"\0\0\0"
    return b"P" + _size(len(body) + 4) + body


def bind(statement: Prepared, arguments: Sequence[Any]) -> bytes:
    count = _count(len(arguments))
    parts, formats = [statement.portal, TEXT_FORMAT, count], b""
    for one in arguments:
        kind = type(one)
        if kind is str:
            value = one.encode()
        elif kind is int:
            value = b"%d" % one
        elif one is None:
            parts.append(NULL)
            continue
        else:
            value = _told(one)
            formats = formats or (count if kind is bytes else b"")
        parts += (_size(len(value)), value)
    if formats:
        parts[1] = formats + b"".join([_count(type(one) is bytes) for one in arguments])
    parts.append(statement.formats)
    body = b"".join(parts)
    return b"B%b%b" % (_size(len(body) + 4), body)


def _told(value: object) -> bytes:
    match value:
        case str():
            return value.encode()
        case int():  # True and False too: 1 and 0 are what both a number and a boolean may be
            return b"%d" % value
        case bytes():
            return value
        case float() | Decimal():
            return str(value).encode()
        case _:
            raise TypeError(f"no way to tell PostgreSQL a {type(value).__name__}")


def row(body: bytes, at: int, readers: Sequence[Reader]) -> tuple[Any, ...]:
    """One row from the message that begins at `at`."""
    values: list[Any] = []
    at += 7
    for reader in readers:
        (length,) = LENGTH(body, at)
        at += 4
        if length < 0:
            values.append(None)
            continue
        value = body[at : at + length]
        at += length
        values.append(reader(value) if reader else value.decode())
    return tuple(values)


def types_of(message: bytes) -> list[int]:
    """Of each column in a description: its name ends with a zero, its type follows six bytes after."""
    types, at = [], 7
    for _ in range(int.from_bytes(message[5:7], "big")):
        end = message.index(0, at)
        types.append(int.from_bytes(message[end + 7 : end + 11], "big"))
        at = end + 19
    return types


def fields_of(message: bytes) -> dict[str, str]:
    """Of an error: its letters with what they say."""
    pieces = message[5:].split(b"\0")
    return {chr(piece[0]): piece[1:].decode(errors="replace") for piece in pieces if piece}
