"""Paths inside a session's workspace as the model writes them, opened by `safe_fs`; and sentences about what stands in the way."""

from __future__ import annotations

import errno
import heapq
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from runtime.contract import INBOX, UPLOADS
from runtime.errors import ToolFailed
from runtime.text.glyphs import clip
from runtime.workspace.safe_fs import OPEN_FILE, folder_below

MOST_FOLDERS: Final = 500


def parts_of(path: str) -> tuple[str, ...]:
    """The names that lead from the workspace to `path`; none for the workspace itself.

    Errors: ToolFailed when the path leaves the workspace or no file could have that name.
    """
    if path.startswith("/"):
        raise ToolFailed(
            f"{named(path)} is outside the workspace. Write paths relative to it, such as 'notes/todo.md'."
        )
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise ToolFailed(f"{named(path)} is refused: '..' could lead outside the workspace.")
    try:
        if b"\0" not in path.encode():
            return parts
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can express and UTF-8 cannot
        pass
    raise ToolFailed("That path is not valid text, so no file can have that name.")


def named(path: str) -> str:
    """`path` as a sentence shows it: quoted, on one line, not endless."""
    return repr(clip(path, 200))


@contextmanager
def opened(workspace: Path, path: str) -> Iterator[int]:
    """A descriptor of the file or folder at `path`, for reading. Errors: ToolFailed says what stands in the way."""
    with ExitStack() as stack:
        *folders, last = parts_of(path) or (".",)
        with told(path):
            parent = stack.enter_context(folder_below(workspace, folders))
            descriptor = os.open(last, OPEN_FILE, dir_fd=parent)
        stack.callback(os.close, descriptor)
        yield descriptor


def attached(workspace: Path, path: str) -> str:
    """`path`; where it is the bare name of a file that is not there, that of the newest one that people sent under it."""
    parts = parts_of(path)
    if len(parts) != 1 or _changed_at(workspace, parts[0]) is not None:
        return path
    places = [f"{UPLOADS}/{parts[0]}", *(f"{INBOX}/{folder}/{parts[0]}" for folder in _newest(workspace))]
    found = {place: at for place in places if (at := _changed_at(workspace, place)) is not None}
    return max(found, key=found.__getitem__, default=path)


def _newest(workspace: Path) -> list[str]:
    """Folders of files that came with messages, of the last days: their names begin with the date."""
    with suppress(ToolFailed, OSError), opened(workspace, INBOX) as folder:
        return heapq.nlargest(MOST_FOLDERS, (entry.name for entry in os.scandir(folder)))
    return []


def _changed_at(workspace: Path, path: str) -> float | None:
    """Time of a file's last change, in seconds since 1970; None if it cannot be read."""
    with suppress(ToolFailed), opened(workspace, path) as file:
        return os.fstat(file).st_mtime
    return None


@contextmanager
def opened_parent(workspace: Path, path: str) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder that holds `path`, made where missing, and the name of `path` in it."""
    parts = parts_of(path)
    if not parts or path.endswith("/"):
        raise ToolFailed(f"{named(path)} names a folder; give the path of a file.")
    with ExitStack() as stack:
        with told(path):
            admit = partial(own_like, folder=workspace)
            folder = stack.enter_context(folder_below(workspace, parts[:-1], admit, mode=0o755))
        yield folder, parts[-1]


@contextmanager
def told(path: str) -> Iterator[None]:
    """Turn an OSError, whose `filename` is a component of `path`, into a sentence for the model."""
    try:
        yield
    except OSError as error:
        raise ToolFailed(_sentence(error, path)) from error


def _sentence(error: OSError, path: str) -> str:
    where, name = named(path), named(str(error.filename))
    match error.errno:
        case errno.ENOENT:
            return f"There is no {where} in the workspace."
        case errno.ELOOP:
            return f"{where} goes through the symbolic link {name}, and links are not followed."
        case errno.ENOTDIR:
            return f"{where} cannot exist: {name} is not a folder."
        case errno.ENXIO:
            return f"{where} is not a regular file."
        case _:
            return f"{where} cannot be used: {error.strerror}."


def own(target: int | Path, uid: int) -> None:
    """Give a file or folder (never what a link points to) to the user as whom tools run; only root can, or needs to."""
    if os.geteuid() == 0:
        os.chown(target, uid, uid, follow_symlinks=isinstance(target, int))


def own_like(descriptor: int, folder: int | Path) -> None:
    """Give `descriptor` to the owner of `folder`, so that a command may change what the agent wrote."""
    if os.geteuid() == 0:
        owner = os.stat(folder)  # noqa: PTH116 - of an open one as well
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
