"""A unit of systemd, read as systemd reads it: lines of NAME=VALUE under heads, of which a name may come again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

SPAN: Final = re.compile(r"(\d+)(min|s|)")
SECONDS: Final = {"min": 60, "s": 1, "": 1}


@dataclass(frozen=True)
class Line:
    section: str
    name: str
    value: str


class Unit:
    """`places` says what a specifier (%S), or the beginning of a path, stands for."""

    def __init__(self, path: Path, places: Mapping[str, str]) -> None:
        self.lines = list(_lines(path.read_text()))
        self._places = places

    def all(self, name: str) -> list[str]:
        return [self._moved(line.value) for line in self.lines if line.name == name]

    def one(self, name: str) -> str:
        (value,) = self.all(name)
        return value

    def words(self, name: str) -> list[str]:
        return [word for value in self.all(name) for word in shlex.split(value)]

    def variables(self) -> dict[str, str]:
        return dict(word.split("=", 1) for word in self.words("Environment"))

    def span(self, name: str) -> timedelta:
        found = SPAN.fullmatch(self.one(name))
        assert found, name
        return timedelta(seconds=int(found[1]) * SECONDS[found[2]])

    def _moved(self, value: str) -> str:
        for place, other in self._places.items():
            value = value.replace(place, other)
        assert not re.search(r"%[^%]", value), f"an unknown specifier in {value}"
        return value


def _lines(text: str) -> Iterator[Line]:
    section = ""
    for line in text.splitlines():
        if not line or line[0] in "#;":
            continue
        if head := re.fullmatch(r"\[(\w+)\]", line):
            section = head[1]
            continue
        name, sign, value = line.partition("=")
        assert sign, f"neither a head nor an assignment: {line}"
        assert section, f"before the first head: {line}"
        yield Line(section, name, value)
