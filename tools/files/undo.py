"""The way back from `write_file`: the file as it was before, for as long as it is what the call wrote."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Final

from runtime.contract import Json, ToolContext, Undo
from runtime.errors import ToolError, ToolFailed
from runtime.text.words import marked
from runtime.workspace import safe_fs
from tools.files.workspace import named, opened, own_like, parts_of, told

KEPT_MAX_BYTES: Final = 1024 * 1024
"""Of a file that is replaced; a longer one cannot be brought back."""
CHANGED: Final = marked("{file} has changed since, so I left it alone.")


def keep(arguments: Mapping[str, Json], context: ToolContext) -> str | None:
    """The file that a call will replace, or that there is none; None where it is too long, or no plain file."""
    path, content = arguments.get("path"), arguments.get("content")
    if not isinstance(path, str) or not isinstance(content, str):
        return None
    try:
        wrote = hashlib.sha256(content.encode()).hexdigest()
        old, mode = _old(context.workspace, path)
    except (ToolError, UnicodeEncodeError):  # the call itself says what is wrong
        return None
    if old is not None and len(old) > KEPT_MAX_BYTES:
        return None
    kept = {"path": path, "wrote": wrote, "mode": mode}
    return json.dumps(kept if old is None else kept | {"old": base64.b64encode(old).decode()}, ensure_ascii=False)


def take_back(kept: str, context: ToolContext) -> str:
    """Bring the old file back, or remove the one that was new. Errors: ToolFailed.

    The file is moved out of the way and then compared with what the call wrote, and nothing is put over a file that came
    meanwhile: so nobody's words are lost. For a moment there is no file of that name.
    """
    raw = json.loads(kept)
    path: str = raw["path"]
    *folders, name = parts_of(path)
    with ExitStack() as stack, told(path):
        folder = stack.enter_context(safe_fs.folder_below(context.workspace, folders))
        move = partial(_move, path, raw["wrote"])
        if _digest(name, folder) != raw["wrote"]:
            raise ToolFailed(CHANGED.format(file=named(path)))
        if "old" in raw:
            data, admit = base64.b64decode(raw["old"]), partial(own_like, folder=folder)
            safe_fs.replace(name, folder, data, admit, mode=raw["mode"], settle=move)
            return f"Restored {named(path)}."
        move("", name, folder)
        os.fsync(folder)
        return f"Removed {named(path)}."


def _move(path: str, wrote: str, fresh: str, name: str, folder: int) -> None:
    """Put `fresh`, if any, in place of what the call wrote. Errors: ToolFailed where something else stands there."""
    aside = safe_fs.unnamed()
    with suppress(FileNotFoundError):
        os.rename(name, aside, src_dir_fd=folder, dst_dir_fd=folder)
    if _digest(aside, folder) != wrote:
        with suppress(FileNotFoundError):
            safe_fs.place(aside, name, folder)
        raise ToolFailed(CHANGED.format(file=named(path)))
    if fresh and not safe_fs.place(fresh, name, folder):
        os.unlink(aside, dir_fd=folder)
        raise ToolFailed(CHANGED.format(file=named(path)))
    os.unlink(aside, dir_fd=folder)


def _old(workspace: Path, path: str) -> tuple[bytes | None, int]:
    """Content and permissions of the file at `path`, of a long one only its beginning; none where there is none.

    Errors: ToolFailed where something else stands there.
    """
    *folders, name = parts_of(path) or ("",)
    with suppress(FileNotFoundError), safe_fs.folder_below(workspace, folders) as folder:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        with opened(workspace, path) as file:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise ToolFailed(f"{named(path)} isn't a regular file.")
            return _read(file), stat.S_IMODE(found.st_mode) & 0o777
    return None, 0


def _read(file: int) -> bytes:
    with os.fdopen(os.dup(file), "rb") as data:
        return data.read(KEPT_MAX_BYTES + 1)


def _digest(name: str, folder: int) -> str:
    """Digest of a file; empty for one that is gone, or is no plain file."""
    with suppress(OSError):
        file = os.open(name, safe_fs.OPEN_FILE, dir_fd=folder)
        with os.fdopen(file, "rb") as data:
            if stat.S_ISREG(os.fstat(file).st_mode):
                return hashlib.file_digest(data, "sha256").hexdigest()
    return ""


UNDO: Final = Undo(keep, take_back)
