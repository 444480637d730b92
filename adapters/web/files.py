"""Files of a workspace on the page: their list, and uploads. All of it blocks: what takes many disk calls is called in a thread."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Final

from runtime.contract import PARTIAL, UPLOADS
from runtime.workspace.safe_fs import NEW_FILE, OPEN_FOLDER, Admit, BadPath, folder_below, nobody, parts, reading
from runtime.workspace.walk import walk

LIST_LIMIT: Final = 1_000  # files in one list
DEPTH_LIMIT: Final = 16  # folders below each other in a list


@dataclass(frozen=True, slots=True)
class Listed:
    """A file in a list. `path` is relative to the workspace, with forward slashes; `size` is in bytes."""

    path: str
    size: int
    changed_at: datetime


def size_of(root: Path, path: str) -> int:
    """Bytes of a file; 0 when it is gone: a message that names it may be a repeat from before it went."""
    try:
        with reading(root, path) as file:
            return os.fstat(file.fileno()).st_size
    except OSError:
        return 0


def listing(root: Path) -> tuple[list[Listed], bool]:
    """Plain files of the workspace, newest first, and whether there are more than fit."""
    found: list[Listed] = []
    with folder_below(root, []) as top:
        for folder, folders, names, descriptor in walk(top, OPEN_FOLDER):
            above = Path(folder).parts
            folders[:] = sorted(folders) if len(above) < DEPTH_LIMIT else []
            for name in sorted(names):
                if len(found) >= LIST_LIMIT:
                    return _newest_first(found), True
                if (file := _listed("/".join((*above, name)), name, descriptor)) is not None:
                    found.append(file)
    return _newest_first(found), False


def _listed(path: str, name: str, folder: int) -> Listed | None:
    """None for what is no plain file, still on its way, already gone, or has a name nobody can send."""
    with suppress(OSError, BadPath):
        parts(path)
        about = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISREG(about.st_mode) and not name.startswith(PARTIAL):
            return Listed(path, about.st_size, datetime.fromtimestamp(about.st_mtime, UTC))
    return None


def _newest_first(files: list[Listed]) -> list[Listed]:
    return sorted(files, key=lambda file: (-file.changed_at.timestamp(), file.path))


class Upload:
    """A file on its way into `uploads/`: nobody sees it before `keep`, and without `keep` nothing stays.

    `admit` gives the folder and the whole file to whom they shall belong.
    """

    def __init__(self, root: Path, *, mark: str, admit: Admit = nobody) -> None:
        self._admit = admit
        self._partial = f"{PARTIAL}{mark}"
        with ExitStack() as opened:
            self._folder = opened.enter_context(folder_below(root, [UPLOADS], nobody))
            admit(self._folder)
            self._file = os.open(self._partial, NEW_FILE, mode=0o600, dir_fd=self._folder)
            opened.callback(os.close, self._file)
            self._opened = opened.pop_all()
        self.size = 0

    def write(self, chunk: bytes) -> None:
        view = memoryview(chunk)
        while view:
            view = view[os.write(self._file, view) :]
        self.size += len(chunk)

    def keep(self, name: str) -> str:
        """Show the whole file under `name`, or name-2 and so on where that is taken; durable when this returns."""
        self._admit(self._file)
        os.fsync(self._file)
        for candidate in _candidates(name):
            with suppress(FileExistsError):
                # A second name for the same file, since a rename would silently replace what is there. What a tool made
                # a link of meanwhile stays one: followed, it would give a file from outside a name in here.
                os.link(
                    self._partial, candidate, src_dir_fd=self._folder, dst_dir_fd=self._folder, follow_symlinks=False
                )
                os.unlink(self._partial, dir_fd=self._folder)
                os.fsync(self._folder)
                return f"{UPLOADS}/{candidate}"
        raise AssertionError("unreachable: there is always a next number")

    def close(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._partial, dir_fd=self._folder)
        self._opened.close()


def _candidates(name: str) -> Iterator[str]:
    yield name
    stem, dot, ending = name.rpartition(".")
    for number in count(2):
        yield f"{stem}-{number}{dot}{ending}" if stem else f"{name}-{number}"
