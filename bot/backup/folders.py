"""Workspaces into a backup and out of it, without ever following a link: tools run in these folders."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from bot.backup.archive import MEMBER_CHUNK_BYTES, Archive, Writer
from runtime.contract import PARTIAL
from runtime.workspace.safe_fs import NEW_FILE, OPEN_FILE, OPEN_FOLDER, BadPath, parts
from runtime.workspace.walk import walk

WORKSPACES_FOLDER: Final = "workspaces/"


def write_folders(root: Path, writer: Writer) -> list[str]:
    """Every plain file below `root`; what was left out, in words."""
    left_out: list[str] = []

    def leave_out(path: Path, reason: str) -> None:
        left_out.append(f"{path}: {reason}".encode("utf-8", "replace").decode())

    def note(path: str, error: OSError) -> None:
        leave_out(Path(path), f"cannot be read ({error.strerror})")

    if not root.is_dir():
        return left_out
    with ExitStack() as opened:
        top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # the operator's own: it may be a link
        opened.callback(os.close, top)
        for folder, folders, files, descriptor in walk(top, OPEN_FOLDER, missed=note):
            inner = Path(folder)
            folders.sort()
            if not folders and not files and inner != Path():
                _write_empty(f"{WORKSPACES_FOLDER}{inner.as_posix()}/", writer)
            for name in sorted(files):
                if reason := _write_file(f"{WORKSPACES_FOLDER}{(inner / name).as_posix()}", name, descriptor, writer):
                    leave_out(inner / name, reason)
    return left_out


def _write_empty(member: str, writer: Writer) -> None:
    with writer.member(member, 0o700):
        pass  # a member without content, whose name ends with a slash


def _write_file(member: str, name: str, folder: int, writer: Writer) -> str | None:
    """One file; why it was left out, if it was."""
    if name.startswith(PARTIAL):
        return None  # on its way when the backup was taken: nobody knows of it yet
    try:
        member.encode()
        file = os.open(name, OPEN_FILE, dir_fd=folder)
    except UnicodeEncodeError:
        return "its name isn't text"
    except FileNotFoundError:
        return None  # gone since the folder was read
    except OSError as error:
        return "a link" if error.errno == errno.ELOOP else f"cannot be read ({error.strerror})"
    with os.fdopen(file, "rb") as source:
        about = os.fstat(source.fileno())
        if not stat.S_ISREG(about.st_mode):
            return "not a regular file"
        with writer.member(member, stat.S_IMODE(about.st_mode)) as write:
            while chunk := source.read(MEMBER_CHUNK_BYTES):
                write(chunk)
    return None


def read_folders(archive: Archive, root: Path, admit: Callable[[Path], None]) -> int:
    """Make `root`, which is not there yet, with all files of the backup; how many. `admit` gives each its owner."""
    root.mkdir(mode=0o700)
    count = 0
    for name in archive.names(WORKSPACES_FOLDER):
        path = _below(archive, root, name.removeprefix(WORKSPACES_FOLDER).removesuffix("/"))
        folder = path if name.endswith("/") else path.parent
        for missing in _missing(folder, root):
            missing.mkdir(mode=0o700)
            admit(missing)
        if not name.endswith("/"):
            _read_file(archive, name, path)
            admit(path)
            count += 1
    return count


def _below(archive: Archive, root: Path, path: str) -> Path:
    try:
        return root.joinpath(*parts(path))
    except BadPath:
        raise archive.bad(f"it names a file outside the workspaces ({path!r}).") from None


def _missing(folder: Path, root: Path) -> Iterator[Path]:
    """Folders to make, from the top; `root` is there."""
    chain = [folder, *folder.parents]
    for one in reversed(chain[: chain.index(root)]):
        if not one.exists():
            yield one


def _read_file(archive: Archive, name: str, path: Path) -> None:
    descriptor = os.open(path, NEW_FILE, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        for chunk in archive.chunks(name):
            file.write(chunk)
        os.fchmod(file.fileno(), archive.mode(name))
        file.flush()
        os.fsync(file.fileno())
