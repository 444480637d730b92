"""A folder as a condition on a path: compared as it is written, part by part. No I/O, so links are not followed here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runtime.contract import Json
from runtime.policy.matching.values import as_read, every, is_long, some

EXPECTED: Final = 'a folder without "..", such as "notes", "." for the whole workspace, or "/srv/data"'
UP: Final = ".."
ESCAPED: Final = re.compile(r"%(2e|2f|5c|00|25)", re.IGNORECASE)
"""Signs of a path that some programs read in its escaped form: dot, slash, backslash, NUL, and the percent itself."""


@dataclass(frozen=True, slots=True)
class Inside:
    """A path that is one of `folders`, or lies within one. A path without a slash before it begins in the workspace."""

    folders: tuple[str, ...]

    def __str__(self) -> str:
        return f"inside {' or '.join(self.folders)}"

    def surely(self, value: Json) -> bool:
        return not is_long(value) and every(value, self._is)

    def perhaps(self, value: Json) -> bool:
        return is_long(value) or some(value, self._may_be)

    def _is(self, value: Json) -> bool:
        return isinstance(value, str) and is_clear(value) and any(_holds(one, value) for one in self.folders)

    def _may_be(self, value: Json) -> bool:
        if not isinstance(value, str):
            return value is not None
        return not is_clear(value) or any(_may_hold(one, value) for one in self.folders)


def folder_of(text: str) -> str:
    """A folder as a rule names it. Errors: ValueError says what is expected."""
    if not is_clear(text):
        raise ValueError(EXPECTED)
    return f"{'/' * text.startswith('/')}{'/'.join(_parts(text))}" or "."


def is_clear(path: str) -> bool:
    """True if a path leads where it says: no way up, no home, drive, escape or sign that is not seen."""
    parts = path.split("/")
    return (
        bool(path)
        and as_read(path) == path
        and not {"\\", "\0"} & set(path)
        and UP not in parts
        and not path.startswith("~")
        and ":" not in parts[0]
        and ESCAPED.search(path) is None
    )


def _parts(path: str) -> Sequence[str]:
    return [one for one in path.split("/") if one not in ("", ".")]


def _holds(folder: str, path: str) -> bool:
    """True if the path, part by part, begins with the folder."""
    wanted, given = _parts(folder), _parts(path)
    return folder.startswith("/") is path.startswith("/") and given[: len(wanted)] == wanted


def _may_hold(folder: str, path: str) -> bool:
    """The same for a disk on which small and capital letters are one, and for an absolute path, wherever the workspace lies."""
    if _holds(folder.casefold(), path.casefold()):
        return True
    wanted, given = _parts(folder.casefold()), _parts(path.casefold())
    if folder.startswith("/") or not path.startswith("/"):
        return False
    return any(given[at : at + len(wanted)] == wanted for at in range(len(given) + 1))
