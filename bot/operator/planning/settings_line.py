"""Place of a schedule in the settings file, for whoever wants to change it there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

TABLE_HEAD: Final = re.compile(r"\s*\[{1,2}\s*(?P<table>[^\]]+?)\s*\]{1,2}\s*(?:#.*)?")
NAME_LINE: Final = re.compile(r"\s*name\s*=.*")


def line_of(file: Path | None, name: str) -> str:
    """`file:line` where the schedule `name` is named; the file alone where no line says so, empty where there is none."""
    if file is None:
        return ""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return str(file)  # it went, or changed, since it was read
    number = next((number for number, named in _names(lines) if named == name), None)
    return f"{file}:{number}" if number else str(file)


def _names(lines: list[str]) -> list[tuple[int, object]]:
    """Numbers of lines that name a schedule, with the names."""
    found, is_schedule = list[tuple[int, object]](), False
    for number, line in enumerate(lines, 1):
        if head := TABLE_HEAD.fullmatch(line):
            is_schedule = head["table"] == "schedules"
        elif is_schedule and NAME_LINE.fullmatch(line):
            found.append((number, _value(line)))
    return found


def _value(line: str) -> object:
    try:
        return tomllib.loads(line)["name"]
    except (tomllib.TOMLDecodeError, KeyError):
        return None  # a text of several lines, or a part of one
