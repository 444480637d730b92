"""Files of a pack's folder, read without leaving it. All of it blocks, so it is called in a thread."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from runtime.knowledge.packs import Pack, most_of
from runtime.workspace.safe_fs import LONGEST_PATH, OPEN_FOLDER, reading
from runtime.workspace.walk import walk

FILES_MAX: Final = 20_000
NOT_UTF_8: Final = "Its name isn't written in UTF-8. Give it another one."
TOO_DEEP: Final = "Its path is too long. Move it up."


class Changing(Exception):
    """A file was written while it was read; it is read again the next time."""


class TooLarge(Exception):
    """A file has more bytes than are read of one."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file of a pack: its path below the folder, and its time and size, by which a change is noticed. `fault` is the reason
    for which it can't be read by its name."""

    place: str
    tag: str
    fault: str = ""


def files_of(pack: Pack) -> list[FoundFile]:
    """Files of a pack's folder, at most 20,000, by path. Hidden ones are left out. Errors: OSError if the folder is not there."""
    if pack.folder is None:
        return []
    top = os.open(pack.folder.resolve(), OPEN_FOLDER)  # the operator may name a link; those inside are not followed
    try:
        return sorted(_below(pack, top), key=lambda file: file.place)
    finally:
        os.close(top)


def _below(pack: Pack, top: int) -> Iterator[FoundFile]:
    found = 0
    for path, folders, names, descriptor in walk(top, OPEN_FOLDER):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            place = f"{path}/{name}".removeprefix("./")
            if name.startswith(".") or not pack.has(place):
                continue
            if tag := _tag_in(descriptor, name):
                yield _named(place, tag)
                found += 1
                if found >= FILES_MAX:
                    return


def _named(place: str, tag: str) -> FoundFile:
    written = os.fsencode(place).decode(errors="replace")  # as a table takes it
    if written != place:
        return FoundFile(written, tag, NOT_UTF_8)
    return FoundFile(place, tag, TOO_DEEP if len(place) > LONGEST_PATH else "")


def _tag_in(folder: int, name: str) -> str:
    try:
        return _tag(os.stat(name, dir_fd=folder, follow_symlinks=False))
    except FileNotFoundError:
        return ""  # it went since the folder was listed


def _tag(found: os.stat_result) -> str:
    """Empty for a link, a pipe and the like."""
    return f"{found.st_mtime_ns}:{found.st_size}" if stat.S_ISREG(found.st_mode) else ""


def read_file(pack: Pack, file: FoundFile) -> bytes:
    """The whole file of a pack's folder. Errors: OSError, TooLarge, Changing."""
    with reading((pack.folder or Path()).resolve(), file.place) as opened:
        data = opened.read(most_of(file.place) + 1)
        after = _tag(os.fstat(opened.fileno()))
    if len(data) > most_of(file.place):
        raise TooLarge
    if after != file.tag:
        raise Changing
    return data
