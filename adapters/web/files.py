"""Files of a workspace, touched without ever following a link.

Tools run in the same folder, so any name in it may have become a link to somewhere else a moment ago. Each component
is therefore opened by itself, relative to the folder above it and with O_NOFOLLOW. All of it blocks, for
the time of a disk call or many: what takes many is called in a thread.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Final

from runtime.contract import UPLOADS

PARTIAL: Final = ".upload-"  # begins the name of a file that is still on its way
LIST_LIMIT: Final = 1_000  # files in one list
DEPTH_LIMIT: Final = 16  # folders below each other in a list
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class BadPath(ValueError):
    """Not a path inside a workspace."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A file in a list. `path` is relative to the workspace, with forward slashes; `size` is in bytes."""

    path: str
    size: int
    changed_at: datetime


def split(path: str) -> list[str]:
    """The components of a relative `path`. Errors: BadPath for anything that could leave the folder."""
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts) or len(path) > 4096:
        raise BadPath(path)
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise BadPath(path) from error
    return parts


@contextmanager
def opened(root: Path, path: str) -> Iterator[tuple[int, os.stat_result]]:
    """A regular file, open for reading. Errors: BadPath; OSError when it is not there, a link, or no plain file."""
    *folders, name = split(path)
    with _folder(root, folders) as folder:
        # without O_NONBLOCK a named pipe that a tool left here would wait for its other end
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode):
            raise FileNotFoundError(path)
        yield file, about
    finally:
        os.close(file)


def size_of(root: Path, path: str) -> int:
    """Bytes of a file; 0 when it is gone: a message that names it may be a repeat from before it went."""
    try:
        with opened(root, path) as (_, about):
            return about.st_size
    except OSError:
        return 0


def listing(root: Path) -> tuple[list[Listed], bool]:
    """Plain files of the workspace, newest first, and whether there are more than fit."""
    found: list[Listed] = []
    with _folder(root, []) as top:
        for folder, folders, names, descriptor in os.fwalk(".", dir_fd=top, follow_symlinks=False):
            parts = Path(folder).parts
            folders[:] = sorted(folders) if len(parts) < DEPTH_LIMIT else []
            for name in sorted(names):
                if len(found) >= LIST_LIMIT:
                    return _newest_first(found), True
                if (file := _listed("/".join((*parts, name)), name, descriptor)) is not None:
                    found.append(file)
    return _newest_first(found), False


def _listed(path: str, name: str, folder: int) -> Listed | None:
    """None for what is no plain file, still on its way, already gone, or has a name nobody can send."""
    with suppress(OSError, BadPath):
        split(path)
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(about.st_mode) and not name.startswith(PARTIAL):
            return Listed(path, about.st_size, datetime.fromtimestamp(about.st_mtime, UTC))
    return None


def _newest_first(files: list[Listed]) -> list[Listed]:
    return sorted(files, key=lambda file: (-file.changed_at.timestamp(), file.path))


class Upload:
    """A file on its way into `uploads/`: nobody sees it before `keep`, and without `keep` nothing stays."""

    def __init__(self, root: Path, *, mark: str) -> None:
        self._partial = f"{PARTIAL}{mark}"
        with _folder(root, []) as top:
            with suppress(FileExistsError):
                os.mkdir(UPLOADS, mode=0o700, dir_fd=top)
            self._folder = os.open(UPLOADS, _DIRECTORY, dir_fd=top)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(self._partial, flags, mode=0o600, dir_fd=self._folder)
        except OSError:
            os.close(self._folder)
            raise
        self.size = 0

    def write(self, chunk: bytes) -> None:
        view = memoryview(chunk)
        while view:
            view = view[os.write(self._file, view) :]
        self.size += len(chunk)

    def keep(self, name: str) -> str:
        """Show the whole file under `name`, or name-2 and so on where that is taken; durable when this returns."""
        os.fsync(self._file)
        for candidate in _candidates(name):
            with suppress(FileExistsError):
                # a second name for the same file, since a rename would silently replace what is there
                os.link(self._partial, candidate, src_dir_fd=self._folder, dst_dir_fd=self._folder)
                os.unlink(self._partial, dir_fd=self._folder)
                os.fsync(self._folder)
                return f"{UPLOADS}/{candidate}"
        raise AssertionError("unreachable: there is always a next number")

    def close(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._partial, dir_fd=self._folder)
        os.close(self._file)
        os.close(self._folder)


def _candidates(name: str) -> Iterator[str]:
    yield name
    stem, dot, ending = name.rpartition(".")
    for number in count(2):
        yield f"{stem}-{number}{dot}{ending}" if stem else f"{name}-{number}"


@contextmanager
def _folder(root: Path, folders: list[str]) -> Iterator[int]:
    """The folder below `root`, opened component by component."""
    here = os.open(root, _DIRECTORY)
    try:
        for name in folders:
            below = os.open(name, _DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        yield here
    finally:
        os.close(here)
