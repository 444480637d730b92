"""Files of a folder in which tools may turn any name into a link at any moment, touched without leaving it.

No path is resolved: each component is opened from the folder above it, and O_NOFOLLOW makes the kernel refuse a link in
the very call that opens it. A check followed by an open could be raced by a command that swaps a folder for a link in
between. Links are refused also where they stay inside. All of it blocks, for the time of a disk call or two.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Final

NO_LINK: Final = os.O_NOFOLLOW | os.O_CLOEXEC
OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | NO_LINK
# O_NONBLOCK: a named pipe that a command left here must not make us wait for its other end.
OPEN_FILE: Final = os.O_RDONLY | os.O_NONBLOCK | NO_LINK
NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK
LONGEST_PATH: Final = 4096  # characters

Admit = Callable[[int], None]
"""Gives what was just made, an open descriptor, to whom it shall belong."""


Settle = Callable[[str, str, int], None]
"""Gives a file that was written whole its name in an open folder."""


class BadPath(ValueError):
    """Not a path inside a folder."""


def nobody(_made: int) -> None:
    """Admits what was made to nobody else."""


def parts(path: str) -> list[str]:
    """The names that lead to `path`. Errors: BadPath for one that could lead out, or that no file can have."""
    names = path.split("/")
    if any(name in ("", ".", "..") or "\0" in name for name in names) or len(path) > LONGEST_PATH:
        raise BadPath(f"{path!r} is not a path inside a folder")
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise BadPath(f"{path!r} can't be the name of a file") from error
    return names


@contextmanager
def folder_below(root: Path, names: Sequence[str], admit: Admit | None = None, *, mode: int = 0o700) -> Iterator[int]:
    """A descriptor of the folder below `root`; with `admit` it is made where it is missing.

    Errors: OSError, whose `filename` is the component that stands in the way: ELOOP for a link.
    """
    with ExitStack() as opened:
        here = os.open(root, OPEN_FOLDER)
        opened.callback(os.close, here)
        for name in names:
            made = admit is not None and _made(name, here, mode)
            here = _below(name, here)
            opened.callback(os.close, here)
            if made and admit is not None:
                admit(here)
        yield here


def _below(name: str, parent: int) -> int:
    """The folder `name` of `parent`. Of a link the kernel says ENOTDIR, as of a file: it is told as what it is."""
    try:
        return os.open(name, OPEN_FOLDER, dir_fd=parent)
    except NotADirectoryError as error:
        if is_link(name, parent):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from error
        raise


def _made(name: str, parent: int, mode: int) -> bool:
    with suppress(FileExistsError):
        os.mkdir(name, mode, dir_fd=parent)
        return True
    return False


def is_link(name: str, folder: int) -> bool:
    """True if `name` is a link at this moment; no for what is gone. Only good for words: never open after it."""
    with suppress(OSError):
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return False


@contextmanager
def folder_in(folder: int, name: str) -> Iterator[int]:
    """A descriptor of the folder `name` in an open folder. Errors: OSError, also where it is a link or a file."""
    descriptor = _below(name, folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def reading(root: Path, path: str) -> Iterator[BinaryIO]:
    """The plain file `path` below `root`. Errors: OSError, also where it is a link or no file; BadPath."""
    *folders, name = parts(path)
    with folder_below(root, folders) as above:
        descriptor = os.open(name, OPEN_FILE, dir_fd=above)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError(path)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


def is_there(root: Path, path: str) -> bool:
    """True if a plain file `path` is below `root`; no for a path that could lead out."""
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
    with folder_below(root, folders, admit) as above:
        with source.open("rb") as file:
            admit(file.fileno())
            os.fsync(file.fileno())
        os.rename(source, name, dst_dir_fd=above)
        os.fsync(above)


def unnamed() -> str:
    """A name that nobody uses."""
    return f".{token_hex(8)}.part"


def over_all(fresh: str, name: str, folder: int) -> None:
    """Over whatever is there."""
    os.rename(fresh, name, src_dir_fd=folder, dst_dir_fd=folder)


def place(fresh: str, name: str, folder: int) -> bool:
    """Give the file `fresh` the name `name`, unless that is taken by now: then it goes, and this is False."""
    try:
        os.link(fresh, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        os.unlink(fresh, dir_fd=folder)
        return False
    except OSError:  # no file, or a file system without links
        over_all(fresh, name, folder)
        return True
    os.unlink(fresh, dir_fd=folder)
    return True


def replace(name: str, folder: int, data: bytes, admit: Admit, *, mode: int = 0o644, settle: Settle = over_all) -> None:
    """Make `data` the whole file `name` of an open folder, over what is there; durable when this returns.

    It is written under another name first: readers see the old file meanwhile, and a link or a pipe of that name is
    replaced, never written through. `settle` gives it its name.
    """
    fresh = unnamed()
    with os.fdopen(os.open(fresh, NEW_FILE, 0o600, dir_fd=folder), "wb") as file:
        try:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            admit(file.fileno())
            os.fsync(file.fileno())
            settle(fresh, name, folder)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(fresh, dir_fd=folder)
            raise
    os.fsync(folder)  # else a power cut may bring the old file back
