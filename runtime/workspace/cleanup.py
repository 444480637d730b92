"""Files that nobody needs any more: uploads that a kill cut, and workspaces of rooms that went quiet.

Tools run in these folders, so a name in them may be a link to anywhere: folders are opened without following links, and
what is removed is removed below an open folder.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import structlog

from runtime.contract import Address
from runtime.workspace.safe_fs import folder_below
from runtime.workspace.workspaces import ARRIVING, WorkspaceFolders

log = structlog.get_logger("retention")

REMOVED_PREFIX: Final = ".removed-"
"""Begins the name of a workspace on its way out: whoever comes back meanwhile gets a fresh one."""


class Leftovers:
    """`workspaces` gives those of each agent that there is by then, under one root. `uploads` is the folder in a workspace where files arrive,
    `partial` begins the names of those still on the way."""

    def __init__(self, workspaces: Callable[[], Sequence[WorkspaceFolders]], *, uploads: str, partial: str) -> None:
        self._workspaces = workspaces
        self._root = workspaces()[0].root
        self._uploads = uploads
        self._partial = partial

    def drop_uploads(self, before: datetime) -> None:
        """Remove what a kill cut on its way into a workspace, if nothing was written to it since `before`."""
        self._drop_cut(self._root / ARRIVING, "", before)
        for name in self._folders():
            self._drop_cut(self._root / name / self._uploads, self._partial, before)

    def _drop_cut(self, path: Path, prefix: str, before: datetime) -> None:
        with suppress(OSError), folder_below(path.parent, [path.name]) as folder:
            with os.scandir(folder) as entries:
                cut = [one.name for one in entries if one.name.startswith(prefix)]
            for entry in cut:
                if _is_older(entry, folder, before):
                    os.unlink(entry, dir_fd=folder)

    def drop_workspaces(self, rooms: Sequence[Address], before: datetime) -> None:
        """Remove the folders of `rooms`, unless a file came into them since `before`."""
        for path in (own.path(room) for own in self._workspaces() for room in rooms):
            if self._is_quiet(path, before):
                path.replace(path.with_name(REMOVED_PREFIX + path.name))
        for name in self._folders():
            if name.startswith(REMOVED_PREFIX):
                _remove(self._root / name)

    def _folders(self) -> list[str]:
        with suppress(FileNotFoundError), os.scandir(self._root) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return []

    def _is_quiet(self, path: Path, before: datetime) -> bool:
        """Uploads come without a word in the room: then the folder they came to is younger."""
        about = [_about(path), _about(path / self._uploads)]
        return about[0] is not None and all(one is None or one.st_mtime < before.timestamp() for one in about)


def _about(path: Path) -> os.stat_result | None:
    with suppress(OSError):
        return path.lstat()
    return None


def _is_older(name: str, folder: int, before: datetime) -> bool:
    about = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return stat.S_ISREG(about.st_mode) and about.st_mtime < before.timestamp()


def _remove(path: Path) -> None:
    try:
        shutil.rmtree(path)
    except OSError as error:
        log.warning("a workspace could not be removed", folder=str(path), reason=str(error))
