"""Files of the data folder are for its owner alone, also in a folder that others may look into."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

UMASK: Final = 0o077
MODE_OF_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def keep_to_ourselves() -> None:
    """Have every file that this process makes be its user's alone, unless the maker says otherwise."""
    os.umask(UMASK)


def open_to_others(folder: Path) -> list[Path]:
    """Files right in `folder` that other users may read or write, by name."""
    with suppress(OSError):
        return sorted(path for path in _files(folder) if path.lstat().st_mode & MODE_OF_OTHERS)
    return []


def close_to_others(folder: Path) -> None:
    """Take other users' rights from the files in `folder`; what is not ours to change stays, and doctor tells."""
    for path in open_to_others(folder):
        with suppress(OSError):
            path.chmod(path.lstat().st_mode & ~MODE_OF_OTHERS & 0o777)


def _files(folder: Path) -> Iterator[Path]:
    """Regular files: a link may lead anywhere, and folders have rights of their own."""
    return (path for path in folder.iterdir() if stat.S_ISREG(path.lstat().st_mode))
