"""A price list that stays on the disk: rows are read when they are asked for.

LiteLLM parses the list of all models and keeps it twice, some 20 MB, of which a process uses a row or two.
"""

from __future__ import annotations

import json
import os
from collections.abc import ItemsView, Iterator, MutableMapping
from pathlib import Path
from typing import Any, Final

Row = dict[str, Any]

SPACE: Final = " \t\r\n"
LENGTH_BITS: Final = 24


class PriceFile:
    """Places of rows in a JSON file of `{"model": {…}, …}`.

    It stays open, so that an upgrade which puts another file in its place changes nothing for this process.
    """

    def __init__(self, path: Path) -> None:
        """Errors: ValueError where it is no such file; OSError."""
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.places: Final = dict(places(path.read_text(encoding="utf-8")))

    def __del__(self) -> None:
        os.close(self._file)

    def row(self, place: int) -> Row:
        """Errors: ValueError where the file was changed in place."""
        found = json.loads(os.pread(self._file, place & ((1 << LENGTH_BITS) - 1), place >> LENGTH_BITS))
        if not isinstance(found, dict):
            raise ValueError("a row of the price list is no object")
        return found


def places(text: str) -> Iterator[tuple[str, int]]:
    """Each name with the offset and the length of its row, in bytes and in one number. Errors: ValueError."""
    decode = json.JSONDecoder().raw_decode
    at, offset, behind = _next(text, 0, "{"), 0, 0
    while text[at : at + 1] != "}":
        name, at = decode(text, at)
        if not isinstance(name, str):
            raise ValueError(f"the price list has no name at {at}")
        begin = _skipped(text, _next(text, at, ":"))
        row, end = decode(text, begin)
        if not isinstance(row, dict):
            raise ValueError(f"the row of {name} is no object")
        offset += len(text[behind:begin].encode())
        length = len(text[begin:end].encode())
        yield name, offset << LENGTH_BITS | length
        offset, behind, at = offset + length, end, _skipped(text, end)
        if text[at : at + 1] != "}":
            at = _next(text, at, ",")


def _next(text: str, at: int, mark: str) -> int:
    """The place of what follows `mark`, which comes next. Errors: ValueError."""
    at = _skipped(text, at)
    if text[at : at + 1] != mark:
        raise ValueError(f"the price list has no {mark} at {at}")
    return _skipped(text, at + 1)


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in SPACE:
        at += 1
    return at


class Prices(MutableMapping[str, Row]):
    """The list as LiteLLM uses it: a dict of rows. A row that was asked for is kept, and what is changed stays changed."""

    def __init__(self, file: PriceFile) -> None:
        self._file = file
        self._places = dict(file.places)
        self._rows: dict[str, Row] = {}

    def __getitem__(self, name: str) -> Row:
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = self._file.row(self._places[name])
        return row

    def __setitem__(self, name: str, row: Row) -> None:
        self._places.setdefault(name, 0)
        self._rows[name] = row

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._rows.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def items(self) -> ItemsView[str, Row]:
        return Rows(self)

    def passing(self, name: str) -> Row:
        """The row, not kept: for those who walk through all."""
        return self._rows.get(name) or self._file.row(self._places[name])


class Rows(ItemsView[str, Row]):
    """All rows, each read as it is reached."""

    _mapping: Prices

    def __iter__(self) -> Iterator[tuple[str, Row]]:
        for name in self._mapping:
            yield name, self._mapping.passing(name)
