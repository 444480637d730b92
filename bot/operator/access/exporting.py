"""A person's data as one zip file: a file of JSON lines for each table, and the files of rooms that are theirs alone."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import stat
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any, Final, Protocol

from bot.operator.views import View
from runtime.contract import Address
from runtime.workspace.safe_fs import OPEN_FILE, OPEN_FOLDER, folder_below
from runtime.workspace.walk import Missed, walk
from runtime.workspace.workspaces import WorkspaceFolders

NO_FILE: Final = (errno.ELOOP, errno.ENXIO, errno.ENOENT)
"""Of a link, of a socket or a pipe, and of what is gone by now: they are left out."""
LEFT_OUT_OF_EXPORT: Final = "left-out.txt"
"""In the archive: files that couldn't be read."""
ZIP_TIMES: Final = (315_532_800, 4_354_819_198)
"""Seconds of 1980 and of 2107, between which a zip file can tell a time."""
PIECE_BYTES: Final = 1 << 20


class Exports(Protocol):
    """The rows of one person, a page of a table at a time."""

    async def export_person(self, name: str) -> View: ...
    async def export_page(self, name: str, fields: Mapping[str, Any]) -> View: ...


async def export_to(file: IO[bytes], api: Exports, folders: Sequence[WorkspaceFolders], name: str) -> int:
    """Write all that is kept of somebody; the number of rows. The audit notes who asked for it. Errors: Refusal."""
    plan = await api.export_person(name)
    count = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for table in plan["tables"]:
            count += await _table(api, archive, name, table)
        await asyncio.to_thread(_add_files, archive, folders, plan["rooms"])
    return count


async def _table(api: Exports, archive: zipfile.ZipFile, name: str, table: str) -> int:
    """One table, a page at a time. A table without such rows has no file."""
    after, count = None, 0
    with ExitStack() as opened:
        write: IO[bytes] | None = None
        while True:
            page = await api.export_page(name, {"table": table, "after": after})
            if page["rows"] and write is None:
                write = opened.enter_context(archive.open(f"{table}.jsonl", "w", force_zip64=True))
            for row in page["rows"]:
                write.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())  # type: ignore[union-attr]
                count += 1
            if (after := page["after"]) is None:
                return count


def _add_files(archive: zipfile.ZipFile, folders: Sequence[WorkspaceFolders], rooms: Sequence[str]) -> None:
    left_out: list[str] = []

    def missed(path: str, error: OSError) -> None:
        left_out.append(f"{_shown(path)}: {error.strerror or type(error).__name__}")

    for path, name, folder in files_of(folders, rooms, missed):
        try:
            descriptor = os.open(name, OPEN_FILE, dir_fd=folder)
        except OSError as error:
            if error.errno not in NO_FILE:
                missed(path, error)
            continue
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                _add(archive, path, descriptor)
        finally:
            os.close(descriptor)
    if left_out:
        archive.writestr(LEFT_OUT_OF_EXPORT, "\n".join(left_out) + "\n")


def _add(archive: zipfile.ZipFile, path: str, descriptor: int) -> None:
    """The file as long as it is now: a command may go on writing into it for ever."""
    status = os.fstat(descriptor)
    changed = min(max(status.st_mtime, ZIP_TIMES[0]), ZIP_TIMES[1])
    info = zipfile.ZipInfo(f"files/{_shown(path)}", time.gmtime(changed)[:6])
    info.compress_type, info.external_attr = archive.compression, stat.S_IMODE(status.st_mode) << 16
    left = status.st_size
    with archive.open(info, "w", force_zip64=True) as target:
        while left > 0 and (piece := os.read(descriptor, min(left, PIECE_BYTES))):
            target.write(piece)
            left -= len(piece)


def _shown(path: str) -> str:
    """A path as text: a command gives a file any bytes for a name."""
    return os.fsencode(path).decode("utf-8", "replace")


def files_of(
    folders: Sequence[WorkspaceFolders], rooms: Sequence[str], missed: Missed = lambda _path, _error: None
) -> Iterator[tuple[str, str, int]]:
    """Files of rooms that are theirs alone: the path below all workspaces, the name, and the folder, open for now.

    A command at work may make a link of any name meanwhile, so nothing here is opened by its path. `missed` is told of
    folders that can't be read.
    """
    for own in folders:
        for room in rooms:
            folder = own.path(Address.parse(room)).name
            with ExitStack() as opened:
                try:
                    top = opened.enter_context(folder_below(own.root, [folder]))
                except FileNotFoundError:
                    continue
                for path, below, names, here in walk(top, OPEN_FOLDER, folder, missed=missed):
                    below.sort()
                    yield from ((f"{path}/{name}", name, here) for name in sorted(names))
