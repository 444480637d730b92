"""Targets of a restore: made beside their places first, then all moved in, the old ones kept aside.

A marker stands in the data folder from the first step to the last. While it is there nothing starts, and the restore may
be run again: it throws away what was made beside the places, and keeps aside whatever stands in them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Final

from bot.backup.errors import BackupFailed
from bot.backup.make import flush_folder
from bot.node.lock import UNFINISHED
from runtime.errors import ConfigError

RESTORING_SUFFIX: Final = ".restoring"
SQLITE_ENDINGS: Final = ("", "-wal", "-shm", "-journal")


class RestoreTargets:
    """The files and folders that a restore replaces. `database` is None where that is a server's."""

    def __init__(self, *, data_dir: Path, database: Path | None, workspaces: Path, others: Sequence[Path]) -> None:
        self.database = database
        self.workspaces = workspaces
        self._marker = data_dir / UNFINISHED
        self._finals = [*others, workspaces, *([database] if database else [])]

    def unfinished(self) -> str | None:
        """The id of the backup whose restore was cut off here, if one was."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            return str(json.loads(self._marker.read_text(encoding="utf-8"))["backup"])
        return None

    def in_use(self) -> list[Path]:
        """Targets that are there already and would be replaced."""
        return [path for path in self._finals if _has_content(path)]

    @contextmanager
    def prepared(self, backup: str) -> Iterator[None]:
        """Inside the block things are made at their `fresh` places. Its end by an error leaves nothing of them."""
        self._sweep()
        for final in self._finals:
            final.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._marker.write_text(json.dumps({"backup": backup}), encoding="utf-8")
        flush_folder(self._marker.parent)
        try:
            yield
        except BaseException:
            self._sweep()
            self._marker.unlink(missing_ok=True)
            raise

    def switch(self, now: datetime) -> list[Path]:
        """Move everything in; the old things, under their new names. Killed in here, the marker tells."""
        stamp = f".before-{now:%Y%m%d-%H%M%S}"
        kept: list[Path] = []
        for final in self._finals:
            kept += _keep_aside(final, stamp)
            if fresh(final).exists():
                fresh(final).replace(final)
            flush_folder(final.parent)
        self._marker.unlink()
        flush_folder(self._marker.parent)
        return kept

    def _sweep(self) -> None:
        for final in self._finals:
            _remove(fresh(final))


def fresh(final: Path) -> Path:
    """Place where the new one is made: in the same folder, so that moving it in is one step."""
    return final.with_name(final.name + RESTORING_SUFFIX)


def _has_content(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.exists()


def _keep_aside(final: Path, stamp: str) -> list[Path]:
    if final.is_dir() and not _has_content(final):
        final.rmdir()
    aside, moved = final.with_name(final.name + stamp), False
    # The journal of a database goes by the database's name. It may be all that is left, and would change the new one.
    for ending in SQLITE_ENDINGS:
        with suppress(FileNotFoundError):
            _move(final.with_name(final.name + ending), aside.with_name(aside.name + ending))
            moved = True
    return [aside] if moved else []


def _move(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise BackupFailed(f"{source} cannot be moved to {target.name}: {error.strerror}.") from error


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
        return
    for ending in SQLITE_ENDINGS:
        path.with_name(path.name + ending).unlink(missing_ok=True)


def refuse_unless(allowed: bool, paths: Sequence[Path]) -> None:
    """Errors: ConfigError when something is there that nobody allowed to replace."""
    if paths and not allowed:
        told = ", ".join(str(path) for path in paths)
        raise ConfigError(
            f"There is data already: {told}. Restore into an empty data_dir, or replace the data with --force. The old data is kept beside it under another name."
        )
