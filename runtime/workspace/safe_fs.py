"""Files of a folder in which tools may turn any name into a link at any moment, touched without leaving it.

No path is resolved: each component is opened from the folder above it, and O_NOFOLLOW makes the kernel refuse a link in
the very call that opens it. All of it blocks, for the time of a disk call or two.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a named pipe that a command left here must not make us wait for its other end.
FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Admit = Callable[[int], None]
"""Gives what was just made, an open descriptor, to whom it shall belong."""


@contextmanager
def reading(root: Path, path: str) -> Iterator[BinaryIO]:
    """The plain file `path` below `root`. Errors: OSError, also where it is a link or no file; ValueError for a bad path."""
    *folders, name = parts(path)
    with _folder(root, folders) as folder:
        descriptor = os.open(name, FILE, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError(path)
        yield file


def is_there(root: Path, path: str) -> bool:
    """Whether a plain file `path` is below `root`; no for a path that could lead out."""
    try:
        with reading(root, path):
            return True
    except (OSError, ValueError):
        return False


def put(root: Path, path: str, source: Path, admit: Admit) -> None:
    """Move the whole file `source` to `path` below `root`, over what is there; durable when this returns.

    `source` must be on the same file system, where nobody else writes; it is gone afterwards. Errors: as `reading`.
    """
    *folders, name = parts(path)
    with _folder(root, folders, admit) as folder:
        with source.open("rb") as file:
            admit(file.fileno())
            os.fsync(file.fileno())
        os.rename(source, name, dst_dir_fd=folder)
        os.fsync(folder)


def parts(path: str) -> list[str]:
    """The names that lead to `path`. Errors: ValueError for a path that could lead out, or that no file can have."""
    names = path.split("/")
    if any(name in ("", ".", "..") or "\0" in name for name in names):
        raise ValueError(f"{path!r} is not a path inside a folder")
    return names


@contextmanager
def _folder(root: Path, names: list[str], admit: Admit | None = None) -> Iterator[int]:
    """The folder below `root`; with `admit` it is made where it is missing."""
    with ExitStack() as opened:
        here = os.open(root, FOLDER)
        opened.callback(os.close, here)
        for name in names:
            made = admit is not None and _made(name, here)
            here = os.open(name, FOLDER, dir_fd=here)
            opened.callback(os.close, here)
            if made and admit is not None:
                admit(here)
        yield here


def _made(name: str, parent: int) -> bool:
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=parent)
        return True
    return False
