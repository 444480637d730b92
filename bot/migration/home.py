"""The other bot's folder, read without leaving it: no links, bounded, and never written to."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bot.migration.relaxed_json import parsed_json
from runtime.errors import ConfigError
from runtime.text.glyphs import visible
from runtime.workspace.safe_fs import BadPath, folder_below, parts, reading

TEXT_MAX_BYTES: Final = 4 << 20
DATABASE_MAX_BYTES: Final = 512 << 20
DATABASE_SECONDS: Final = 30
"""To read all that is wanted of a database: a view in a table's place could go on for ever."""
STEPS_BETWEEN_LOOKS: Final = 10_000
ENTRIES_MAX: Final = 1_000
"""Names that are looked at in one folder."""
WAL: Final = "-wal"
SQLITE_HEADER: Final = b"SQLite format 3\0"
NOTHING_WRITTEN: Final = "Nothing was written."


class Damaged(ConfigError):
    """A file of the other bot that can't be read as what it should be. The text names it, and the way out."""


class Unusable(ValueError):
    """Not a file to take over, with the reason in words."""


@dataclass
class Home:
    """A folder of another bot. `refused` are the files that were not read, each with the reason."""

    root: Path
    refused: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, folder: Path) -> Home:
        """Errors: ConfigError where there is no folder."""
        try:
            root = folder.expanduser().resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise ConfigError(f"{folder}: there is no such folder. Name the folder of the other bot.") from error
        if not root.is_dir():
            raise ConfigError(f"{folder}: this is a file. Name the folder of the other bot.")
        return cls(root)

    def has(self, path: str) -> bool:
        """True for whatever is there under this name, also what can't be read."""
        return os.path.lexists(self.root / path)

    def text(self, path: str, *, most: int = TEXT_MAX_BYTES) -> str:
        """A file that must be right. Errors: Damaged."""
        try:
            return self._text(path, most)
        except Unusable as error:
            raise self.damaged(path, str(error)) from None

    def optional(self, path: str, *, most: int = TEXT_MAX_BYTES) -> str:
        """A file that may be missing; empty for one that can't be used, which is noted."""
        if not self.has(path):
            return ""
        try:
            return self._text(path, most)
        except Unusable as error:
            self.refused[path] = str(error)
            return ""

    def values(self, path: str) -> Mapping[str, Any]:
        """A JSON object, with the comments and commas that people write. Errors: Damaged with the line."""
        text = self.text(path)
        try:
            found = parsed_json(text)
        except json.JSONDecodeError as error:
            raise self.damaged(path, f"no JSON ({error.msg})", error.lineno) from None
        except RecursionError:
            raise self.damaged(path, "nested too deep") from None
        return self._table(path, found)

    def yaml(self, path: str) -> Mapping[str, Any]:
        """A YAML file without aliases, which could stand for more than fits in memory. Errors: Damaged with the line."""
        import yaml

        text = self.text(path)
        try:
            if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
                raise self.damaged(path, "it has aliases (*name), which aren't read")
            found = yaml.safe_load(text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            raise self.damaged(path, "no YAML", mark.line + 1 if mark else 0) from None
        except (RecursionError, ValueError):
            raise self.damaged(path, "values that can't be read") from None
        return self._table(path, {} if found is None else found)

    def names(self, folder: str) -> list[str]:
        """Names in a folder, in their order; none where it is missing or a link, which is noted."""
        if not self.has(folder):
            return []
        try:
            with folder_below(self.root, parts(folder)) as opened, os.scandir(opened) as entries:
                found = sorted(entry.name for entry, _ in zip(entries, range(ENTRIES_MAX + 1), strict=False))
        except (OSError, BadPath) as error:
            self.refused[folder] = _reason(error)
            return []
        if len(found) > ENTRIES_MAX:
            self.refused[folder] = f"it has more than {ENTRIES_MAX:,} entries; the rest isn't looked at"
        return found[:ENTRIES_MAX]

    @contextmanager
    def database(self, path: str) -> Iterator[sqlite3.Connection]:
        """A copy of an SQLite file, with what its log holds: opened in place, it could be changed. Errors: Damaged."""
        with TemporaryDirectory(prefix="signalbox-migrate-") as folder:
            copy = Path(folder) / "copy.sqlite"
            self._copied(path, copy)
            if self.has(f"{path}{WAL}"):
                self._copied(f"{path}{WAL}", copy.with_name(f"{copy.name}{WAL}"))
            with copy.open("rb") as file:
                if file.read(len(SQLITE_HEADER)) != SQLITE_HEADER:
                    raise self.damaged(path, "no SQLite database")
            with closing(sqlite3.connect(copy)) as opened:
                opened.row_factory = sqlite3.Row
                try:
                    opened.execute("PRAGMA trusted_schema = OFF")
                    end = time.monotonic() + DATABASE_SECONDS
                    opened.set_progress_handler(lambda: time.monotonic() > end, STEPS_BETWEEN_LOOKS)
                    yield opened
                except sqlite3.Error as error:
                    raise self.damaged(path, f"the database can't be read ({error})") from None

    def damaged(self, path: str, why: str, line: int = 0) -> Damaged:
        place = f"{self.root / visible(path)}{f', line {line}' if line else ''}"
        return Damaged(
            f"{place}: {why}. Put that file right with the other bot's own tools, or restore it. {NOTHING_WRITTEN}"
        )

    def _copied(self, path: str, into: Path) -> None:
        try:
            with reading(self.root, path) as file:
                if os.fstat(file.fileno()).st_size > DATABASE_MAX_BYTES:
                    raise Unusable(f"it is larger than {DATABASE_MAX_BYTES >> 20} MB")
                with into.open("wb") as copy:
                    shutil.copyfileobj(file, copy)
        except (OSError, BadPath, Unusable) as error:
            raise self.damaged(path, _reason(error)) from None

    def _text(self, path: str, most: int) -> str:
        try:
            with reading(self.root, path) as file:
                data = file.read(most + 1)
        except (OSError, BadPath) as error:
            raise Unusable(_reason(error)) from None
        if len(data) > most:
            raise Unusable(f"it is larger than {most >> 10:,} KB")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise Unusable("it is no UTF-8 text") from None

    def _table(self, path: str, found: object) -> Mapping[str, Any]:
        if not isinstance(found, dict):
            raise self.damaged(path, "it holds no table of values")
        return found


def _reason(error: Exception) -> str:
    match error:
        case OSError(errno=errno.ELOOP):
            return "it is a link, and links aren't followed"
        case FileNotFoundError():
            return "it is no plain file, or isn't there"
        case OSError():
            return f"it can't be read ({error.strerror})"
        case _:
            return str(error)


def is_folder(home: Home, path: str) -> bool:
    """True for a real folder, no link."""
    try:
        return stat.S_ISDIR((home.root / path).lstat().st_mode)
    except OSError:
        return False
