"""A walk through a folder in which tools may turn any name into a link or a pipe meanwhile.

Imports the standard library only, since the program that searches runs it too.

`os.fwalk` opens what it took for a folder as whatever it is by then: it would wait at a pipe for ever, and open what a link
leads to before it looks where it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

Step = tuple[str, list[str], list[str], int]
"""A folder's path from the top, the names of its folders, those of anything else, and a descriptor that is open for now."""


def walk(
    top: int, flags: int, path: str = ".", *, missed: Callable[[OSError], None] = lambda _: None
) -> Iterator[Step]:
    """All folders from the open folder `top` down. A caller may remove or sort the names of those that come next.

    With `flags` each is opened: they are `safe_fs.OPEN_FOLDER`. `missed` is told of each folder that is gone, shut or something else by then.
    """
    try:
        with os.scandir(top) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError as error:
        missed(error)
        return
    folders = [name for name, is_folder in found if is_folder]
    yield path, folders, [name for name, is_folder in found if not is_folder], top
    for name in folders:
        try:
            below = os.open(name, flags, dir_fd=top)
        except OSError as error:
            missed(error)
            continue
        try:
            yield from walk(below, flags, f"{path}/{name}", missed=missed)
        finally:
            os.close(below)
