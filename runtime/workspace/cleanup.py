"""Files that nobody needs any more: uploads that a kill cut, and workspaces of rooms that went quiet.

Tools run in these folders, so a name in them may be a link to anywhere: folders are opened without following links, and
what is removed is removed below an open folder.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Final

import structlog

from runtime.contract import Address
from runtime.workspace.safe_fs import OPEN_FOLDER, folder_below
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

    def drop_workspaces(self, rooms: Sequence[Address], before: datetime) -> frozenset[Address]:
        """Remove the folders of `rooms`, unless a file came into them since `before`: those of which one stays."""
        stay = set()
        for room, path in ((room, own.path(room)) for own in self._workspaces() for room in rooms):
            if self._is_quiet(path, before):
                path.replace(path.with_name(REMOVED_PREFIX + path.name))
            elif _about(path):
                stay.add(room)
        for name in self._folders():
            if name.startswith(REMOVED_PREFIX):
                _remove(self._root / name)
        return frozenset(stay)

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
        with folder_below(path.parent, [path.name]) as folder:
            _empty(folder)
        path.rmdir()
    except OSError as error:
        log.warning("a workspace could not be removed", folder=str(path), reason=str(error))


def _empty(top: int) -> None:
    """Remove all below the open folder `top`.

    What a folder holds moves up into `top` before the folder goes: however deep a tool made them, few are open, and no path gets
    too long. `shutil.rmtree` calls itself for each level, and such a folder would end the process.
    """
    while names := _names(top):
        for name, is_folder in names:
            if is_folder:
                _remove_folder(name, top)
            else:
                os.unlink(name, dir_fd=top)


def _remove_folder(name: str, top: int) -> None:
    folder = os.open(name, OPEN_FOLDER, dir_fd=top)
    try:
        for inner, is_folder in _names(folder):
            if not is_folder:
                os.unlink(inner, dir_fd=folder)
            elif not _is_removed_empty(inner, folder):
                os.rename(inner, f"{REMOVED_PREFIX}{token_hex(16)}", src_dir_fd=folder, dst_dir_fd=top)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)


def _is_removed_empty(name: str, folder: int) -> bool:
    """True once it is gone: one that is empty goes also where it may not be written to, and so not moved."""
    try:
        os.rmdir(name, dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True


def _names(folder: int) -> list[tuple[str, bool]]:
    """Names of what is in an open folder, and which of them are folders."""
    with os.scandir(folder) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
