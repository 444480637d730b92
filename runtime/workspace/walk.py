"""A walk through a folder in which tools may turn any name into a link or a pipe meanwhile.

Imports the standard library only, since the program that searches runs it too.

`os.fwalk` opens what it took for a folder as whatever it is by then: it would wait at a pipe for ever, and open what a link
leads to before it looks where it is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from typing import Final

Step = tuple[str, list[str], list[str], int]
"""A folder's path from the top, the names of its folders, those of anything else, and a descriptor that is open for now."""

Missed = Callable[[str, OSError], None]

DEPTH_MAX: Final = 256
"""Folders below each other: each is open while those below it are walked."""

PATH_MAX_BYTES: Final = 3_000
"""A tool can make longer ones, a name at a time, but nobody can write a copy of them by their whole path: Linux takes 4,096."""


def walk(top: int, flags: int, path: str = ".", *, missed: Missed = lambda _path, _error: None) -> Iterator[Step]:
    """All folders from the open folder `top` down. A caller may remove or sort the names of those that come next.

    With `flags` each is opened: they are `safe_fs.OPEN_FOLDER`. `missed` is told of each folder that is gone, shut, too deep or
    something else by then.
    """
    try:
        with os.scandir(top) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError as error:
        missed(path, error)
        return
    folders = [name for name, is_folder in found if is_folder]
    yield path, folders, [name for name, is_folder in found if not is_folder], top
    for name in folders:
        inner = f"{path}/{name}"
        try:
            below = _opened(inner, name, flags, top)
        except OSError as error:
            missed(inner, error)
            continue
        try:
            yield from walk(below, flags, inner, missed=missed)
        finally:
            os.close(below)


def _opened(path: str, name: str, flags: int, above: int) -> int:
    if path.count("/") > DEPTH_MAX or len(os.fsencode(path)) > PATH_MAX_BYTES:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    return os.open(name, flags, dir_fd=above)
